"""LCB-Grid: which agent team, on which model, with which prompts, solves more programs."""

__version__ = "0.1.0"
