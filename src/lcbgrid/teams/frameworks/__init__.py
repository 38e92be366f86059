"""Teams that run on other frameworks: same prompts, tools, limits and votes, another machinery.

A module here imports its framework only when a team is built.
"""
