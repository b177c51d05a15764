"""store: a memory that outlives the process, on SQLite or PostgreSQL."""
