"""Agent teams: one module a topology, registered by name."""
