"""advisory_lock: what two processes must not do at once, because each first reads and then writes."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.engine import Connection

_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")


def advisory_lock(conn: Connection, *names: str) -> None:
    """Wait until nobody else is at it, to the end of the transaction. On SQLite only one writes at a time."""
    if conn.dialect.name == "postgresql":
        conn.execute(_LOCK, {"name": "/".join(("handrail", *names))})
