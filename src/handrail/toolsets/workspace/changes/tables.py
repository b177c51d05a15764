"""Tables: where changes are kept, in one SQLite file that several processes may use at once."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, Literal

from handrail.ext import ToolError
from handrail.toolsets.wal import use_wal
from handrail.toolsets.workspace.locking import Busy

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


class Tables:
    """One connection for each process; whoever uses it holds it meanwhile."""

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self.opening = object()
        """Another one each time that the file is opened: by a new process, or because it was removed."""
        self._connection: sqlite3.Connection | None = None
        self._is_patient = True
        self._process = 0
        self._opened: tuple[str, os.stat_result] | None = None
        self._of_parents: list[sqlite3.Connection] = []
        """Connections of the process that this one was forked from: closing them would disturb it."""
        self._written = 0
        self._tidying: threading.Thread | None = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                connection = self._open()
                self._be_patient(connection, True)
                yield connection
            except (sqlite3.Error, OSError) as error:
                raise _said(error) from error

    @contextmanager
    def writing(self, *, wait: bool = True) -> Iterator[sqlite3.Connection]:
        """All that is done in it happens, or none of it. Who cannot wait finds it open and free, or Busy."""
        if not self._lock.acquire(blocking=wait):
            raise Busy
        try:
            connection = self._open() if wait else self._at_hand()
            self._begin(connection, wait)
            try:
                yield connection
                connection.execute("commit")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("rollback")
                raise
        except (sqlite3.Error, OSError) as error:
            raise _said(error) from error
        finally:
            self._lock.release()

    def written(self, size: int) -> None:
        """So many bytes were written. From time to time they are brought to their place, beside the work."""
        self._written += size
        if self._written >= _WAL_FULL and (self._tidying is None or not self._tidying.is_alive()):
            self._written = 0
            self._tidying = threading.Thread(target=self._tidy, name="handrail-history", daemon=True)
            self._tidying.start()

    def _tidy(self) -> None:
        if self._opened is None or not self._is_there():
            return
        with suppress(sqlite3.Error), closing(sqlite3.connect(self._opened[0], timeout=_WAIT)) as beside:
            beside.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def close(self) -> None:
        if self._tidying is not None:
            self._tidying.join()
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._leave(self._connection)
            self._connection = None

    def _leave(self, connection: sqlite3.Connection) -> None:
        """Others may have it open for long and write little: who comes for a moment tidies when it goes."""
        with suppress(sqlite3.Error, OSError):
            if self._opened is not None and os.stat(f"{self._opened[0]}-wal").st_size >= _WAL_FULL:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        connection.close()

    def _begin(self, connection: sqlite3.Connection, wait: bool) -> None:
        self._be_patient(connection, wait)
        try:
            connection.execute("begin immediate")
        except sqlite3.OperationalError as error:
            if not wait and "locked" in str(error):
                raise Busy from error
            raise

    def _be_patient(self, connection: sqlite3.Connection, patient: bool) -> None:
        """How long SQLite waits for other processes: it is told when that changes."""
        if patient != self._is_patient:
            connection.execute(f"PRAGMA busy_timeout = {_WAIT * 1000 if patient else 0:.0f}")
            self._is_patient = patient

    def _at_hand(self) -> sqlite3.Connection:
        if self._connection is None or self._process != os.getpid() or not self._is_there():
            raise Busy
        return self._connection

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._process != os.getpid():
            self._of_parents.append(self._connection)
        elif self._connection is not None:
            if self._connection.in_transaction or self._is_there():
                return self._connection
            self._connection.close()
        self._connection = None
        file = self._file()
        opened = sqlite3.connect(file, timeout=_WAIT, isolation_level=None, check_same_thread=False)
        try:
            use_wal(opened, _WAIT)
            opened.execute("PRAGMA synchronous = NORMAL")
            opened.execute("PRAGMA wal_autocheckpoint = 0")
            opened.execute(f"PRAGMA journal_size_limit = {_WAL_LEFT}")
            opened.executescript(_SCHEMA)
            _bring_up(opened)
            self._opened = str(file), os.stat(file)
        except BaseException:
            opened.close()
            raise
        self._connection, self._process, self.opening = opened, os.getpid(), object()
        self._is_patient = True
        return opened

    def _is_there(self) -> bool:
        """Whether the file that is open is still the one of its name."""
        if self._opened is None:
            return False
        file, found = self._opened
        try:
            now = os.stat(file)
            return (now.st_ino, now.st_dev) == (found.st_ino, found.st_dev)
        except FileNotFoundError:
            return False

    def _file(self) -> Path:
        return self._folder() / FILE


def _bring_up(db: sqlite3.Connection) -> None:
    """A history that was begun before changes had owners."""
    if db.execute("SELECT 1 FROM pragma_table_info('changes') WHERE name = 'owner'").fetchone() is None:
        with suppress(sqlite3.OperationalError):  # somebody else does it at the same moment
            db.execute("ALTER TABLE changes ADD COLUMN owner TEXT")


def _said(error: sqlite3.Error | OSError) -> ToolError:
    if "full" in str(error) or getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
        return ToolError("The disk is full. Nothing was changed.", code="DISK_FULL")
    why = error.strerror if isinstance(error, OSError) else error  # without the path, which is not for all
    return ToolError(
        f"The history of changes cannot be used ({why}), so that nothing was changed. "
        "Whoever runs this finds it in the workspace: .handrail/history/changes.db.",
        code="HISTORY_UNAVAILABLE",
    )
