"""Search: finds files by name and by content, below the root of the workspace."""
