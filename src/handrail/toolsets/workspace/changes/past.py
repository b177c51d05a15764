"""Past: changes as they are kept, and which of them can be undone or brought back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_COLUMNS = (
    "id, path, operation, before, after, mode, folders, tenant, session, turn, call_id, agent, at, root"
)
_ALL = ", ".join(f"e.{name}" for name in _COLUMNS.split(", "))
_MATTERS = "c.state = 1 AND c.root IS NULL AND c.before IS NOT c.after"
_EFFECT = f"SELECT {_ALL}, c.id FROM changes c JOIN changes e ON e.id = coalesce(c.toggled, c.id)"
"""A change together with the row that last brought it about: itself, or its last undo or redo."""


@dataclass(frozen=True, slots=True)
class Kept:
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
class Turn:
    """The calls that belong together: those of a numbered turn, or a single one."""

    session: str
    number: int | None
    call_id: str | None

    @property
    def name(self) -> str:
        return f"turn {self.number}" if self.number is not None else "the last call that changed files"


def _kept(rows: Iterable[tuple[Any, ...]]) -> list[Kept]:
    return [Kept(*row) for row in rows]


def standing(db: sqlite3.Connection, tenant: str, path: str, most: int) -> list[Kept]:
    """The changes of a file that are not undone, the newest first."""
    where = f"c.tenant = ? AND c.path = ? AND {_MATTERS} AND c.undone = 0"
    query = f"{_EFFECT} WHERE {where} ORDER BY e.id DESC LIMIT ?"
    return _kept(db.execute(query, (tenant, path, most)))


def undone(db: sqlite3.Connection, tenant: str, path: str, most: int) -> list[Kept]:
    """The undos of a file that can be taken back, the newest first: nothing was written over them."""
    query = (
        f"{_EFFECT} WHERE c.tenant = ? AND c.path = ? AND {_MATTERS} AND c.undone = 1 AND NOT EXISTS ("
        "SELECT 1 FROM changes n WHERE n.tenant = c.tenant AND n.path = c.path AND n.id > e.id "
        "AND n.state = 1 AND n.root IS NULL AND n.undone = 0 AND n.before IS NOT n.after"
        ") ORDER BY e.id DESC LIMIT ?"
    )
    return _kept(db.execute(query, (tenant, path, most)))


def of_turn(db: sqlite3.Connection, tenant: str, turn: Turn) -> list[Kept]:
    """What a turn did and nobody undid, the newest first: changes, and undos of what other turns did."""
    here, values = _in_turn("c", turn)
    fresh = f"{_EFFECT} WHERE c.tenant = ? AND {here} AND {_MATTERS} AND c.undone = 0"
    there, _ = _in_turn("r", turn)
    toggles = (
        f"SELECT {_ALL}, r.id FROM changes e JOIN changes r ON r.id = e.root AND r.toggled = e.id "
        f"WHERE e.tenant = ? AND {_in_turn('e', turn)[0]} AND e.state = 1 AND ({there}) IS NOT 1"
    )
    query = f"{fresh} UNION ALL {toggles} ORDER BY 1 DESC"
    return _kept(db.execute(query, (tenant, *values, tenant, *values, *values)))


def undone_of_turn(db: sqlite3.Connection, tenant: str, turn: Turn) -> list[Kept]:
    """The undos of what a turn did, the newest first."""
    here, values = _in_turn("c", turn)
    query = f"{_EFFECT} WHERE c.tenant = ? AND {here} AND {_MATTERS} AND c.undone = 1 ORDER BY e.id DESC"
    return _kept(db.execute(query, (tenant, *values)))


def newest_turn(db: sqlite3.Connection, tenant: str, session: str | None) -> Turn | None:
    """The last turn that changed something which is not undone, in a session or anywhere."""
    where, values = ("", ()) if session is None else ("AND c.session = ? ", (session,))
    query = (
        f"SELECT c.session, c.turn, c.call_id FROM changes c WHERE c.tenant = ? {where}"
        f"AND {_MATTERS} AND c.undone = 0 ORDER BY c.id DESC LIMIT 1"
    )
    return _turn(db.execute(query, (tenant, *values)).fetchone())


def numbered_turn(db: sqlite3.Connection, tenant: str, number: int) -> Turn | None:
    """The turn of that number in the session that had one last."""
    query = (
        "SELECT c.session, c.turn, c.call_id FROM changes c WHERE c.tenant = ? AND c.turn = ? "
        "AND c.state = 1 ORDER BY c.id DESC LIMIT 1"
    )
    return _turn(db.execute(query, (tenant, number)).fetchone())


def newest_undone(db: sqlite3.Connection, tenant: str, session: str | None) -> list[Kept]:
    """What the last undo took back that is not brought back yet, the newest first."""
    where, values = ("", ()) if session is None else ("AND e.session = ? ", (session,))
    last = (
        "SELECT e.session, e.call_id FROM changes e JOIN changes c ON c.id = e.root AND c.toggled = e.id "
        f"WHERE e.tenant = ? {where}AND e.root IS NOT NULL AND c.undone = 1 ORDER BY e.id DESC LIMIT 1"
    )
    found = db.execute(last, (tenant, *values)).fetchone()
    if found is None:
        return []
    call = "c.tenant = ? AND e.session = ? AND e.call_id = ?"
    query = f"{_EFFECT} WHERE {call} AND c.undone = 1 AND {_MATTERS} ORDER BY e.id DESC"
    return _kept(db.execute(query, (tenant, *found)))


def first_of_call(db: sqlite3.Connection, tenant: str, session: str, call_id: str, path: str) -> list[Kept]:
    """The first change that a call made to a file."""
    query = (
        f"SELECT {_ALL}, e.id FROM changes e WHERE e.tenant = ? AND e.session = ? AND e.call_id = ? "
        "AND e.path = ? ORDER BY e.id LIMIT 1"
    )
    return _kept(db.execute(query, (tenant, session, call_id, path)))


def seen_after(db: sqlite3.Connection, path: str, number: int) -> Kept | None:
    """The next change of a file that happened: whoever made it saw what the file held."""
    query = f"SELECT {_ALL}, e.id FROM changes e WHERE e.path = ? AND e.id > ? AND e.state = 1"
    return next(iter(_kept(db.execute(f"{query} ORDER BY e.id LIMIT 1", (path, number)))), None)


def history(db: sqlite3.Connection, tenant: str, path: str | None = None) -> list[Kept]:
    """Everything that happened, the oldest first."""
    where, values = ("", ()) if path is None else (" AND e.path = ?", (path,))
    query = (
        f"SELECT {_ALL}, coalesce(e.root, e.id) FROM changes e "
        f"WHERE e.tenant = ? AND e.state = 1{where} ORDER BY e.id"
    )
    return _kept(db.execute(query, (tenant, *values)))


def _turn(found: tuple[str, int | None, str] | None) -> Turn | None:
    if found is None:
        return None
    session, number, call_id = found
    return Turn(session, number, None if number is not None else call_id)


def _in_turn(row: str, turn: Turn) -> tuple[str, tuple[Any, ...]]:
    if turn.number is not None:
        return f"({row}.session = ? AND {row}.turn = ?)", (turn.session, turn.number)
    return f"({row}.session = ? AND {row}.turn IS NULL AND {row}.call_id = ?)", (turn.session, turn.call_id)
