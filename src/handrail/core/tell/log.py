"""EventLog: where durable events go. The port, and its twin in memory."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from typing import Protocol

from handrail.core.tell.events import Event, OutputAppended, ToolStarted


class EventLog(Protocol):
    """Append-only, ordered and numbered per session, scoped by tenant."""

    def append(self, event: Event, /) -> None:
        """Number the event and take it; quick, in order, not yet necessarily durable."""
        ...

    async def flush(self, event: Event, /) -> None:
        """Return when the event is durable, or raise."""
        ...

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
        """The tenant's events that fit every given filter, oldest first."""
        ...


class MemoryLog:
    """The event log of a process without a database. Keeps the newest events."""

    def __init__(self, keep: int = 10_000) -> None:
        self._keep = keep
        self._events: deque[Event] = deque()
        self._last: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._events)

    def append(self, event: Event, /) -> None:
        key = (event.tenant, event.session)
        with self._lock:
            seq = self._last.get(key, 0) + 1
            object.__setattr__(event, "seq", seq)
            self._last[key] = seq
            self._events.append(event)
            if len(self._events) > self._keep:
                self._forget(self._events.popleft())

    def _forget(self, oldest: Event) -> None:
        # A session opened for one call never goes on; a named one may, and keeps its count.
        if oldest.call.session is None:
            key = (oldest.tenant, oldest.session)
            if self._last.get(key) == oldest.seq:
                del self._last[key]

    async def flush(self, event: Event, /) -> None:
        return

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
        with self._lock:
            events = tuple(self._events)
        for event in events:
            if (
                event.tenant == tenant
                and (session is None or event.session == session)
                and (tool is None or event.tool == tool)
                and (source is None or event.call.source == source)
                and (status is None or event.kind == status)
                and (call_id is None or event.call.id == call_id)
                and (since is None or event.at >= since)
                and (until is None or event.at < until)
                and event.seq > after
            ):
                yield event


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
