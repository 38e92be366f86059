"""Ready-made runners of every communication format; no logic of their own."""
