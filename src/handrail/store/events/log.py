"""StoreLog: the event log on a database."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress

from sqlalchemy.engine import Connection

from handrail.core.define.principal import Principal
from handrail.core.errors import StorageError, UsageError
from handrail.core.tell.events import Event
from handrail.core.tell.follow import follow
from handrail.core.tell.log import EVERY_RUN
from handrail.core.tell.runs import Run, RunFilter
from handrail.store.codec import fit_column
from handrail.store.database import Database, storage_errors
from handrail.store.events.append import NumberedEvent, append
from handrail.store.events.notifications import NotificationListener
from handrail.store.events.queries import (
    PAGE_ROWS,
    newest_end_events,
    read_events,
    session_page,
    tenant_page,
    tenants_of_session,
)
from handrail.store.events.rows import END_TYPES, EncodedEvent, encode_event
from handrail.store.events.runs import get_run, list_runs

_log = logging.getLogger("handrail.store")

MAX_PENDING_EVENTS = 20_000
"""So many events may wait to be written; whoever tells more waits as well."""
_MAX_FAILED = 1_000
_FOLLOW_SECONDS = 5.0
"""Seconds after which whoever follows looks for what was told, though nothing was heard."""


class EventNotWritten(StorageError):
    """The event was not written: another process has its run in hand, or the run has ended."""


class StoreLog:
    """Encodes events where they are told and hands them to the database's writer."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self._pending: dict[int, EncodedEvent] = {}
        """What is told and not written yet, by the identity of the event."""
        self._newest: EncodedEvent | None = None
        self._waiting: dict[int, list[asyncio.Future[None]]] = {}
        self._failed: dict[int, tuple[Event, BaseException]] = {}
        self._changed = threading.Condition()
        self._numbered: list[NumberedEvent] = []
        self._owed: list[EncodedEvent] = []
        """Ends of runs that could not be written. They are told with the next that can be."""
        self.fence: Callable[[Connection, list[EncodedEvent]], list[EncodedEvent]] | None = None
        """Keeps back what is no longer ours to tell."""
        self._signals = NotificationListener(db)
        writer = db.writer
        writer.append_all, writer.after, writer.gave_up = self._append_all, self._written, self._given_up

    def append(self, event: Event, /) -> None:
        row = encode_event(event)
        if len(self._pending) >= MAX_PENDING_EVENTS:
            self._hold_up()
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

    def read(
        self,
        tenant: str,
        *,
        session: str | None = None,
        tool: str | None = None,
        source: str | None = None,
        status: str | None = None,
        call_id: str | None = None,
        since: float | None = None,
        until: float | None = None,
        after: int = 0,
    ) -> Iterator[Event]:
        self.settle()
        return read_events(
            self.db,
            tenant,
            session=session,
            tool=tool,
            source=source,
            status=status,
            call_id=call_id,
            since=since,
            until=until,
            after=after,
        )

    def follow(
        self, tenant: str, /, *, session: str | None = None, after: int = 0
    ) -> AsyncGenerator[Event, None]:
        def page(beyond: int) -> Callable[[Connection], list[Event]]:
            if session is not None:
                return lambda conn: session_page(conn, tenant, session, beyond, PAGE_ROWS)
            return lambda conn: tenant_page(conn, tenant, beyond, PAGE_ROWS)

        async def fetch(beyond: int) -> list[Event]:
            return await self.db.read(tenant, page(beyond))

        room = session if session is None else fit_column(session)
        return follow(fetch, self._signals.notifier, tenant, room, after, _FOLLOW_SECONDS)

    def ends(self, who: Principal, tool: str, /) -> Iterator[Event]:
        self.settle()
        with self.db.reading(who.tenant) as conn:
            return iter(newest_end_events(conn, who.tenant, tool, who.user, who.agent, PAGE_ROWS))

    async def tenants_of(self, session: str, /) -> list[str]:
        return await self.db.read_all(lambda conn: tenants_of_session(conn, session))

    async def runs(
        self, tenant: str, which: RunFilter = EVERY_RUN, /, *, after: str | None = None, limit: int = 50
    ) -> list[Run]:
        await self._settled_here()
        return await self.db.read(
            tenant, lambda conn: list_runs(conn, tenant, which, after=after, limit=limit)
        )

    async def run(self, tenant: str, run_id: str, /) -> Run | None:
        await self._settled_here()
        return await self.db.read(tenant, lambda conn: get_run(conn, tenant, run_id))

    def close(self) -> None:
        """Hear no more of other processes. What was told is written when the database is closed."""
        self._signals.close()

    async def _settled_here(self) -> None:
        if self._pending:
            await self.db.flushed()

    def settle(self, timeout: float = 60.0) -> None:
        """Return when all that this process told so far is written, or given up."""
        newest = self._newest
        if newest is not None:
            self.db.writer.wake()
            with self._changed:
                self._changed.wait_for(lambda: self._pending.get(id(newest.event)) is not newest, timeout)

    def _hold_up(self) -> None:
        self.db.writer.wake()
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._pending) < MAX_PENDING_EVENTS // 2, 60):
                raise EventNotWritten("The database takes no events: too many wait to be written.")

    def _append_all(self, conn: Connection, rows: list[EncodedEvent]) -> None:
        kept = rows if self.fence is None else self.fence(conn, rows)
        self._numbered = append(conn, kept, self.db.holder)

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
        with suppress(UsageError):  # closed meanwhile: whoever comes next says that nobody knows
            for row in owed:
                self.db.writer.append(row)

    def _given_up(self, rows: list[EncodedEvent], error: BaseException) -> None:
        for row in rows:
            _log.error("%s of call %s was not written: %s", row.type, row.event.call_id, error)
        ends = [row for row in rows if row.type in END_TYPES and row.run_id is not None]
        self._owed = (self._owed + ends)[:MAX_PENDING_EVENTS]
        self._settled(rows, error)

    def _settled(self, rows: list[EncodedEvent], error: BaseException | None) -> None:
        """Tell whoever waits, each loop once."""
        loops: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[None], BaseException | None]]] = {}
        with self._changed:
            pending, waiting = self._pending, self._waiting
            for row in rows:
                key = id(row.event)
                if error is not None and not row.event.seq:
                    self._failed[key] = (row.event, error)
                for future in waiting.pop(key, ()) if waiting else ():
                    went_wrong = None if row.event.seq else error
                    loops.setdefault(future.get_loop(), []).append((future, went_wrong))
                pending.pop(key, None)
            while len(self._failed) > _MAX_FAILED:
                del self._failed[next(iter(self._failed))]
            self._changed.notify_all()
        for loop, futures in loops.items():
            try:
                loop.call_soon_threadsafe(_settle_futures, futures)
            except RuntimeError:  # the loop is closed: nobody waits any more
                _log.debug("nobody waited for %d events", len(futures))


def _settle_futures(futures: list[tuple[asyncio.Future[None], BaseException | None]]) -> None:
    for future, error in futures:
        if future.done():
            continue
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
