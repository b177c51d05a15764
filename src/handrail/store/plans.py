"""StorePlans: planned calls that outlive the process. What a reviewer sees is plain text, the rest sealed."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, delete, func, or_, select, update
from sqlalchemy.engine import Connection, Row

from handrail.core.define.principal import Principal
from handrail.core.guard.plans import MAX_PLANNED_CALLS, Added, PlannedCall, Taken, may_reach
from handrail.store.codec import decode_call, dump, encode_call, fit_column, load
from handrail.store.database import Database
from handrail.store.encryption import Seal, SealError
from handrail.store.leases import IsDead
from handrail.store.statements import insert_if_absent, matching
from handrail.store.tables.calls import planned_calls as table

_log = logging.getLogger("handrail.guard")


def add_planned(
    conn: Connection, tenant: str, planned: PlannedCall, seal: Seal, most: int = MAX_PLANNED_CALLS
) -> Added:
    """Put a call behind the others of its plan."""
    if planned.principal.tenant != tenant:
        return "full"
    if conn.execute(select(table.c.number).where(_is_call(tenant, planned.call.id))).first() is not None:
        return "known"
    of_user = _of_user(tenant, planned.principal)
    count, last = conn.execute(select(func.count(), func.max(table.c.number)).where(of_user)).one()
    if count >= most:
        return "full"
    row = {**_row(tenant, planned, seal), "number": (last or 0) + 1}
    return "added" if insert_if_absent(conn, table, row) else "known"


def queued_calls(
    conn: Connection,
    tenant: str,
    principal: Principal,
    seal: Seal,
    is_dead: IsDead,
    calls: Collection[str] | None = None,
) -> list[PlannedCall]:
    """What waits in the plan of a principal, in order. One that cannot be read hides no other."""
    query = select(table).where(_of_user(tenant, principal))
    if calls is not None:
        query = query.where(table.c.call_id.in_([fit_column(call_id) for call_id in calls]))
    queued: list[PlannedCall] = []
    for row in conn.execute(query.order_by(table.c.number, table.c.planned_at, table.c.call_id)).all():
        if row.holder is not None and not is_dead(conn, row.holder):
            continue
        try:
            planned = _planned(row, seal)
        except (SealError, ValueError, LookupError, TypeError):
            _log.exception("the planned call %s of %s cannot be read", row.call_id, tenant)
            continue
        if may_reach(principal, planned):
            queued.append(planned)
    return queued


def is_planned(conn: Connection, tenant: str, call_id: str) -> bool:
    """Whether a call waits and nobody has taken it."""
    query = select(table.c.number).where(_is_call(tenant, call_id), table.c.holder.is_(None))
    return conn.execute(query).first() is not None


def take_next(
    conn: Connection, tenant: str, planned: PlannedCall, session: str | None, holder: str, is_dead: IsDead
) -> Taken:
    """Claim a call to run it, unless a live process runs one of its plan."""
    of_plan = _of_user(tenant, planned.principal)
    conn.execute(select(table.c.number).where(of_plan).order_by(table.c.number).limit(1).with_for_update())
    holders = select(table.c.holder).where(of_plan, table.c.holder.is_not(None)).distinct()
    if session is not None:
        holders = holders.where(table.c.session_id == fit_column(session))
    if any(not is_dead(conn, other) for other in conn.execute(holders).scalars().all()):
        return "busy"
    return "taken" if take_planned(conn, tenant, planned.call.id, holder, is_dead) else "gone"


def take_planned(conn: Connection, tenant: str, call_id: str, holder: str, is_dead: IsDead) -> bool:
    """Claim a call for a process; False when a live one has it, or it is gone."""
    row = conn.execute(select(table.c.holder).where(_is_call(tenant, call_id)).with_for_update()).first()
    if row is None or (row.holder is not None and not is_dead(conn, row.holder)):
        return False
    unchanged = matching(table, holder=row.holder)
    claimed = update(table).where(_is_call(tenant, call_id), unchanged).values(holder=holder)
    return conn.execute(claimed).rowcount == 1


def forget_planned(conn: Connection, tenant: str, call_id: str, holder: str | None = None) -> bool:
    """Forget a call that its holder has run; without a holder, one that nobody has."""
    free_or_ours = or_(table.c.holder.is_(None), table.c.holder == holder)
    return conn.execute(delete(table).where(_is_call(tenant, call_id), free_or_ours)).rowcount == 1


def _is_call(tenant: str, call_id: str) -> ColumnElement[bool]:
    return matching(table, tenant_id=tenant, call_id=fit_column(call_id))


def _of_user(tenant: str, principal: Principal) -> ColumnElement[bool]:
    return matching(table, tenant_id=tenant, user_id=_optional_column(principal.user))


def _optional_column(name: str | None) -> str | None:
    return None if name is None else fit_column(name)


def _row(tenant: str, planned: PlannedCall, seal: Seal) -> dict[str, Any]:
    call, call_id = planned.call, fit_column(planned.call.id)
    exact = {"call": encode_call(call), "raw": planned.raw, "secrets": sorted(planned.secrets)}
    return {
        "tenant_id": tenant,
        "call_id": call_id,
        "user_id": _optional_column(call.principal.user),
        "agent": _optional_column(call.principal.agent),
        "session_id": fit_column(call.log_session),
        "source": call.source,
        "tool": fit_column(planned.tool),
        "args": dump(planned.args),
        "reason": dump(planned.reason),
        "sealed": seal.close(tenant, dump(exact), f"planned:{call_id}"),
        "holder": None,
        "planned_at": planned.at,
    }


def _planned(row: Row[Any], seal: Seal) -> PlannedCall:
    exact = load(seal.open(row.tenant_id, row.sealed, f"planned:{row.call_id}"))
    return PlannedCall(
        decode_call(exact["call"]),
        row.tool,
        load(row.args),
        load(row.reason),
        exact["raw"],
        frozenset(exact["secrets"]),
        row.planned_at,
        row.holder is not None,
    )


class StorePlans:
    """The port of plans in rows. A call that a dead process had claimed is listed again, as doubtful."""

    def __init__(self, db: Database, seal: Seal, is_dead: IsDead) -> None:
        self._db = db
        self._seal = seal
        self._is_dead = is_dead

    async def add(self, planned: PlannedCall, /) -> Added:
        tenant = planned.principal.tenant
        return await self._db.write(tenant, add_planned, tenant, planned, self._seal)

    async def queued(
        self, principal: Principal, session: str | None = None, calls: Collection[str] | None = None, /
    ) -> list[PlannedCall]:
        tenant = principal.tenant
        planned = await self._db.read(
            tenant, queued_calls, tenant, principal, self._seal, self._is_dead, calls
        )
        return [entry for entry in planned if session is None or entry.call.session == session]

    async def holds(self, call_id: str, tenant: str, /) -> bool:
        return await self._db.read(tenant, is_planned, tenant, call_id)

    async def take(self, planned: PlannedCall, session: str | None = None, /) -> Taken:
        tenant, holder = planned.principal.tenant, self._db.holder
        return await self._db.write(tenant, take_next, tenant, planned, session, holder, self._is_dead)

    async def over(self, planned: PlannedCall, /) -> None:
        tenant = planned.principal.tenant
        self._db.post(tenant, forget_planned, tenant, planned.call.id, self._db.holder)

    async def discard(self, principal: Principal, session: str | None = None, /) -> int:
        tenant, holder = principal.tenant, self._db.holder
        call_ids = [planned.call.id for planned in await self.queued(principal, session)]

        def forget(conn: Connection) -> int:
            count = 0
            for call_id in call_ids:
                is_claimed = take_planned(conn, tenant, call_id, holder, self._is_dead)
                count += is_claimed and forget_planned(conn, tenant, call_id, holder)
            return count

        return await self._db.write(tenant, forget)
