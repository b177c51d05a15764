"""Database: the SQLite file of changes, which several processes may use, and how much it keeps."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from handrail import ToolError
from handrail.toolsets.sqlite_files import use_wal
from handrail.toolsets.workspace.locks import WouldBlock
from handrail.toolsets.workspace.workspace import MAX_RECORDED_SIZE

BEGUN: Final = 0
DONE: Final = 1
DROPPED: Final = 2
ChangeState = Literal[0, 1, 2]
DATABASE_FILE = "changes.db"
_BUSY_TIMEOUT = 20.0
_WAL_LEFT = 16 * 1024 * 1024

_WAL_FULL = 8 * 1024 * 1024
"""So much is written before it is brought to its place, which waits for the disk."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS contents (hash BLOB PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS changes (
    id INTEGER PRIMARY KEY,
    state INTEGER NOT NULL,
    tenant TEXT NOT NULL, session TEXT NOT NULL, turn INTEGER, call_id TEXT NOT NULL, agent TEXT,
    at REAL NOT NULL,
    path TEXT NOT NULL, operation TEXT NOT NULL,
    before BLOB, after BLOB, mode INTEGER, folders TEXT,
    root INTEGER, undone INTEGER NOT NULL DEFAULT 0, toggled INTEGER, owner TEXT
);
CREATE INDEX IF NOT EXISTS changes_of_path ON changes (tenant, path, id);
"""
"""`owner`: whose journal began it. `root`: of an undo or redo, the change that it takes back or brings back.
`undone`, `toggled`: of a change, whether it is taken back now, and by which row that was last turned over.
Only paths have an index: all else is sought seldom, among a bounded number of changes."""


class ChangeDatabase:
    """One connection for each process; whoever uses it holds it meanwhile."""

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self.opening = object()
        """Another one each time that the file is opened: by a new process, or because it was removed."""
        self._connection: sqlite3.Connection | None = None
        self._has_busy_timeout = True
        self._process = 0
        self._opened: tuple[str, os.stat_result] | None = None
        self._parent_connections: list[sqlite3.Connection] = []
        """Connections of the process that this one was forked from: closing them would disturb it."""
        self._written = 0
        self._checkpointing: threading.Thread | None = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                connection = self._open()
                self._set_busy_timeout(connection, True)
                yield connection
            except (sqlite3.Error, OSError) as error:
                raise _database_error(error) from error

    @contextmanager
    def writing(self, *, wait: bool = True) -> Iterator[sqlite3.Connection]:
        """All that is done in it happens, or none of it. Who cannot wait finds it open and free, or Busy."""
        if not self._lock.acquire(blocking=wait):
            raise WouldBlock
        try:
            connection = self._open() if wait else self._open_or_block()
            self._begin(connection, wait)
            try:
                yield connection
                connection.execute("commit")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("rollback")
                raise
        except (sqlite3.Error, OSError) as error:
            raise _database_error(error) from error
        finally:
            self._lock.release()

    def written(self, size: int) -> None:
        """So many bytes were written. From time to time they are brought to their place, beside the work."""
        self._written += size
        if self._written >= _WAL_FULL and (self._checkpointing is None or not self._checkpointing.is_alive()):
            self._written = 0
            self._checkpointing = threading.Thread(
                target=self._checkpoint, name="handrail-history", daemon=True
            )
            self._checkpointing.start()

    def _checkpoint(self) -> None:
        if self._opened is None or not self._is_same_file():
            return
        with (
            suppress(sqlite3.Error),
            closing(sqlite3.connect(self._opened[0], timeout=_BUSY_TIMEOUT)) as beside,
        ):
            beside.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def close(self) -> None:
        if self._checkpointing is not None:
            self._checkpointing.join()
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._close_connection(self._connection)
            self._connection = None

    def _close_connection(self, connection: sqlite3.Connection) -> None:
        """Others may have it open for long and write little: who comes for a moment tidies when it goes."""
        with suppress(sqlite3.Error, OSError):
            if self._opened is not None and os.stat(f"{self._opened[0]}-wal").st_size >= _WAL_FULL:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        connection.close()

    def _begin(self, connection: sqlite3.Connection, wait: bool) -> None:
        self._set_busy_timeout(connection, wait)
        try:
            connection.execute("begin immediate")
        except sqlite3.OperationalError as error:
            if not wait and "locked" in str(error):
                raise WouldBlock from error
            raise

    def _set_busy_timeout(self, connection: sqlite3.Connection, patient: bool) -> None:
        """How long SQLite waits for other processes: it is told when that changes."""
        if patient != self._has_busy_timeout:
            connection.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT * 1000 if patient else 0:.0f}")
            self._has_busy_timeout = patient

    def _open_or_block(self) -> sqlite3.Connection:
        if self._connection is None or self._process != os.getpid() or not self._is_same_file():
            raise WouldBlock
        return self._connection

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._process != os.getpid():
            self._parent_connections.append(self._connection)
        elif self._connection is not None:
            if self._connection.in_transaction or self._is_same_file():
                return self._connection
            self._connection.close()
        self._connection = None
        file = self._folder() / DATABASE_FILE
        opened = sqlite3.connect(file, timeout=_BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
        try:
            use_wal(opened, _BUSY_TIMEOUT)
            opened.execute("PRAGMA synchronous = NORMAL")
            opened.execute("PRAGMA wal_autocheckpoint = 0")
            opened.execute(f"PRAGMA journal_size_limit = {_WAL_LEFT}")
            opened.executescript(_SCHEMA)
            _migrate(opened)
            self._opened = str(file), os.stat(file)
        except BaseException:
            opened.close()
            raise
        self._connection, self._process, self.opening = opened, os.getpid(), object()
        self._has_busy_timeout = True
        return opened

    def _is_same_file(self) -> bool:
        """Whether the file that is open is still the one of its name."""
        if self._opened is None:
            return False
        file, opened = self._opened
        try:
            now = os.stat(file)
            return (now.st_ino, now.st_dev) == (opened.st_ino, opened.st_dev)
        except FileNotFoundError:
            return False


def _migrate(db: sqlite3.Connection) -> None:
    """A history that was begun before changes had owners."""
    if db.execute("SELECT 1 FROM pragma_table_info('changes') WHERE name = 'owner'").fetchone() is None:
        with suppress(sqlite3.OperationalError):  # somebody else does it at the same moment
            db.execute("ALTER TABLE changes ADD COLUMN owner TEXT")


def _database_error(error: sqlite3.Error | OSError) -> ToolError:
    if "full" in str(error) or getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
        return ToolError("The disk is full. Nothing was changed.", code="DISK_FULL")
    why = error.strerror if isinstance(error, OSError) else error  # without the path, which is not for all
    return ToolError(
        f"The history of changes cannot be used ({why}), so that nothing was changed. "
        "Whoever runs this finds it in the workspace: .handrail/history/changes.db.",
        code="HISTORY_UNAVAILABLE",
    )


_MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class RetentionLimits:
    """How much is kept."""

    changes: int = 10_000
    bytes: int = 256 * _MB
    """Of all contents together; the same content counts once."""
    largest: int = MAX_RECORDED_SIZE
    """A file larger than this is changed without its content being kept: such a change cannot be undone."""
    every: int = 256
    """After so many changes it is looked whether there are too many."""

    @property
    def full(self) -> int:
        """Bytes of the whole file from which on it is looked whether there are too many."""
        return self.bytes * 5 // 4


def prune_history(db: sqlite3.Connection, bounds: RetentionLimits) -> None:
    """Let the oldest changes go until the rest is within the bounds. What is begun and not settled stays."""
    newest = db.execute(
        "SELECT id FROM changes ORDER BY id DESC LIMIT 1 OFFSET ?", (bounds.changes,)
    ).fetchone()
    if newest is not None:
        _delete_until(db, newest[0])
    while _content_bytes(db) > bounds.bytes:
        count = db.execute("SELECT count(*) FROM changes").fetchone()[0]
        query = "SELECT id FROM changes ORDER BY id LIMIT 1 OFFSET ?"
        if count < 2 or not _delete_until(db, db.execute(query, (max(count // 8, 1) - 1,)).fetchone()[0]):
            return


def used_bytes(db: sqlite3.Connection) -> int:
    """Bytes of the file that are in use, without looking at each row."""
    pages = db.execute("SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count")
    (count,) = pages.fetchone()
    (size,) = db.execute("PRAGMA page_size").fetchone()
    return int(count * size)


def _delete_until(db: sqlite3.Connection, last: int) -> bool:
    """Whether there was something to let go."""
    gone = db.execute("DELETE FROM changes WHERE id <= ? AND state <> 0", (last,))
    db.execute(
        "DELETE FROM contents WHERE hash NOT IN (SELECT before FROM changes WHERE before IS NOT NULL "
        "UNION SELECT after FROM changes WHERE after IS NOT NULL)"
    )
    return gone.rowcount > 0


def _content_bytes(db: sqlite3.Connection) -> int:
    total = db.execute("SELECT coalesce(sum(size), 0) FROM contents").fetchone()
    return int(total[0])
