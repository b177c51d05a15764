"""Forgetting: the history of changes is bounded, and its oldest part goes first."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from handrail.toolsets.workspace.change import LARGEST_KEPT

_MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is kept."""

    changes: int = 10_000
    bytes: int = 256 * _MB
    """Of all contents together; the same content counts once."""
    one: int = LARGEST_KEPT
    """A file larger than this is changed without its content being kept: such a change cannot be undone."""
    every: int = 256
    """After so many changes it is looked whether there are too many."""

    @property
    def full(self) -> int:
        """Bytes of the whole file from which on it is looked whether there are too many."""
        return self.bytes * 5 // 4


def forget(db: sqlite3.Connection, bounds: Bounds) -> None:
    """Let the oldest changes go until the rest is within the bounds. What is begun and not settled stays."""
    newest = db.execute(
        "SELECT id FROM changes ORDER BY id DESC LIMIT 1 OFFSET ?", (bounds.changes,)
    ).fetchone()
    if newest is not None:
        _until(db, newest[0])
    while _size(db) > bounds.bytes:
        count = db.execute("SELECT count(*) FROM changes").fetchone()[0]
        query = "SELECT id FROM changes ORDER BY id LIMIT 1 OFFSET ?"
        if count < 2 or not _until(db, db.execute(query, (max(count // 8, 1) - 1,)).fetchone()[0]):
            return


def used(db: sqlite3.Connection) -> int:
    """Bytes of the file that are in use, without looking at each row."""
    pages = db.execute("SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count")
    (count,) = pages.fetchone()
    (size,) = db.execute("PRAGMA page_size").fetchone()
    return int(count * size)


def _until(db: sqlite3.Connection, last: int) -> bool:
    """Whether there was something to let go."""
    gone = db.execute("DELETE FROM changes WHERE id <= ? AND state <> 0", (last,))
    db.execute(
        "DELETE FROM contents WHERE hash NOT IN (SELECT before FROM changes WHERE before IS NOT NULL "
        "UNION SELECT after FROM changes WHERE after IS NOT NULL)"
    )
    return gone.rowcount > 0


def _size(db: sqlite3.Connection) -> int:
    found = db.execute("SELECT coalesce(sum(size), 0) FROM contents").fetchone()
    return int(found[0])
