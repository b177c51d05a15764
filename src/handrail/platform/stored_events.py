"""StoreEventReader: the event log of a database, read by SQL. What is on its way is committed first."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from handrail.core.define.call import Outcome
from handrail.core.tell.events import Event
from handrail.core.tell.log import EventFilter
from handrail.platform.events import PAGE_SIZE, EventReader
from handrail.store import blobs
from handrail.store.database import Database
from handrail.store.events import queries

if TYPE_CHECKING:
    from handrail.engine.handrail import Handrail


class StoreEventReader(EventReader):
    """The twin over a database."""

    def __init__(self, hr: Handrail, db: Database) -> None:
        self.hr = hr
        self._db = db

    async def page(
        self, tenant: str, which: EventFilter, *, beyond: int = 0, seq: int = 0, limit: int = PAGE_SIZE
    ) -> list[Event]:
        await self._db.flushed()
        return await self._db.read(
            tenant, lambda conn: queries.events_page(conn, tenant, beyond, limit, which, seq)
        )

    async def outcome(self, tenant: str, call_id: str) -> Outcome | None:
        await self._db.flushed()
        return await self._db.read(tenant, lambda conn: queries.outcome_of_call(conn, tenant, call_id))

    async def call_events(self, tenant: str, call_id: str) -> list[Event]:
        await self._db.flushed()
        return await self._db.read(tenant, lambda conn: queries.events_of_call(conn, tenant, call_id))

    async def blob(self, tenant: str, key: str) -> bytes | None:
        return (await self._db.read(tenant, blobs.get, tenant, [key])).get(key)

    async def last_seq(self, tenant: str, session: str) -> int:
        return await self._db.read(tenant, lambda conn: queries.last_seq(conn, tenant, session))

    async def last_position(self, tenant: str) -> int:
        return await self._db.read(tenant, lambda conn: queries.last_position(conn, tenant))

    async def sessions(
        self, tenant: str, after: str | None, limit: int, *, named: bool = False, prefix: str = ""
    ) -> list[dict[str, Any]]:
        await self._db.flushed()
        sessions = await self._db.read(
            tenant,
            lambda conn: queries.list_sessions(
                conn, tenant, after=after, limit=limit, named=named, prefix=prefix
            ),
        )
        return [asdict(session) for session in sessions]
