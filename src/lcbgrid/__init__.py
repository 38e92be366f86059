"""LCB-Grid: which agent team, with which prompt optimizer, on which model, solves more programs."""

__version__ = "0.1.0"
