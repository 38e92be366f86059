"""Prompt optimizers: their shared protocol, and one module for each method."""
