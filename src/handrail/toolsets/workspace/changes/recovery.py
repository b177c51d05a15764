"""Recovery: what became of changes that were begun by a process which has ended since."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from itertools import count, groupby
from pathlib import Path
from typing import NamedTuple

from handrail.toolsets.workspace.changes.database import BEGUN, DONE, DROPPED, ChangeState

_open_owners: set[str] = set()
_numbers = count()


def register_owner() -> str:
    """A name for a journal that is opened in this process."""
    name = f"{os.getpid()}:{_start_time(os.getpid())}:{next(_numbers)}"
    _open_owners.add(name)
    return name


def release_owner(name: str) -> None:
    """The journal is closed: what it began and did not end is for others to settle."""
    _open_owners.discard(name)


def is_owner_alive(name: str | None) -> bool:
    """Whether the journal of that name is open in a process that runs."""
    pid, _, rest = (name or "").partition(":")
    if not pid.isdigit() or rest.partition(":")[0] != _start_time(int(pid)):
        return False
    return int(pid) != os.getpid() or name in _open_owners


def _start_time(pid: int) -> str | None:
    """When a process began, which tells it from a later one of its number; None of one that has ended."""
    try:
        process_stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    fields = process_stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]


class UnsettledChange(NamedTuple):
    """A change of which nobody has told yet whether it happened."""

    id: int
    call_id: str
    path: str
    before: bytes | None
    after: bytes | None
    owner: str | None


def unsettled_changes(db: sqlite3.Connection) -> list[list[UnsettledChange]]:
    """What is to be settled, the newest first. Steps of one call on one file happened together."""
    query = "SELECT id, call_id, path, before, after, owner FROM changes WHERE state = 0"
    rows = [UnsettledChange(*row) for row in db.execute(f"{query} ORDER BY call_id, path, id")]
    calls = [list(steps) for _, steps in groupby(rows, key=lambda row: (row.call_id, row.path))]
    return sorted(calls, key=lambda steps: -steps[-1].id)


def contested_changes(
    calls: Sequence[Sequence[UnsettledChange]], lives: Callable[[str | None], bool]
) -> set[int]:
    """The changes that two have begun alike, one of whom lives: one of them happened at most, and who lives
    will tell which."""
    alike: dict[object, list[Sequence[UnsettledChange]]] = {}
    for steps in calls:
        alike.setdefault((steps[-1].path, steps[0].before, steps[-1].after), []).append(steps)
    rivals = [group for group in alike.values() if len(group) > 1]
    living = [group for group in rivals if any(lives(steps[-1].owner) for steps in group)]
    return {steps[-1].id for group in living for steps in group}


def settled_state(
    before: bytes | None, after: bytes | None, held: bytes | None, *, alive: bool, rival: bool = False
) -> ChangeState:
    """What became of a change, by what its file held next. Who lives may still be about to do it.

    `rival`: somebody else began the same, and will tell whether it was them.
    """
    if before == after:
        return DONE
    if rival:
        return BEGUN
    if held == after:
        return DONE
    if alive:
        return BEGUN
    return DROPPED if held == before else DONE
