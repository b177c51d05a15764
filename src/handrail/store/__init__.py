"""The memory that cannot be lost: tables, queries, sealing."""
