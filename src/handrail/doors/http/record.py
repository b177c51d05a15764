"""Record: the log as this door reads it. A database gives pages by its indexes; memory is looked through."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from handrail.core.define.call import Outcome
from handrail.core.define.principal import Principal
from handrail.core.tell.events import Event
from handrail.core.tell.outcome import outcome_of
from handrail.engine import Handrail
from handrail.platform import Platform

MOST = 500
"""Events of one page."""
_PAGE = 200
OF_A_CALL = "call:"
"""How the sessions are called that a call has for itself."""
ENDS = frozenset({"completed", "failed", "cancelled"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events a list is about."""

    session: str | None = None
    tool: str | None = None
    source: str | None = None
    status: str | None = None
    call_id: str | None = None
    since: float | None = None
    until: float | None = None

    def fits(self, event: Event) -> bool:
        return (
            (self.session is None or event.session == self.session)
            and (self.tool is None or event.tool == self.tool)
            and (self.source is None or event.call.source == self.source)
            and (self.status is None or event.kind == self.status)
            and (self.call_id is None or event.call_id == self.call_id)
            and (self.since is None or event.at >= self.since)
            and (self.until is None or event.at < self.until)
        )


class Record:
    """What happened to the calls of a tenant."""

    def __init__(self, platform: Platform) -> None:
        self._hr: Handrail = platform.hr
        self._db = None if platform.offices is None else platform.offices.db

    async def page(
        self, tenant: str, which: Wanted, *, beyond: int = 0, seq: int = 0, limit: int = _PAGE
    ) -> list[Event]:
        """The next events that fit, beyond a position, or after a `seq` of their session."""
        filters: dict[str, Any] = asdict(which)
        if self._db is None:
            found = self._hr.log.read(tenant, **filters, after=seq)
            return list(islice((one for one in found if one.position > beyond), limit))
        from handrail.store.events.reading import events_page

        await self._db.flushed()
        return await self._db.read(
            tenant, lambda conn: events_page(conn, tenant, beyond, limit, after=seq, **filters)
        )

    async def follow(
        self, tenant: str, which: Wanted, *, session: str | None = None, after: int = 0
    ) -> AsyncGenerator[Event, None]:
        """The events that fit as they come, without an end: after a `seq` of a session, or a position."""
        async with aclosing(self._hr.events(Principal(tenant), session=session, after=after)) as events:
            async for event in events:
                if which.fits(event):
                    yield event

    async def first(self, tenant: str, call_id: str) -> Event | None:
        """The first event of a call; it knows whose call it is, and its session."""
        found = await self.page(tenant, Wanted(call_id=call_id), limit=1)
        return found[0] if found else None

    async def outcome(self, tenant: str, call_id: str) -> Outcome | None:
        """How a call stands by what is told of it; None while its body runs, and when nothing is."""
        if self._db is None:
            return outcome_of(self._hr.log.read(tenant, call_id=call_id))
        from handrail.store.outcomes import outcome_in

        await self._db.flushed()
        return await self._db.read(tenant, lambda conn: outcome_in(conn, tenant, call_id))

    async def telling(self, tenant: str, call_id: str) -> list[Event]:
        """What is told of a call, oldest first, without its output."""
        if self._db is None:
            return [one for one in self._hr.log.read(tenant, call_id=call_id) if one.kind != "chunk"]
        from handrail.store.outcomes import telling_in

        await self._db.flushed()
        return await self._db.read(tenant, lambda conn: telling_in(conn, tenant, call_id))

    async def last_seq(self, tenant: str, session: str) -> int:
        """The number of the newest event of a session."""
        if self._db is None:
            return max((one.seq for one in self._hr.log.read(tenant, session=session)), default=0)
        from handrail.store.events.sessions import last_seq

        return await self._db.read(tenant, lambda conn: last_seq(conn, tenant, session))

    async def last_position(self, tenant: str) -> int:
        """The number of the tenant's newest event."""
        if self._db is None:
            return max((one.position for one in self._hr.log.read(tenant)), default=0)
        from handrail.store.events.sessions import last_position

        return await self._db.read(tenant, lambda conn: last_position(conn, tenant))

    async def sessions(
        self, tenant: str, after: str | None, limit: int, *, named: bool = False, prefix: str = ""
    ) -> list[dict[str, Any]]:
        """The tenant's sessions by id; with `named` without those that are a single call's own."""
        if self._db is not None:
            from handrail.store.events.sessions import list_sessions

            await self._db.flushed()
            found = await self._db.read(
                tenant,
                lambda conn: list_sessions(
                    conn, tenant, after=after, limit=limit, named=named, prefix=prefix
                ),
            )
            return [asdict(one) for one in found]
        there: dict[str, dict[str, Any]] = {}
        for one in self._hr.log.read(tenant):
            entry = there.setdefault(one.session, {"id": one.session, "created_at": one.at})
            entry |= {"last_seq": one.seq, "updated_at": one.at}
        names = sorted(
            name
            for name in there
            if (after is None or name > after)
            and name.startswith(prefix)
            and not (named and name.startswith(OF_A_CALL))
        )
        return [there[name] for name in names[:limit]]


def event_json(event: Event) -> dict[str, Any]:
    """An event as JSON data, with its place among all of the tenant."""
    return event.to_dict() | {"position": event.position}
