"""Stages: what the workflow's jobs do; each reads files, writes files, and resumes."""
