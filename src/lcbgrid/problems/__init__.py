"""Problems without their hidden tests; loading, decoding, filtering, splits."""
