"""EventReader: pages, tails and outcomes of a tenant's event log; the port, and its twin in memory."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from handrail.core.define.call import Outcome
from handrail.core.define.principal import Principal
from handrail.core.tell.events import Event
from handrail.core.tell.log import EventFilter, FollowableLog
from handrail.core.tell.projections import outcome_of
from handrail.core.tell.runs import Run

if TYPE_CHECKING:
    from handrail.engine.handrail import Handrail

MAX_EVENTS = 500
"""Events of one page."""
PAGE_SIZE = 200
CALL_SESSION_PREFIX = "call:"
"""How the session of a call that has one for itself begins."""
FINAL_KINDS = frozenset({"completed", "failed", "cancelled"})


class EventReader(Protocol):
    """What happened to the calls of a tenant."""

    hr: Handrail

    @abstractmethod
    async def page(
        self, tenant: str, which: EventFilter, *, beyond: int = 0, seq: int = 0, limit: int = PAGE_SIZE
    ) -> list[Event]:
        """The next events that fit, beyond a position, or after a `seq` of their session."""

    @abstractmethod
    async def outcome(self, tenant: str, call_id: str) -> Outcome | None:
        """How a call stands by its events; None while its body runs, and when it has none."""

    @abstractmethod
    async def call_events(self, tenant: str, call_id: str) -> list[Event]:
        """The events of a call, oldest first, without its output."""

    @abstractmethod
    async def last_seq(self, tenant: str, session: str) -> int:
        """The number of the newest event of a session."""

    @abstractmethod
    async def last_position(self, tenant: str) -> int:
        """The number of the tenant's newest event."""

    @abstractmethod
    async def sessions(
        self, tenant: str, after: str | None, limit: int, *, named: bool = False, prefix: str = ""
    ) -> list[dict[str, Any]]:
        """The tenant's sessions by id; with `named` without those that are a single call's own."""

    async def blob(self, tenant: str, key: str) -> bytes | None:
        """A file that the log keeps beside an event, by its hash; in memory there are none."""
        return None

    async def follow(
        self, tenant: str, which: EventFilter, *, session: str | None = None, after: int = 0
    ) -> AsyncGenerator[Event, None]:
        """The events that fit as they come, without an end: after a `seq` of a session, or a position."""
        async with aclosing(self.hr.events(Principal(tenant), session=session, after=after)) as events:
            async for event in events:
                if which.fits(event):
                    yield event

    async def first(self, tenant: str, call_id: str) -> Event | None:
        """The first event of a call; it says whose call it is, and its session."""
        events = await self.page(tenant, EventFilter(call_id=call_id), limit=1)
        return events[0] if events else None

    async def run(self, tenant: str, run_id: str) -> Run | None:
        """One run; None also where a log of somebody else's knows no runs."""
        log = self.hr.log
        return await log.run(tenant, run_id) if isinstance(log, FollowableLog) else None


class MemoryEventReader(EventReader):
    """The reader of a process without a database."""

    def __init__(self, hr: Handrail) -> None:
        self.hr = hr

    async def page(
        self, tenant: str, which: EventFilter, *, beyond: int = 0, seq: int = 0, limit: int = PAGE_SIZE
    ) -> list[Event]:
        events = self.hr.log.read(tenant, **asdict(which), after=seq)
        return list(islice((event for event in events if event.position > beyond), limit))

    async def outcome(self, tenant: str, call_id: str) -> Outcome | None:
        return outcome_of(self.hr.log.read(tenant, call_id=call_id))

    async def call_events(self, tenant: str, call_id: str) -> list[Event]:
        return [event for event in self.hr.log.read(tenant, call_id=call_id) if event.kind != "chunk"]

    async def last_seq(self, tenant: str, session: str) -> int:
        return max((event.seq for event in self.hr.log.read(tenant, session=session)), default=0)

    async def last_position(self, tenant: str) -> int:
        return max((event.position for event in self.hr.log.read(tenant)), default=0)

    async def sessions(
        self, tenant: str, after: str | None, limit: int, *, named: bool = False, prefix: str = ""
    ) -> list[dict[str, Any]]:
        sessions: dict[str, dict[str, Any]] = {}
        for event in self.hr.log.read(tenant):
            entry = sessions.setdefault(event.session, {"id": event.session, "created_at": event.at})
            entry |= {"last_seq": event.seq, "updated_at": event.at}
        names = sorted(
            name
            for name in sessions
            if (after is None or name > after)
            and name.startswith(prefix)
            and not (named and name.startswith(CALL_SESSION_PREFIX))
        )
        return [sessions[name] for name in names[:limit]]


def event_json(event: Event) -> dict[str, Any]:
    """An event as JSON data, with its place among all of the tenant."""
    return event.to_dict() | {"position": event.position}
