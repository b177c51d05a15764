"""Attempts: how often a password was tried in vain, counted in one place for all servers."""

from __future__ import annotations

from sqlalchemy import delete, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

from handrail.store.tables import sign_in_attempts as table
from handrail.store.turns import take_turn


def count_attempt(conn: Connection, name: str, *, at: float, window: float) -> tuple[int, float]:
    """Count a try, as a wrong one until it is taken back: how many by now, and since when.

    For a connection of the house. What is counted beforehand cannot be tried many times at once.
    """
    take_turn(conn, "sign-in attempts")
    conn.execute(delete(table).where(table.c.since <= at - window))
    kind = postgresql if conn.dialect.name == "postgresql" else sqlite
    tried = kind.insert(table).values(name=name, wrong=1, since=at)
    counted = tried.on_conflict_do_update(index_elements=["name"], set_={"wrong": table.c.wrong + 1})
    row = conn.execute(counted.returning(table.c.wrong, table.c.since)).one()
    return row.wrong, row.since


def forget_attempts(conn: Connection, name: str) -> None:
    """Forget all tries under a name, since one was right: for a connection of the house."""
    conn.execute(delete(table).where(table.c.name == name))


def take_back(conn: Connection, name: str) -> None:
    """Forget one try under a name: for a connection of the house."""
    conn.execute(update(table).where(table.c.name == name, table.c.wrong > 0).values(wrong=table.c.wrong - 1))
