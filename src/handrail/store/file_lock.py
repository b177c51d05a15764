"""FileLock: one server or worker for each SQLite file. The second gets an error that names the first."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from weakref import WeakSet

from handrail.core.errors import UsageError


@contextmanager
def exclusive(database: Path) -> Iterator[None]:
    """One process at a time upgrades a database file; others wait. It leaves no file."""
    folder = os.open(database.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


class DatabaseInUse(UsageError):
    """The database is in use."""


class FileLock:
    """The lock beside a database file. The system frees it when the process ends, however it ends."""

    def __init__(self, database: Path, what: str) -> None:
        self._database = database
        self._path = database.with_name(database.name + ".lock")
        self._what = what
        self._file: int | None = None

    def take(self) -> None:
        """Take it, or raise `DatabaseInUse` and say who has it."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = _describe_holder(os.pread(file, 4096, 0))
            os.close(file)
            raise DatabaseInUse(
                f"The database {self._database} is in use by {who}. One server or worker at a time has a "
                "SQLite file: stop that one first, or use PostgreSQL to have several."
            ) from None
        except BaseException:
            os.close(file)
            raise
        since = datetime.now(UTC).isoformat(timespec="seconds")
        holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": since, "what": self._what}
        os.ftruncate(file, 0)
        os.pwrite(file, json.dumps(holder).encode(), 0)
        self._file = file
        _held_locks.add(self)

    def after_fork(self) -> None:
        """In a fork: the lock belongs to the process that took it, and ends with it."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def free(self) -> None:
        """Release it. The file stays: whoever removed it would lock another one."""
        file, self._file = self._file, None
        if file is not None:
            os.ftruncate(file, 0)
            os.close(file)


_held_locks: WeakSet[FileLock] = WeakSet()


def _after_fork() -> None:
    for lock in list(_held_locks):
        lock.after_fork()


os.register_at_fork(after_in_child=_after_fork)


def _describe_holder(text: bytes) -> str:
    try:
        holder: dict[str, Any] = json.loads(text)
        return f"{holder['what']} (process {holder['pid']} on {holder['host']}, since {holder['since']})"
    except (ValueError, KeyError, TypeError):
        return "another process"
