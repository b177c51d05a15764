"""Tables: where changes are kept, in one SQLite file that several processes may use at once."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, Literal

from handrail.ext import ToolError
from handrail.toolsets.wal import use_wal

BEGUN: Final = 0
DONE: Final = 1
DROPPED: Final = 2
State = Literal[0, 1, 2]

FILE = "changes.db"
_WAIT = 20.0
_WAL_LEFT = 16 * 1024 * 1024
_WAL_FULL = 8 * 1024 * 1024
"""So much is written before it is brought to its place, which waits for the disk."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS contents (hash BLOB PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    state INTEGER NOT NULL,
    tenant TEXT NOT NULL, session TEXT NOT NULL, turn INTEGER, call_id TEXT NOT NULL, agent TEXT,
    at REAL NOT NULL,
    path TEXT NOT NULL, operation TEXT NOT NULL,
    before BLOB, after BLOB, mode INTEGER, folders TEXT,
    root INTEGER, undone INTEGER NOT NULL DEFAULT 0, toggled INTEGER
);
CREATE INDEX IF NOT EXISTS changes_of_path ON changes (tenant, path, id);
CREATE INDEX IF NOT EXISTS changes_of_turn ON changes (tenant, session, turn, id);
"""
"""`root`: of an undo or redo, the change that it takes back or brings back.
`undone`, `toggled`: of a change, whether it is taken back now, and by which row that was last turned over."""


class Tables:
    """One connection for each process; whoever uses it holds it meanwhile."""

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._of_parents: list[sqlite3.Connection] = []
        """Connections of the process that this one was forked from: closing them would disturb it."""
        self._written = 0
        self._tidying: threading.Thread | None = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._open()
            except (sqlite3.Error, OSError) as error:
                raise _said(error) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All that is done in it happens, or none of it."""
        with self.reading() as connection:
            connection.execute("begin immediate")
            try:
                yield connection
                connection.execute("commit")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("rollback")
                raise

    def written(self, size: int) -> None:
        """So many bytes were written. From time to time they are brought to their place, beside the work."""
        self._written += size
        if self._written >= _WAL_FULL and (self._tidying is None or not self._tidying.is_alive()):
            self._written = 0
            self._tidying = threading.Thread(target=self._tidy, name="handrail-history", daemon=True)
            self._tidying.start()

    def _tidy(self) -> None:
        with suppress(sqlite3.Error), closing(sqlite3.connect(self._file(), timeout=_WAIT)) as beside:
            beside.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def close(self) -> None:
        if self._tidying is not None:
            self._tidying.join()
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._process == os.getpid():
            return self._connection
        if self._connection is not None:
            self._of_parents.append(self._connection)
        opened = sqlite3.connect(self._file(), timeout=_WAIT, isolation_level=None, check_same_thread=False)
        try:
            use_wal(opened, _WAIT)
            opened.execute("PRAGMA synchronous = NORMAL")
            opened.execute("PRAGMA wal_autocheckpoint = 0")
            opened.execute(f"PRAGMA journal_size_limit = {_WAL_LEFT}")
            opened.executescript(_SCHEMA)
        except BaseException:
            opened.close()
            raise
        self._connection, self._process = opened, os.getpid()
        return opened

    def _file(self) -> Path:
        return self._folder() / FILE


def _said(error: Exception) -> ToolError:
    if "full" in str(error):
        return ToolError("The disk is full. Nothing was changed.", code="DISK_FULL")
    return ToolError(
        f"The history of changes cannot be used ({error}), so that nothing was changed. "
        "Whoever runs this finds it in the workspace: .handrail/history/changes.db.",
        code="HISTORY_UNAVAILABLE",
    )
