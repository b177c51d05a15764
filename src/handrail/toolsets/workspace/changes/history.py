"""History: changes as they are kept, which can be undone or redone, and what that makes of files."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

_COLUMNS = (
    "id, path, operation, before, after, mode, folders, tenant, session, turn, call_id, agent, at, root"
)
_ALL = ", ".join(f"e.{name}" for name in _COLUMNS.split(", "))
_MATTERS = "c.state = 1 AND c.root IS NULL AND c.before IS NOT c.after"

_EFFECT = f"SELECT {_ALL}, c.id FROM changes c JOIN changes e ON e.id = coalesce(c.toggled, c.id)"
"""A change together with the row that last brought it about: itself, or its last undo or redo."""


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One row: what happened to a file. Contents are known by their hashes; None stands for no file."""

    id: int
    path: str
    operation: str
    before: bytes | None
    after: bytes | None
    mode: int | None
    """Of the file before."""
    folders: str | None
    tenant: str
    session: str
    turn: int | None
    call_id: str
    agent: str | None
    at: float
    root: int | None
    of: int
    """The change that it brought about, took back or brought back."""


@dataclass(frozen=True, slots=True)
class ChangeTurn:
    """The calls that belong together: those of a numbered turn, or a single one."""

    session: str
    number: int | None
    call_id: str | None

    @property
    def name(self) -> str:
        return f"turn {self.number}" if self.number is not None else "the last call that changed files"


def _rows(rows: Iterable[tuple[Any, ...]]) -> list[ChangeRow]:
    return [ChangeRow(*row) for row in rows]


def undoable(db: sqlite3.Connection, tenant: str, path: str, most: int) -> list[ChangeRow]:
    """The changes of a file that are not undone, the newest first."""
    return _of_file(db, "c.undone = 0", tenant, path, most)


def redoable(db: sqlite3.Connection, tenant: str, path: str, most: int) -> list[ChangeRow]:
    """The undos of a file that can be taken back, the newest first: nothing was written over them."""
    where = (
        "c.undone = 1 AND NOT EXISTS ("
        "SELECT 1 FROM changes n WHERE n.tenant = c.tenant AND n.path = c.path AND n.id > e.id "
        "AND n.state = 1 AND n.root IS NULL AND n.undone = 0 AND n.before IS NOT n.after)"
    )
    return _of_file(db, where, tenant, path, most)


def _of_file(db: sqlite3.Connection, where: str, tenant: str, path: str, most: int) -> list[ChangeRow]:
    of_file = f"c.tenant = ? AND c.path = ? AND {_MATTERS} AND {where}"
    return _rows(db.execute(f"{_EFFECT} WHERE {of_file} ORDER BY e.id DESC LIMIT ?", (tenant, path, most)))


def undoable_of_turn(db: sqlite3.Connection, tenant: str, turn: ChangeTurn) -> list[ChangeRow]:
    """What a turn did and nobody undid, the newest first: changes, and undos of what other turns did."""
    in_turn, values = _in_turn("c", turn)
    fresh = f"{_EFFECT} WHERE c.tenant = ? AND {in_turn} AND {_MATTERS} AND c.undone = 0"
    of_root, _ = _in_turn("r", turn)
    toggles = (
        f"SELECT {_ALL}, r.id FROM changes e JOIN changes r ON r.id = e.root AND r.toggled = e.id "
        f"WHERE e.tenant = ? AND {_in_turn('e', turn)[0]} AND e.state = 1 AND ({of_root}) IS NOT 1"
    )
    query = f"{fresh} UNION ALL {toggles} ORDER BY 1 DESC"
    return _rows(db.execute(query, (tenant, *values, tenant, *values, *values)))


def redoable_of_turn(db: sqlite3.Connection, tenant: str, turn: ChangeTurn) -> list[ChangeRow]:
    """The undos of what a turn did, the newest first."""
    in_turn, values = _in_turn("c", turn)
    query = f"{_EFFECT} WHERE c.tenant = ? AND {in_turn} AND {_MATTERS} AND c.undone = 1 ORDER BY e.id DESC"
    return _rows(db.execute(query, (tenant, *values)))


def newest_turn(db: sqlite3.Connection, tenant: str, session: str | None) -> ChangeTurn | None:
    """The last turn that changed something which is not undone, in a session or anywhere."""
    where, values = ("", ()) if session is None else ("AND c.session = ? ", (session,))
    return _last_turn(db, f"{where}AND {_MATTERS} AND c.undone = 0", tenant, *values)


