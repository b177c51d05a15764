"""Journal of changes: each is kept before it happens, so that none happens that cannot be undone.

What was begun and never told to be done, because its process was killed, is settled by looking at the file.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from handrail import ToolError
from handrail.ext.ports import Clock
from handrail.toolsets.workspace.changes import history, recovery
from handrail.toolsets.workspace.changes.database import (
    BEGUN,
    DATABASE_FILE,
    DONE,
    DROPPED,
    ChangeDatabase,
    ChangeState,
    RetentionLimits,
    prune_history,
    used_bytes,
)
from handrail.toolsets.workspace.changes.history import FOREIGN_CONTENT, ChangeRow
from handrail.toolsets.workspace.changes.recovery import contested_changes, settled_state, unsettled_changes
from handrail.toolsets.workspace.locks import WouldBlock
from handrail.toolsets.workspace.workspace import MAX_RECORDED_SIZE, JournalEntry, Workspace

_log = logging.getLogger("handrail.workspace")
_HISTORY = "history"
_MAX_REMEMBERED_SIZE = 1_000_000
"""Bytes of a content up to which it is remembered, to spare its hash."""
_RECENT = 8
_INSERT = (
    "INSERT INTO changes (state, tenant, session, turn, call_id, agent, at, path, operation, before, after,"
    f" mode, folders, root, owner) VALUES ({BEGUN}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"
)
_MARK = "UPDATE changes SET state = ? WHERE id = ?"


@dataclass(frozen=True, slots=True)
class ChangeStep:
    """What becomes of a file in one step; of an undo or redo, with the change that it turns over."""

    of: int | None
    operation: str
    path: str
    before: bytes | None
    after: bytes | None
    mode: int | None
    folders: tuple[str, ...] = ()

    @property
    def row(self) -> tuple[object, ...]:
        what = (self.path, self.operation, self.before, self.after, self.mode)
        folders = json.dumps([[name] for name in self.folders]) if self.folders else None
        return (*what, folders, self.of)


def content_hash(data: bytes | None) -> bytes | None:
    """The name of a content; None where there is no file."""
    return None if data is None else sha256(data).digest()


class ChangeJournal:
    """The journal of one workspace."""

    def __init__(
        self, workspace: Workspace, bounds: RetentionLimits | None = None, clock: Clock | None = None
    ) -> None:
        self.workspace = workspace
        self._bounds = bounds or RetentionLimits()
        self._clock = clock or Clock()
        self._database = ChangeDatabase(lambda: workspace.state_subfolder(_HISTORY))
        self._opening: object = None
        self._full = self._bounds.full
        self._added = 0
        self._unseen = self._bounds.bytes
        """Bytes that this process added since it last looked how full the file is; at first it must look."""
        self._is_prune_due = False
        """Whether it is time to forget, which the next one does who can wait."""
        self._owner = ""
        self._done_unmarked: dict[int, None] = {}
        """Changes that are done and not yet marked so: the next transaction does it. Until then the file
        tells, as it does for what a killed process began."""
        self._with_side_rows: set[int] = set()
        """Changes that made folders or turn others over: once done, more than their own row is marked."""
        self._recent: tuple[tuple[bytes, bytes], ...] = ()
        """The contents that were kept last, and their names: mostly one that the next change begins with."""
        self._version = 0
        """Of the tables, as SQLite counts what other connections write."""

    def close(self) -> None:
        if self._done_unmarked:
            self._catch_up()
        recovery.release_owner(self._owner)
        self._database.close()

    def settle(self) -> None:
        """Decide on what a killed process began, while its files are as it left them."""
        if (self.workspace.state / _HISTORY / DATABASE_FILE).exists():
            self._catch_up()

    def _catch_up(self) -> None:
        """Mark what has happened. Should that not be kept, the file will tell."""
        try:
            with self._transaction():
                pass
        except ToolError as error:
            _log.warning("changes %s are left to be settled later: %s", list(self._done_unmarked), error)

    def record(self, change: JournalEntry, *, wait: bool = True) -> int:
        """Keep what is about to happen; the number by which it is known.

        Who cannot wait is refused as Busy when another one writes, or when it is time to forget.
        """
        if self._is_prune_due and not wait:
            raise WouldBlock
        folders = change.made_folders
        if change.before is None and not folders:
            folders = self.workspace.missing_folders(change.path)
        with self._transaction(wait) as db:
            before, after = self._store_content(db, change.before), self._store_content(db, change.after)
            step = ChangeStep(None, change.operation, change.path, before, after, change.mode_before, folders)
            number = self._insert(db, self._caller_columns(change), step)
            self._is_prune_due = self._is_prune_due or self._is_full(db, number)
            if self._is_prune_due and wait:
                self._prune(db)
        return number

    def begin(
        self, change: JournalEntry, files: Sequence[tuple[bytes | None, Sequence[ChangeStep]]]
    ) -> list[list[int]]:
        """Keep the steps of an undo that is about to happen, and what each file holds until then.

        The change says only for whom. The numbers are those of each file.
        """
        with self._transaction() as db:
            who = self._caller_columns(change)
            for held, _ in files:
                self._store_content(db, held)
            return [[self._insert(db, who, step) for step in steps] for _, steps in files]

    def content(self, name: bytes) -> bytes | None:
        """A content by its hash; None when it is no longer kept."""
        with self._database.reading() as db:
            row = db.execute("SELECT data FROM contents WHERE hash = ?", (name,)).fetchone()
        return None if row is None else bytes(row[0])

    def done(self, number: int) -> None:
        """It has happened."""
        self._done_unmarked[number] = None
        if number in self._with_side_rows:  # which folders these are has to be kept at once
            self._catch_up()

    def all_done(self, numbers: Iterable[int]) -> None:
        """They have happened together."""
        self._done_unmarked.update(dict.fromkeys(numbers))
        self._catch_up()

    def dropped(self, *numbers: int) -> None:
        """It has not happened."""
        self._with_side_rows.difference_update(numbers)
        try:
            with self._transaction() as db:
                db.executemany(_MARK, [(DROPPED, number) for number in numbers])
        except ToolError as error:
            _log.warning("changes %s are left to be settled later: %s", numbers, error)

    def query(self, find: Callable[[sqlite3.Connection], list[ChangeRow]]) -> list[ChangeRow]:
        """What a query finds, once everything that was begun is settled."""
        with self._transaction() as db:
            self._settle(db)
            return find(db)

    def before(self, tenant: str, session: str, call_id: str, path: str) -> bytes | None:
        """What a file held before a call changed it; None when there was none, or it is not kept."""
        with self._database.reading() as db:
            rows = history.first_change_of_call(db, tenant, session, call_id, path)
        name = rows[0].before if rows else None
        return None if name is None else self.content(name)

    def history(self, tenant: str, path: str | None = None) -> list[ChangeRow]:
        """Everything that happened to a file, or to all, the oldest first."""
        return self.query(lambda db: history.all_changes(db, tenant, path))

    def as_tracker_record(self, row: ChangeRow) -> dict[str, Any]:
        """A change with its contents, in the words of other trackers."""
        return {
            "filePath": row.path,
            "operation": row.operation,
            "contentBefore": None if row.before is None else self.content(row.before),
            "contentAfter": None if row.after is None else self.content(row.after),
            "turnNumber": row.turn,
            "toolCallId": row.call_id,
        }

    @contextmanager
    def _transaction(self, wait: bool = True) -> Iterator[sqlite3.Connection]:
        recent = self._recent
        try:
            with self._database.writing(wait=wait) as db:
                if self._opening is not self._database.opening:
                    if not wait:
                        raise WouldBlock
                    self._reset_session(db)
                version = db.execute("PRAGMA data_version").fetchone()[0]
                if version != self._version:  # somebody else wrote, and may have forgotten what we remember
                    self._recent, self._version = (), version
                happened = list(self._done_unmarked)
                for number in happened:
                    if number in self._with_side_rows:
                        self._mark(db, number, DONE)
                    else:
                        db.execute(_MARK, (DONE, number))
                yield db
            for number in happened:
                self._done_unmarked.pop(number, None)
                self._with_side_rows.discard(number)
            if self._added:
                self._database.written(self._added)
                self._added = 0
        except BaseException:
            self._recent = recent  # what was kept meanwhile is not
            raise

    def _reset_session(self, db: sqlite3.Connection) -> None:
        """The first use of the file: by this process, or after somebody removed the one that was there."""
        self._done_unmarked.clear()
        self._with_side_rows.clear()
        self._recent, self._version = (), 0
        recovery.release_owner(self._owner)
        self._owner = recovery.register_owner()
        self._settle(db)
        self._opening = self._database.opening

    def _caller_columns(self, change: JournalEntry) -> tuple[object, ...]:
        return (change.tenant, change.session, change.turn, change.call_id, change.agent, self._clock.now())

    def _insert(self, db: sqlite3.Connection, who: tuple[object, ...], step: ChangeStep) -> int:
        (number,) = db.execute(_INSERT, (*who, *step.row, self._owner)).fetchone()
        if step.folders or step.of is not None:
            self._with_side_rows.add(number)
        return int(number)

    def _store_content(self, db: sqlite3.Connection, data: bytes | None) -> bytes | None:
        for stored, stored_name in self._recent:
            if stored == data:
                return stored_name
        name = content_hash(data)
        if data is None or name is None or len(data) > self._bounds.largest:
            return name
        query = "INSERT OR IGNORE INTO contents VALUES (?, ?, ?)"
        if db.execute("SELECT 1 FROM contents WHERE hash = ?", (name,)).fetchone() is None:
            db.execute(query, (name, len(data), data))
            self._added += len(data)
            self._unseen += len(data)
        if len(data) <= _MAX_REMEMBERED_SIZE:
            self._recent = ((data, name), *self._recent[: _RECENT - 1])
        return name

    def _is_full(self, db: sqlite3.Connection, number: int) -> bool:
        """From time to time, whichever processes make the changes: numbers and pages are counted for all."""
        looks = self._unseen >= self._bounds.bytes // 64
        if looks:
            self._unseen = 0
        return number % self._bounds.every == 0 or (looks and used_bytes(db) > self._full)

    def _prune(self, db: sqlite3.Connection) -> None:
        prune_history(db, self._bounds)
        self._recent, self._is_prune_due = (), False
        self._full = max(self._bounds.full, used_bytes(db) + self._bounds.bytes // 8)

    def _settle(self, db: sqlite3.Connection) -> None:
        calls = unsettled_changes(db)
        rivals = contested_changes(calls, recovery.is_owner_alive)
        for steps in calls:
            first, last = steps[0], steps[-1]
            seen = history.next_change(db, last.path, last.id)
            held = self._current_hash(last.path) if seen is None else seen.before
            alive = recovery.is_owner_alive(last.owner)
            state = settled_state(first.before, last.after, held, alive=alive, rival=last.id in rivals)
            for step in steps if state != BEGUN else ():
                self._mark(db, step.id, state)

    def _mark(self, db: sqlite3.Connection, number: int, state: ChangeState) -> None:
        query = "UPDATE changes SET state = ? WHERE id = ? RETURNING root, operation = 'undo', folders"
        for root, undone, folders in db.execute(query, (state, number)).fetchall():
            if state == DONE and root is not None:
                toggled = (
                    "UPDATE changes SET undone = ?, toggled = ? WHERE id = ? AND coalesce(toggled, 0) < ?"
                )
                db.execute(toggled, (undone, number, root, number))
            if state == DONE and folders is not None:
                identities = [
                    [name, *_folder_identity(self.workspace, name)] for name, *_ in json.loads(folders)
                ]
                db.execute("UPDATE changes SET folders = ? WHERE id = ?", (json.dumps(identities), number))

    def _current_hash(self, path: str) -> bytes | None:
        """The name of what a file holds."""
        try:
            file_stat = self.workspace.stat(path)
            if file_stat is not None and file_stat.st_size > MAX_RECORDED_SIZE:
                return FOREIGN_CONTENT
            return content_hash(self.workspace.read(path))
        except ToolError as error:
            return None if error.code == "FILE_NOT_FOUND" else FOREIGN_CONTENT


def _folder_identity(workspace: Workspace, folder: str) -> tuple[int, int] | tuple[()]:
    file_stat = workspace.stat(folder)
    return () if file_stat is None else (file_stat.st_dev, file_stat.st_ino)
