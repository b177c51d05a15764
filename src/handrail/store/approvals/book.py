"""StoreBook: the approvals of a database. To settle one also enqueues the run that waited for it."""

from __future__ import annotations

import builtins
from dataclasses import replace

from sqlalchemy.engine import Connection

from handrail.core.guard.approval import ApprovalRequest, Reply, RequestStatus
from handrail.core.guard.book import last_decided
from handrail.store.approvals import queries
from handrail.store.approvals.queries import OnWin
from handrail.store.database import Database
from handrail.store.sealing import Seal


class StoreBook:
    """An `ApprovalBook` in rows. `on_win` makes the job, in the transaction that decides."""

    enqueues = True

    def __init__(self, db: Database, seal: Seal, on_win: OnWin) -> None:
        self._db = db
        self._seal = seal
        self._on_win = on_win

    async def add(self, request: ApprovalRequest, /) -> None:
        tenant = request.principal.tenant
        try:
            await self._db.write(tenant, lambda conn: queries.add_request(conn, tenant, request, self._seal))
        except BaseException:  # the call is over, and the question may be in the book all the same
            self._db.post(tenant, lambda conn: queries.take_back(conn, tenant, request.id))
            raise

    async def get(self, approval_id: str, tenant: str, /) -> ApprovalRequest | None:
        found = await self._db.read(
            tenant, lambda conn: queries.get_request(conn, tenant, approval_id, self._seal)
        )
        if found is not None and found.status == "pending" and found.is_late(self._db.clock.now()):
            return replace(found, status="expired")
        return found

    async def list(
        self, tenant: str, /, after: str | None = None, limit: int | None = None
    ) -> builtins.list[ApprovalRequest]:
        now = self._db.clock.now()
        return await self._db.read(
            tenant,
            lambda conn: queries.list_requests(conn, tenant, now, self._seal, after=after, limit=limit),
        )

    async def decided(self, tenant: str, limit: int, /) -> builtins.list[ApprovalRequest]:
        found = await self._db.read(
            tenant, lambda conn: queries.decided_requests(conn, tenant, self._seal, limit=limit)
        )
        return last_decided(found)

    async def open_of(self, call_id: str, /) -> builtins.list[tuple[str, str]]:
        return await self._db.oversee(lambda conn: queries.open_questions(conn, call_id))

    async def settle(
        self, approval_id: str, tenant: str, status: RequestStatus, reply: Reply | None, /
    ) -> ApprovalRequest | None:
        def decide(conn: Connection) -> ApprovalRequest | None:
            return queries.settle_request(
                conn,
                tenant,
                approval_id,
                status,
                reply,
                now=self._db.clock.now(),
                seal=self._seal,
                on_win=self._on_win,
            )

        return await self._db.write(tenant, decide)

    def expire(self) -> builtins.list[ApprovalRequest]:
        """End what is due, of all tenants; for a sweeper, in a thread of its own."""
        now = self._db.clock.now()
        with self._db.overview() as conn:  # most looks find nothing, and hold up nobody who writes
            due = queries.next_expiry(conn)
        if due is None or due > now:
            return []
        with self._db.system() as conn:
            return queries.expire_due(conn, now, seal=self._seal, on_win=self._on_win)
