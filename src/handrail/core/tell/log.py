"""EventLog: where durable events go. The port, and its twin in memory."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict, Unpack, runtime_checkable

from handrail.core.define.principal import Principal
from handrail.core.tell.events import Event, OutputAppended, ToolStarted
from handrail.core.tell.follow import LogNotifier, follow
from handrail.core.tell.runs import Run, RunFilter, RunList, page_of_runs, runs_of

EventNote = tuple[Any, ...]
"""An event that is not made yet: its type and its fields."""
SessionKey = tuple[str, str]
"""A tenant and one of its sessions."""


class EventFilters(TypedDict, total=False):
    """By what events are chosen; `status` is their `kind`, and times are from `since` to before `until`."""

    session: str | None
    tool: str | None
    source: str | None
    status: str | None
    call_id: str | None
    since: float | None
    until: float | None


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events a list is about: those that fit everything that is given."""

    session: str | None = None
    tool: str | None = None
    source: str | None = None
    status: str | None = None
    call_id: str | None = None
    since: float | None = None
    until: float | None = None

    def fits(self, event: Event) -> bool:
        return (
            self.session in (None, event.session)
            and self.tool in (None, event.tool)
            and self.source in (None, event.call.source)
            and self.status in (None, event.kind)
            and self.call_id in (None, event.call.id)
            and (self.since is None or event.at >= self.since)
            and (self.until is None or event.at < self.until)
        )


class EventLog(Protocol):
    """Append-only, ordered and numbered per session, scoped by tenant."""

    def append(self, event: Event, /) -> None:
        """Number the event and take it; quick, in order, not yet necessarily durable."""
        ...

    async def flush(self, event: Event, /) -> None:
        """Return when the event is durable, or raise."""
        ...

    def read(self, tenant: str, *, after: int = 0, **filters: Unpack[EventFilters]) -> Iterator[Event]:
        """The tenant's events after a `seq` that fit every given filter, oldest first."""
        ...


@runtime_checkable
class FollowableLog(EventLog, RunList, Protocol):
    """A log that can also be followed as it grows, and knows runs."""

    def follow(
        self, tenant: str, /, *, session: str | None = None, after: int = 0
    ) -> AsyncGenerator[Event, None]:
        """The events of a session after a `seq`, or of the tenant after a `position`; it never ends."""
        ...

    async def tenants_of(self, session: str, /) -> list[str]:
        """The tenants that have a session of this name."""
        ...

    def ends(self, who: Principal, tool: str, /) -> Iterator[Event]:
        """How the newest runs of a tool ended that were made for this user and agent, newest first."""
        ...


EVERY_RUN = RunFilter()
_PATIENCE = 1.0


class MemoryLog:
    """The event log of a process without a database. Keeps the newest events.

    What is told is only noted; events are made and numbered when somebody reads. A call thus pays next to
    nothing for a log that nobody looks at. When there are too many notes the oldest drop off by themselves,
    and take no numbers with them; as there are then as many notes as events are kept, no gap remains.
    A session goes on counting as long as it is among the newest. Whoever follows and is slower
    misses what dropped off.
    """

    def __init__(self, keep: int = 10_000) -> None:
        self._keep = keep
        self.limit = keep + keep // 4
        self.notes: deque[EventNote] = deque(maxlen=self.limit)
        """What was told and is not read yet; the teller appends here."""
        self._events: deque[Event] = deque()
        self._counts: dict[SessionKey, int] = {}
        """The last number of each session that has events here."""
        self._past: dict[SessionKey, int] = {}
        """The last number of sessions whose events are gone, the newest of them last."""
        self._position = 0
        self._lock = threading.Lock()
        self.on_follow: list[Callable[[], None]] = []
        """Told when somebody begins to follow, or ceases: while one does, events are made at once."""
        self._notifier = LogNotifier(lambda: [callback() for callback in self.on_follow])

    @property
    def followed(self) -> bool:
        return bool(self._notifier)

    def __len__(self) -> int:
        return len(self.notes) + len(self._events)

    def append(self, event: Event, /) -> None:
        with self._lock:
            self._write_down()
            self._number(event)
        if self._notifier:
            self._notifier.notify(event.tenant, (event.session,))

    async def flush(self, event: Event, /) -> None:
        return

    def _write_down(self) -> None:
        notes = self.notes
        while notes:
            kind, *fields = notes.popleft()
            self._number(kind(*fields))

    def _number(self, event: Event) -> None:
        session = (event.tenant, event.session)
        count = self._counts.get(session)
        if count is None:
            count = self._past.pop(session, 0)
        self._counts[session] = count + 1
        self._position += 1
        object.__setattr__(event, "seq", count + 1)
        object.__setattr__(event, "position", self._position)
        self._events.append(event)
        if len(self._events) > self.limit:
            self._drop(len(self._events) - self._keep)

    def _drop(self, number: int) -> None:
        for _ in range(number):
            oldest = self._events.popleft()
            session = (oldest.tenant, oldest.session)
            if self._counts[session] == oldest.seq:
                self._past[session] = self._counts.pop(session)
        while len(self._past) > self._keep:
            del self._past[next(iter(self._past))]

    def read(self, tenant: str, *, after: int = 0, **filters: Unpack[EventFilters]) -> Iterator[Event]:
        with self._lock:
            self._write_down()
            events = tuple(self._events)
        which = EventFilter(**filters)
        for event in events:
            if event.tenant == tenant and event.seq > after and which.fits(event):
                yield event

    def follow(
        self, tenant: str, /, *, session: str | None = None, after: int = 0
    ) -> AsyncGenerator[Event, None]:
        async def fetch(beyond: int) -> list[Event]:
            if session is not None:
                return list(self.read(tenant, session=session, after=beyond))
            return [event for event in self.read(tenant) if event.position > beyond]

        # Patient: a note that another thread was just making when this began notifies nobody.
        return follow(fetch, self._notifier, tenant, session, after, _PATIENCE)

    def ends(self, who: Principal, tool: str, /) -> Iterator[Event]:
        for event in reversed(tuple(self.read(who.tenant, tool=tool))):
            if event.kind in ("completed", "failed") and getattr(event, "run_id", None) is not None:
                yield event

    async def tenants_of(self, session: str, /) -> list[str]:
        with self._lock:
            self._write_down()
            return [tenant for tenant, name in self._counts if name == session]

    async def runs(
        self, tenant: str, which: RunFilter = EVERY_RUN, /, *, after: str | None = None, limit: int = 50
    ) -> list[Run]:
        return page_of_runs(runs_of(self.read(tenant)), which, after, limit)

    async def run(self, tenant: str, run_id: str, /) -> Run | None:
        return next((run for run in runs_of(self.read(tenant)) if run.id == run_id), None)


async def events_of_call(log: EventLog, tenant: str, call_id: str) -> list[Event]:
    """What a log has of a call, oldest first; read in a thread, since a store takes a while."""
    return await asyncio.to_thread(lambda: list(log.read(tenant, call_id=call_id)))


def output_of(events: Iterator[Event]) -> str:
    """The running output of one run, put together from its pieces."""
    return "".join(event.chunk for event in events if isinstance(event, OutputAppended))


def open_runs(events: Iterator[Event]) -> set[str]:
    """Runs that began and did not end: none, unless something is running or the process died."""
    running: set[str] = set()
    for event in events:
        if isinstance(event, ToolStarted):
            running.add(event.run_id)
        elif event.kind in ("completed", "failed", "cancelled"):
            running.discard(getattr(event, "run_id", None) or "")
    return running
