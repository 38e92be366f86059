"""Ready-made runners."""
