"""StoreApprovals and StoreStandingApprovals: approvals in the database; settling one enqueues its job."""

from __future__ import annotations

import builtins
from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.engine import Connection

from handrail.core.define.principal import Principal
from handrail.core.define.schema import digest_of
from handrail.core.guard.approval_request import ApprovalRequest, Reply, RequestStatus
from handrail.core.guard.approval_store import last_decided
from handrail.store import approval_queries
from handrail.store.approval_queries import OnSettled
from handrail.store.codec import fit_column
from handrail.store.database import Database
from handrail.store.encryption import Seal
from handrail.store.tables import standing
from handrail.store.upsert import insert_if_absent


class StoreApprovals:
    """An `ApprovalBook` in rows. `on_win` makes the job, in the transaction that decides."""

    enqueues = True

    def __init__(self, db: Database, seal: Seal, on_settled: OnSettled) -> None:
        self._db = db
        self._seal = seal
        self._on_settled = on_settled

    async def add(self, request: ApprovalRequest, /) -> None:
        tenant = request.principal.tenant
        try:
            await self._db.write(
                tenant, lambda conn: approval_queries.add_request(conn, tenant, request, self._seal)
            )
        except BaseException:  # the call is over, and the question may be in the book all the same
            self._db.post(
                tenant, lambda conn: approval_queries.delete_pending_request(conn, tenant, request.id)
            )
            raise

    async def get(self, approval_id: str, tenant: str, /) -> ApprovalRequest | None:
        found = await self._db.read(
            tenant, lambda conn: approval_queries.get_request(conn, tenant, approval_id, self._seal)
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
            lambda conn: approval_queries.list_pending_requests(
                conn, tenant, now, self._seal, after=after, limit=limit
            ),
        )

    async def decided(self, tenant: str, limit: int, /) -> builtins.list[ApprovalRequest]:
        found = await self._db.read(
            tenant, lambda conn: approval_queries.list_decided_requests(conn, tenant, self._seal, limit=limit)
        )
        return last_decided(found)

    async def open_of(self, call_id: str, /) -> builtins.list[tuple[str, str]]:
        return await self._db.read_all(lambda conn: approval_queries.pending_requests_of_call(conn, call_id))

    async def settle(
        self, approval_id: str, tenant: str, status: RequestStatus, reply: Reply | None, /
    ) -> ApprovalRequest | None:
        def decide(conn: Connection) -> ApprovalRequest | None:
            return approval_queries.settle_request(
                conn,
                tenant,
                approval_id,
                status,
                reply,
                now=self._db.clock.now(),
                seal=self._seal,
                on_settled=self._on_settled,
            )

        return await self._db.write(tenant, decide)

    def expire(self) -> builtins.list[ApprovalRequest]:
        """End what is due, of all tenants; for a sweeper, in a thread of its own."""
        now = self._db.clock.now()
        with self._db.reading_all() as conn:  # most looks find nothing, and hold up nobody who writes
            due = approval_queries.next_expiry(conn)
        if due is None or due > now:
            return []
        with self._db.system() as conn:
            return approval_queries.expire_due(conn, now, seal=self._seal, on_settled=self._on_settled)


def add_standing_approval(
    conn: Connection, tenant: str, principal: Principal, session: str, digest: str, by: str | None, now: float
) -> None:
    if principal.tenant != tenant:
        return
    row = {**_standing_columns(tenant, principal, session, digest), "given_at": now, "given_by": by}
    insert_if_absent(conn, standing, row)


def has_standing_approval(
    conn: Connection, tenant: str, principal: Principal, session: str, digest: str
) -> bool:
    this = _standing_columns(tenant, principal, session, digest)
    wanted = select(standing.c.given_at).where(*(standing.c[name] == value for name, value in this.items()))
    return conn.execute(wanted).first() is not None


def _standing_columns(tenant: str, principal: Principal, session: str, digest: str) -> dict[str, str]:
    """Everything about the principal counts: with more rights or another role it is not the same one."""
    whose = digest_of(principal.to_dict())
    return {"tenant_id": tenant, "principal": whose, "session_id": fit_column(session), "digest": digest}


class StoreStandingApprovals:
    """A `Standing` in rows."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def give(self, principal: Principal, session: str, digest: str, by: str | None, /) -> None:
        tenant, now = principal.tenant, self._db.clock.now()
        self._db.post(
            tenant, lambda conn: add_standing_approval(conn, tenant, principal, session, digest, by, now)
        )

    async def holds(self, principal: Principal, session: str, digest: str, /) -> bool:
        tenant = principal.tenant
        return await self._db.read(
            tenant, lambda conn: has_standing_approval(conn, tenant, principal, session, digest)
        )
