"""Locks: one change of a file at a time, among all threads and processes that work in a folder."""

from __future__ import annotations

import fcntl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from handrail import ToolError

_WAIT = 5.0
"""Seconds; a change takes a fraction of a thousandth, unless its process was stopped in the midst of it."""
_RETRY_PAUSE = 0.001
"""Seconds between two tries: a lock of a file can be waited for, but not for so long and no longer."""


class WouldBlock(Exception):
    """It would have to be waited for, and whoever asks cannot wait."""


class KeyedLocks:
    """One change of a file at a time, among the threads of a process: the next one reads what it left."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[str, _CountedLock] = {}

    @contextmanager
    def hold(self, key: str, *, wait: bool = True) -> Iterator[None]:
        with self._guard:
            counted = self._locks.setdefault(key, _CountedLock())
            counted.wanted += 1
        is_held = False
        try:
            is_held = counted.lock.acquire(blocking=wait)
            if not is_held:
                raise WouldBlock
            yield
        finally:
            if is_held:
                counted.lock.release()
            with self._guard:
                counted.wanted -= 1
                if not counted.wanted:
                    del self._locks[key]


@dataclass(slots=True)
class _CountedLock:
    lock: threading.Lock = field(default_factory=threading.Lock)
    wanted: int = 0
    """How many hold the lock or wait for it."""


class FolderLock:
    """Held while a file that was looked at gets another content."""

    def __init__(self) -> None:
        self._threads = threading.Lock()

    @contextmanager
    def hold(self, folder: int, path: str) -> Iterator[None]:
        """The folder is one that all processes have open. It waits in a thread, never on the event loop.

        Where a file system has no locks, those of threads have to do.
        """
        with self._threads:
            locked = _flock(folder, path)
            try:
                yield
            finally:
                if locked:
                    fcntl.flock(folder, fcntl.LOCK_UN)


def _flock(folder: int, path: str) -> bool:
    until = time.monotonic() + _WAIT
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise ToolError(
                    f"{path} was not changed: another process changes files here. Try again.",
                    code="CHANGED_MEANWHILE",
                ) from None
            time.sleep(_RETRY_PAUSE)
        except OSError:  # this file system has none
            return False
        else:
            return True
