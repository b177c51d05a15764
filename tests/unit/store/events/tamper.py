"""Changes by hand, as the owner of the database could make them."""

from __future__ import annotations

import sqlite3
from typing import Any

import psycopg
from sqlalchemy.engine import make_url

from handrail.store.database import Database


def as_owner(db: Database, *statements: str) -> list[Any]:
    """Run SQL outside of the application, guards and all; the rows of the last statement."""
    if db.dialect == "sqlite":
        path = make_url(db.url).database
        assert path is not None
        connection = sqlite3.connect(path, isolation_level=None, timeout=30)
        try:
            for statement in statements:
                rows = connection.execute(statement).fetchall()
        finally:
            connection.close()
        return rows
    with psycopg.connect(db.url, autocommit=True) as owner:
        for statement in statements:
            cursor = owner.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def without_triggers(db: Database, *statements: str) -> list[Any]:
    """The same after the guards were taken away."""
    return as_owner(db, *_drop_triggers(db.dialect), *statements)


def _drop_triggers(dialect: str) -> list[str]:
    """The statements that take away what keeps `session_events` append-only."""
    table = "session_events"
    if dialect == "sqlite":
        return [f"DROP TRIGGER IF EXISTS {table}_no_{verb}" for verb in ("update", "delete", "replace")]
    triggers = [f"DROP TRIGGER IF EXISTS {table}_no_{what} ON {table}" for what in ("change", "truncate")]
    return [*triggers, f"DROP FUNCTION IF EXISTS refuse_change_of_{table}()"]
