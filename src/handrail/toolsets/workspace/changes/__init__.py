"""Changes: what the tools did to files, kept so that it can be undone."""
