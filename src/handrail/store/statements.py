"""Statements that many queries share, for both databases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

_COUNTED = {"preserve_rowcount": True}
"""Without this, PostgreSQL's driver does not say how many rows were inserted."""
_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")


def advisory_lock(conn: Connection, *names: str) -> None:
    """Wait for others who read and then write the same; held to the end of the transaction.

    On SQLite only one writes at a time.
    """
    if conn.dialect.name == "postgresql":
        conn.execute(_LOCK, {"name": "/".join(("handrail", *names))})


def matching(table: Table, **values: Any) -> ColumnElement[bool]:
    """The condition that these columns hold these values; None is NULL."""
    return and_(*(table.c[name] == value for name, value in values.items()))


def dialect_insert(conn: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An INSERT that can say what happens when the row exists already."""
    return postgresql.insert(table) if conn.dialect.name == "postgresql" else sqlite.insert(table)


def insert_if_absent(conn: Connection, table: Table, row: Mapping[str, Any]) -> bool:
    """Insert a row; False when there is one with its primary key, which stays as it is."""
    statement = dialect_insert(conn, table).values(row).on_conflict_do_nothing()
    return conn.execute(statement, execution_options=_COUNTED).rowcount == 1


def upsert(conn: Connection, table: Table, row: Mapping[str, Any]) -> None:
    """Insert a row, or change the one with the same primary key."""
    keys = [column.name for column in table.primary_key]
    changed = {name: value for name, value in row.items() if name not in keys}
    statement = dialect_insert(conn, table).values(row)
    conn.execute(statement.on_conflict_do_update(index_elements=keys, set_=changed))