def numbered_turn(db: sqlite3.Connection, tenant: str, number: int) -> ChangeTurn | None:
    """The turn of that number in the session that had one last."""
    return _last_turn(db, "AND c.turn = ? AND c.state = 1", tenant, number)


def latest_undo(db: sqlite3.Connection, tenant: str, session: str | None) -> list[ChangeRow]:
    """What the last undo took back that is not brought back yet, the newest first."""
    where, values = ("", ()) if session is None else ("AND e.session = ? ", (session,))
    last = (
        "SELECT e.session, e.call_id FROM changes e JOIN changes c ON c.id = e.root AND c.toggled = e.id "
        f"WHERE e.tenant = ? {where}AND e.root IS NOT NULL AND c.undone = 1 ORDER BY e.id DESC LIMIT 1"
    )
    row = db.execute(last, (tenant, *values)).fetchone()
    if row is None:
        return []
    call = "c.tenant = ? AND e.session = ? AND e.call_id = ?"
    query = f"{_EFFECT} WHERE {call} AND c.undone = 1 AND {_MATTERS} ORDER BY e.id DESC"
    return _rows(db.execute(query, (tenant, *row)))


def first_change_of_call(
    db: sqlite3.Connection, tenant: str, session: str, call_id: str, path: str
) -> list[ChangeRow]:
    """The first change that a call made to a file."""
    query = (
        f"SELECT {_ALL}, e.id FROM changes e WHERE e.tenant = ? AND e.session = ? AND e.call_id = ? "
        "AND e.path = ? ORDER BY e.id LIMIT 1"
    )
    return _rows(db.execute(query, (tenant, session, call_id, path)))


def next_change(db: sqlite3.Connection, path: str, number: int) -> ChangeRow | None:
    """The next change of a file that happened: whoever made it saw what the file held."""
    query = f"SELECT {_ALL}, e.id FROM changes e WHERE e.path = ? AND e.id > ? AND e.state = 1"
    return next(iter(_rows(db.execute(f"{query} ORDER BY e.id LIMIT 1", (path, number)))), None)


def all_changes(db: sqlite3.Connection, tenant: str, path: str | None = None) -> list[ChangeRow]:
    """Everything that happened, the oldest first."""
    where, values = ("", ()) if path is None else (" AND e.path = ?", (path,))
    query = (
        f"SELECT {_ALL}, coalesce(e.root, e.id) FROM changes e "
        f"WHERE e.tenant = ? AND e.state = 1{where} ORDER BY e.id"
    )
    return _rows(db.execute(query, (tenant, *values)))


def _last_turn(db: sqlite3.Connection, where: str, *values: Any) -> ChangeTurn | None:
    query = f"SELECT c.session, c.turn, c.call_id FROM changes c WHERE c.tenant = ? {where}"
    row = db.execute(f"{query} ORDER BY c.id DESC LIMIT 1", values).fetchone()
    if row is None:
        return None
    session, number, call_id = row
    return ChangeTurn(session, number, None if number is not None else call_id)


def _in_turn(row: str, turn: ChangeTurn) -> tuple[str, tuple[Any, ...]]:
    if turn.number is not None:
        return f"({row}.session = ? AND {row}.turn = ?)", (turn.session, turn.number)
    return f"({row}.session = ? AND {row}.turn IS NULL AND {row}.call_id = ?)", (turn.session, turn.call_id)


FOREIGN_CONTENT = b""
"""In the place of a hash: something is there that is no file of ours."""


@dataclass(slots=True)
class Reversal:
    """One file: what it is now, what it will be, and the steps between, the newest first."""

    path: str
    now: bytes | None
    then: bytes | None
    mode: int | None = None
    """For a file that comes back; None for one that keeps its own."""
    steps: list[ChangeRow] = field(default_factory=list)

    @property
    def action(self) -> str:
        if self.then is None:
            return "removed"
        return "restored" if self.now is None else "changed back"


def plan_reversals(
    steps: Iterable[ChangeRow], now: Callable[[str], bytes | None]
) -> tuple[list[Reversal], list[ChangeRow]]:
    """What becomes of each file when these steps are undone in this order, and the steps where it cannot be.

    Their files are not what they left, so that undoing them would lose what somebody else did.
    """
    files: dict[str, Reversal] = {}
    clashes: dict[str, ChangeRow] = {}
    for step in steps:
        if step.path not in files:
            current = now(step.path)
            files[step.path] = Reversal(step.path, current, current)
        file = files[step.path]
        if file.then != step.after:
            clashes.setdefault(step.path, step)
        if step.after is None or step.before is None:
            file.mode = step.mode
        file.then = step.before
        file.steps.append(step)
    return list(files.values()), list(clashes.values())
