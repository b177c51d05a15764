"""All that a database holds, to be compared: what must not have happened did not."""

from __future__ import annotations

import sqlite3
from contextlib import closing

MARKS = frozenset({"last_used_at", "seen_at", "last_seen_at"})
"""Columns that say when something was last used; to look at a page moves them."""
BESIDES = frozenset({"leases", "usage", "usage_marks"})
"""Tables that a process writes by itself: that it lives, and sums of what the events say."""


def database_contents(url: str) -> dict[str, list[str]]:
    """Every row of every table, but for when a session or a key was last used."""
    path = url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        names = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {name: _rows(db, name) for (name,) in names if name not in BESIDES}


def _rows(db: sqlite3.Connection, table: str) -> list[str]:
    found = db.execute(f'SELECT * FROM "{table}"')  # a name that the database gave
    kept = [at for at, column in enumerate(found.description) if column[0] not in MARKS]
    return sorted(repr([row[at] for at in kept]) for row in found)


def changed(before: dict[str, list[str]], after: dict[str, list[str]]) -> dict[str, list[str]]:
    """What is there now and was not, or was and is not, by table."""
    return {
        name: sorted(set(after.get(name, ())) ^ set(before.get(name, ())))
        for name in before | after
        if after.get(name) != before.get(name)
    }
