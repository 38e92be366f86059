"""Ready-made runners of every topology; no logic of their own."""
