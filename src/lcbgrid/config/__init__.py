"""Configuration: pydantic models of every file in ``config/``, grid expansion, cell paths."""
