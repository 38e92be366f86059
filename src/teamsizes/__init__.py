"""Ready-made runners of every team size; no logic of their own."""
