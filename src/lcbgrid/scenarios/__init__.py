"""Scenarios: what is asked of a team, how its answer is read, what counts as solved."""
