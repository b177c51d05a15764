"""StoreLog: the event log on a database."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from typing import Unpack

from sqlalchemy.engine import Connection

from handrail.core.define.principal import Principal
from handrail.core.errors import StorageError, UsageError
from handrail.core.tell.events import Event
from handrail.core.tell.follow import follow
from handrail.core.tell.log import EVERY_RUN, EventFilter, EventFilters
from handrail.core.tell.runs import Run, RunFilter
from handrail.store.codec import fit_column
from handrail.store.database import Database, storage_errors
from handrail.store.events.append import NumberedEvent, append
from handrail.store.events.notifications import NotificationListener
from handrail.store.events.queries import (
    PAGE_ROWS,
    events_page,
    newest_end_events,
    read_events,
    tenants_of_session,
)
from handrail.store.events.rows import END_TYPES, EncodedEvent, encode_event
from handrail.store.events.runs import get_run, list_runs
from handrail.store.writer import Settlement, settle_futures

_log = logging.getLogger("handrail.store")

MAX_PENDING_EVENTS = 20_000
"""So many events may wait to be written; whoever appends more has to wait."""
_MAX_FAILED = 1_000
_FOLLOW_SECONDS = 5.0
"""Seconds after which whoever follows queries for new events, though no notification came."""


class EventNotWritten(StorageError):
    """The event was not written: another process has its run in hand, or the run has ended."""


class StoreLog:
    """Encodes events as they are appended and hands them to the database's writer."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self._pending: dict[int, EncodedEvent] = {}
        """What is appended and not written yet, by the identity of the event."""
        self._newest: EncodedEvent | None = None
        self._waiting: dict[int, list[asyncio.Future[None]]] = {}
        self._failed: dict[int, tuple[Event, BaseException]] = {}
        self._changed = threading.Condition()
        self._numbered: list[NumberedEvent] = []
        self._owed: list[EncodedEvent] = []
        """Ends of runs that could not be written. They are written with the next that can be."""
        self.fence: Callable[[Connection, list[EncodedEvent]], list[EncodedEvent]] | None = None
        """Drops events of jobs that another process holds by now."""
        self._signals = NotificationListener(db)
        writer = db.writer
        writer.append_all, writer.after, writer.gave_up = self._append_all, self._written, self._given_up

    def append(self, event: Event, /) -> None:
        row = encode_event(event)
        if len(self._pending) >= MAX_PENDING_EVENTS:
            self._wait_for_room()
        self._pending[id(event)] = row
        self._newest = row
        try:
            self.db.writer.append(row)
        except BaseException:
            self._pending.pop(id(event), None)
            raise

    async def flush(self, event: Event, /) -> None:
        if event.seq:
            return
        with self._changed:
            if event.seq:
                return
            if (failed := self._failed.get(id(event))) is not None:
                with storage_errors():
                    raise failed[1]
            if id(event) not in self._pending:
                raise EventNotWritten("The event was never appended to this log.")
            future = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(id(event), []).append(future)
        with storage_errors():
            await future

    def read(self, tenant: str, *, after: int = 0, **filters: Unpack[EventFilters]) -> Iterator[Event]:
        self.settle()
        return read_events(self.db, tenant, after, EventFilter(**filters))

    def follow(
        self, tenant: str, /, *, session: str | None = None, after: int = 0
    ) -> AsyncGenerator[Event, None]:
        which = EventFilter(session=session)

        async def fetch(beyond: int) -> list[Event]:
            position, seq = (beyond, 0) if session is None else (0, beyond)
            return await self.db.read(tenant, events_page, tenant, position, PAGE_ROWS, which, seq)

        column = session if session is None else fit_column(session)
        return follow(fetch, self._signals.notifier, tenant, column, after, _FOLLOW_SECONDS)

    def ends(self, who: Principal, tool: str, /) -> Iterator[Event]:
        self.settle()
        with self.db.reading(who.tenant) as conn:
            return iter(newest_end_events(conn, who.tenant, tool, who.user, who.agent, PAGE_ROWS))

    async def tenants_of(self, session: str, /) -> list[str]:
        return await self.db.read_all(tenants_of_session, session)

    async def runs(
        self, tenant: str, which: RunFilter = EVERY_RUN, /, *, after: str | None = None, limit: int = 50
    ) -> list[Run]:
        await self._settled_here()
        return await self.db.read(tenant, list_runs, tenant, which, after=after, limit=limit)

    async def run(self, tenant: str, run_id: str, /) -> Run | None:
        await self._settled_here()
        return await self.db.read(tenant, get_run, tenant, run_id)

    def close(self) -> None:
        """Listen no more to other processes. What was appended is written when the database is closed."""
        self._signals.close()

    async def _settled_here(self) -> None:
        if self._pending:
            await self.db.flushed()

    def settle(self, timeout: float = 60.0) -> None:
        """Return when all that this process appended so far is written, or given up."""
        newest = self._newest
        if newest is not None:
            self.db.writer.wake()
            with self._changed:
                self._changed.wait_for(lambda: self._pending.get(id(newest.event)) is not newest, timeout)

    def _wait_for_room(self) -> None:
        self.db.writer.wake()
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._pending) < MAX_PENDING_EVENTS // 2, 60):
                raise EventNotWritten("The database takes no events: too many wait to be written.")

    def _append_all(self, conn: Connection, rows: list[EncodedEvent]) -> None:
        unfenced = rows if self.fence is None else self.fence(conn, rows)
        self._numbered = append(conn, unfenced, self.db.holder)

    def _written(self, rows: list[EncodedEvent]) -> None:
        for row, seq, position in self._numbered:
            event = row.event
            object.__setattr__(event, "position", position)
            object.__setattr__(event, "seq", seq)
        if self._signals.notifier:
            for tenant in {row.tenant for row in rows}:
                self._signals.notifier.notify(tenant, {row.session for row in rows if row.tenant == tenant})
        self._settled(rows, None if len(self._numbered) == len(rows) else EventNotWritten())
        owed, self._owed = self._owed, []
        with suppress(UsageError):  # closed meanwhile: the next process records an unknown outcome
            for row in owed:
                self.db.writer.append(row)

    def _given_up(self, rows: list[EncodedEvent], error: BaseException) -> None:
        for row in rows:
            _log.error("%s of call %s was not written: %s", row.type, row.event.call_id, error)
        ends = [row for row in rows if row.type in END_TYPES and row.run_id is not None]
        self._owed = (self._owed + ends)[:MAX_PENDING_EVENTS]
        self._settled(rows, error)

    def _settled(self, rows: list[EncodedEvent], error: BaseException | None) -> None:
        """Give whoever waits the result of a write."""
        settlements: list[Settlement] = []
        with self._changed:
            pending, waiting = self._pending, self._waiting
            for row in rows:
                key = id(row.event)
                if error is not None and not row.event.seq:
                    self._failed[key] = (row.event, error)
                reason = None if row.event.seq else error
                settlements += [(future, None, reason) for future in waiting.pop(key, ())] if waiting else ()
                pending.pop(key, None)
            while len(self._failed) > _MAX_FAILED:
                del self._failed[next(iter(self._failed))]
            self._changed.notify_all()
        settle_futures(settlements)
