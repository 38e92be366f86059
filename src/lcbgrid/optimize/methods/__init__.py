"""Prompt optimizers: one module a method, registered by name."""
