"""Conversations of agents, rebuilt from published files, as text and as pages."""
