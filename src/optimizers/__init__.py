"""Prompt optimizers under the module names of their documented commands; no logic of their own."""
