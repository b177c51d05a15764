"""Hooks around the tools of a workspace: what was read is kept, what was written is parsed."""
