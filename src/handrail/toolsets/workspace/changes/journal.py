"""Journal of changes: each is kept before it happens, so that none happens that cannot be undone.

What was begun and never told to be done, because its process was killed, is settled by looking at the file.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from typing import Any

from handrail.ext import Clock, ToolError
from handrail.toolsets.workspace.atomic import Stamp
from handrail.toolsets.workspace.change import Change
from handrail.toolsets.workspace.changes import past
from handrail.toolsets.workspace.changes.forgetting import Bounds, forget
from handrail.toolsets.workspace.changes.past import Kept
from handrail.toolsets.workspace.changes.tables import BEGUN, DONE, DROPPED, FILE, State, Tables
from handrail.toolsets.workspace.desk import Workspace

_log = logging.getLogger("handrail.workspace")
_HISTORY = "history"
_REMEMBERED = 1_000_000
"""Bytes of a content up to which it is remembered, to spare its hash."""
_INSERT = (
    "INSERT INTO changes (state, tenant, session, turn, call_id, agent, at, path, operation, before, after,"
    f" mode, folders, root) VALUES ({BEGUN}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_MARK = "UPDATE changes SET state = ? WHERE id = ?"

_Begun = tuple[int, str, str, bytes | None, bytes | None]
"""Number, call, path, content before and after."""


@dataclass(frozen=True, slots=True)
class Toggle:
    """One step of an undo or redo: the change that it turns over, and what becomes of its file."""

    of: int
    operation: str
    path: str
    before: bytes | None
    after: bytes | None
    mode: int | None
    folders: tuple[str, ...] = ()


def hash_of(data: bytes | None) -> bytes | None:
    """The name of a content; None where there is no file."""
    return None if data is None else sha256(data).digest()


class Changes:
    """The journal of one workspace."""

    def __init__(
        self, workspace: Workspace, bounds: Bounds | None = None, clock: Clock | None = None
    ) -> None:
        self.workspace = workspace
        self._bounds = bounds or Bounds()
        self._clock = clock or Clock()
        self._tables = Tables(lambda: workspace.own(_HISTORY))
        self._settled_by = 0
        self._since = 0
        self._added = 0
        self._happened: list[int] = []
        """Changes that are done and not yet marked so: the next transaction does it. Until then the file
        tells, as it does for what a killed process began."""
        self._involved: set[int] = set()
        """Changes that made folders or turn others over: once done, more than their own row is marked."""
        self._newest: tuple[bytes, bytes] | None = None
        """The content that was kept last, and its name: mostly the one that the next change begins with."""

    def close(self) -> None:
        if self._happened:
            self._catch_up()
        self._tables.close()

    def settle(self) -> None:
        """Decide on what a killed process began, while its files are as it left them."""
        if (self.workspace.state / _HISTORY / FILE).exists():
            self._catch_up()

    def _catch_up(self) -> None:
        """Mark what has happened. Should that not be kept, the file will tell."""
        try:
            with self._writing():
                pass
        except ToolError as error:
            _log.warning("changes %s are left to be settled later: %s", self._happened, error)

    def record(self, change: Change) -> int:
        """Keep what is about to happen; the number by which it is known."""
        folders = change.made_folders
        if change.before is None and not folders:
            folders = self.workspace.missing(change.path)
        with self._writing() as db:
            before, after = self._keep(db, change.before), self._keep(db, change.after)
            what = (change.path, change.operation, before, after, change.mode_before, _named(folders), None)
            number = self._insert(db, self._who(change), what)
            self._forget(db)
        self._tables.written(len(change.after or b""))
        return number

    def begin(self, change: Change, toggles: Sequence[Toggle]) -> list[int]:
        """Keep the steps of an undo that is about to happen. The change says only for whom."""
        with self._writing() as db:
            return [
                self._insert(
                    db,
                    self._who(change),
                    (one.path, one.operation, one.before, one.after, one.mode, _named(one.folders), one.of),
                )
                for one in toggles
            ]

    def keep(self, data: bytes | None) -> bytes | None:
        """Keep a content for an undo that takes it away."""
        with self._writing() as db:
            return self._keep(db, data)

    def content(self, name: bytes) -> bytes | None:
        """A content by its hash; None when it is no longer kept."""
        with self._tables.reading() as db:
            found = db.execute("SELECT data FROM contents WHERE hash = ?", (name,)).fetchone()
        return None if found is None else bytes(found[0])

    def done(self, number: int, stamp: Stamp | None = None) -> None:
        """It has happened."""
        self._happened.append(number)
        if number in self._involved:  # which folders these are has to be kept at once
            self._catch_up()

    def dropped(self, *numbers: int) -> None:
        """It has not happened, unless the file says otherwise."""
        self._involved.difference_update(numbers)
        try:
            with self._writing() as db:
                self._settle(db, [row for row in _begun(db) if row[0] in numbers])
        except ToolError as error:
            _log.warning("changes %s are left to be settled later: %s", numbers, error)

    def look(self, find: Callable[[sqlite3.Connection], list[Kept]]) -> list[Kept]:
        """What a query finds, once everything that was begun is settled."""
        with self._writing() as db:
            self._settle(db, _begun(db))
            return find(db)

    def before(self, tenant: str, session: str, call_id: str, path: str) -> bytes | None:
        """What a file held before a call changed it; None when there was none, or it is not kept."""
        with self._tables.reading() as db:
            found = past.first_of_call(db, tenant, session, call_id, path)
        name = found[0].before if found else None
        return None if name is None else self.content(name)

    def history(self, tenant: str, path: str | None = None) -> list[Kept]:
        """Everything that happened to a file, or to all, the oldest first."""
        return self.look(lambda db: past.history(db, tenant, path))

    def told(self, kept: Kept) -> dict[str, Any]:
        """A change with its contents, in the words of other trackers."""
        return {
            "filePath": kept.path,
            "operation": kept.operation,
            "contentBefore": None if kept.before is None else self.content(kept.before),
            "contentAfter": None if kept.after is None else self.content(kept.after),
            "turnNumber": kept.turn,
            "toolCallId": kept.call_id,
        }

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        newest = self._newest
        try:
            with self._tables.writing() as db:
                marked = len(self._happened)
                for number in self._happened[:marked]:
                    if number in self._involved:
                        self._mark(db, number, DONE)
                        self._involved.discard(number)
                    else:
                        db.execute(_MARK, (DONE, number))
                if self._settled_by != os.getpid():
                    self._settle(db, _begun(db))
                    self._settled_by = os.getpid()
                yield db
            del self._happened[:marked]
        except BaseException:
            self._newest = newest  # what was kept meanwhile is not
            raise

    def _who(self, change: Change) -> tuple[object, ...]:
        return (change.tenant, change.session, change.turn, change.call_id, change.agent, self._clock.now())

    def _insert(self, db: sqlite3.Connection, who: tuple[object, ...], what: tuple[object, ...]) -> int:
        self._since += 1
        number = db.execute(_INSERT, (*who, *what)).lastrowid
        assert number is not None
        if what[5] is not None or what[6] is not None:
            self._involved.add(number)
        return number

    def _keep(self, db: sqlite3.Connection, data: bytes | None) -> bytes | None:
        if self._newest is not None and self._newest[0] == data:
            return self._newest[1]
        name = hash_of(data)
        if data is None or name is None or len(data) > self._bounds.one:
            return name
        query = "INSERT OR IGNORE INTO contents VALUES (?, ?, ?)"
        if db.execute("SELECT 1 FROM contents WHERE hash = ?", (name,)).fetchone() is None:
            db.execute(query, (name, len(data), data))
            self._added += len(data)
        if len(data) <= _REMEMBERED:
            self._newest = (data, name)
        return name

    def _forget(self, db: sqlite3.Connection) -> None:
        if self._since >= self._bounds.every or self._added * 8 >= self._bounds.bytes:
            forget(db, self._bounds)
            self._newest = None
            self._since = self._added = 0

    def _settle(self, db: sqlite3.Connection, begun: list[_Begun]) -> None:
        """Decide by the file whether it happened. Steps of one call on one file happened together."""
        for (_, path), rows in groupby(begun, key=lambda row: (row[1], row[2])):
            steps = list(rows)
            before, after = steps[0][3], steps[-1][4]
            dropped = before != after and hash_of(self._now(path)) == before
            for number, *_ in steps:
                self._mark(db, number, DROPPED if dropped else DONE)

    def _mark(self, db: sqlite3.Connection, number: int, state: State) -> None:
        query = "UPDATE changes SET state = ? WHERE id = ? RETURNING root, operation = 'undo', folders"
        for root, undone, folders in db.execute(query, (state, number)).fetchall():
            if state == DONE and root is not None:
                toggled = (
                    "UPDATE changes SET undone = ?, toggled = ? WHERE id = ? AND coalesce(toggled, 0) < ?"
                )
                db.execute(toggled, (undone, number, root, number))
            if state == DONE and folders is not None:
                known = [[name, *_identity(self.workspace, name)] for name, *_ in json.loads(folders)]
                db.execute("UPDATE changes SET folders = ? WHERE id = ?", (json.dumps(known), number))

    def _now(self, path: str) -> bytes | None:
        try:
            return self.workspace.read(path)
        except ToolError:
            return None


def _begun(db: sqlite3.Connection) -> list[_Begun]:
    query = "SELECT id, call_id, path, before, after FROM changes WHERE state = 0 ORDER BY call_id, path, id"
    return db.execute(query).fetchall()


def _named(folders: Sequence[str]) -> str | None:
    return json.dumps([[name] for name in folders]) if folders else None


def _identity(workspace: Workspace, folder: str) -> tuple[int, int] | tuple[()]:
    found = workspace.stat(folder)
    return () if found is None else (found.st_dev, found.st_ino)
