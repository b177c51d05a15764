"""SQLite files that several processes open at once."""

from __future__ import annotations

import sqlite3
import time

_PAUSE = 0.01


def use_wal(connection: sqlite3.Connection, patience: float) -> None:
    """Let readers and a writer work at the same time.

    While two processes make a file at once, SQLite refuses one of them at once, whatever its timeout, and
    has nothing to wait on: so this one tries again after a moment.
    """
    until = time.monotonic() + patience
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
        time.sleep(_PAUSE)
