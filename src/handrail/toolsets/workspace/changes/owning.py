"""Owning: who began a change, and whether they still live. Only what the dead began is settled for them."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path

_open: set[str] = set()
_numbers = count()


def owner() -> str:
    """A name for a journal that is opened in this process."""
    name = f"{os.getpid()}:{_started(os.getpid())}:{next(_numbers)}"
    _open.add(name)
    return name


def left(name: str) -> None:
    """The journal is closed: what it began and did not end is for others to settle."""
    _open.discard(name)


def lives(name: str | None) -> bool:
    """Whether the journal of that name is open in a process that runs."""
    pid, _, rest = (name or "").partition(":")
    if not pid.isdigit() or rest.partition(":")[0] != _started(int(pid)):
        return False
    return int(pid) != os.getpid() or name in _open


def _started(pid: int) -> str | None:
    """When a process began, which tells it from a later one of its number; None of one that has ended."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    fields = told.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]
