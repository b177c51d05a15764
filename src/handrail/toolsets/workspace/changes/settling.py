"""Settling: what became of changes that were begun, and of which nobody has told how they ended."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

from handrail.toolsets.workspace.changes.tables import BEGUN, DONE, DROPPED, State


class Begun(NamedTuple):
    """A change of which nobody has told yet whether it happened."""

    id: int
    call_id: str
    path: str
    before: bytes | None
    after: bytes | None
    owner: str | None


def begun(db: sqlite3.Connection) -> list[list[Begun]]:
    """What is to be settled, the newest first. Steps of one call on one file happened together."""
    query = "SELECT id, call_id, path, before, after, owner FROM changes WHERE state = 0"
    rows = [Begun(*row) for row in db.execute(f"{query} ORDER BY call_id, path, id")]
    calls = [list(steps) for _, steps in groupby(rows, key=lambda row: (row.call_id, row.path))]
    return sorted(calls, key=lambda steps: -steps[-1].id)


def contested(calls: Sequence[Sequence[Begun]], lives: Callable[[str | None], bool]) -> set[int]:
    """The changes that two have begun alike, one of whom lives: one of them happened at most, and who lives
    will tell which."""
    alike: dict[object, list[Sequence[Begun]]] = {}
    for steps in calls:
        alike.setdefault((steps[-1].path, steps[0].before, steps[-1].after), []).append(steps)
    rivals = [found for found in alike.values() if len(found) > 1]
    return {steps[-1].id for found in rivals if any(lives(one[-1].owner) for one in found) for steps in found}


def fate(
    before: bytes | None, after: bytes | None, held: bytes | None, *, alive: bool, rival: bool = False
) -> State:
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
