"""Scores of cells, tidy frames over the grid, figures, tables and the report."""
