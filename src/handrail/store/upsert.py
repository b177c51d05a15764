"""Insert, unless it is there: the same words for both databases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

_COUNTED = {"preserve_rowcount": True}
"""Without this, PostgreSQL's driver does not say how many rows were inserted."""


def insert_if_absent(conn: Connection, table: Table, row: Mapping[str, Any]) -> bool:
    """Insert a row; False when there is one with its primary key, which stays as it is."""
    kind = postgresql if conn.dialect.name == "postgresql" else sqlite
    statement = kind.insert(table).values(row).on_conflict_do_nothing()
    return conn.execute(statement, execution_options=_COUNTED).rowcount == 1


def upsert(conn: Connection, table: Table, row: Mapping[str, Any]) -> None:
    """Insert a row, in the place of one with the same primary key."""
    kind = postgresql if conn.dialect.name == "postgresql" else sqlite
    keys = [column.name for column in table.primary_key]
    changed = {name: value for name, value in row.items() if name not in keys}
    statement = kind.insert(table).values(row)
    conn.execute(statement.on_conflict_do_update(index_elements=keys, set_=changed))
