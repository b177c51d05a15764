"""StorePlans: planned calls that outlive the process. What a reviewer sees in the open, the rest sealed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update
from sqlalchemy.engine import Connection, Row

from handrail.core.define.principal import Principal
from handrail.core.guard.plans import MAX_PLANNED_CALLS, Added, PlannedCall, Taken, may_reach
from handrail.store.codec import decode_call, dump, encode_call, fit_column, load
from handrail.store.database import Database
from handrail.store.encryption import Seal, SealError
from handrail.store.tables import planned_calls as table
from handrail.store.upsert import insert_if_absent

_log = logging.getLogger("handrail.guard")
IsDead = Callable[[Connection, str], bool]


def add_planned(
    conn: Connection, tenant: str, planned: PlannedCall, seal: Seal, most: int = MAX_PLANNED_CALLS
) -> Added:
    """Put a call behind the others of its plan."""
    if planned.principal.tenant != tenant:
        return "full"
    if conn.execute(select(table.c.number).where(_is_call(tenant, planned.call.id))).first() is not None:
        return "known"
    of_user = _of_user(tenant, planned.principal)
    held, last = conn.execute(select(func.count(), func.max(table.c.number)).where(of_user)).one()
    if held >= most:
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
    wanted = select(table).where(_of_user(tenant, principal))
    if calls is not None:
        wanted = wanted.where(table.c.call_id.in_([fit_column(one) for one in calls]))
    found: list[PlannedCall] = []
    for row in conn.execute(wanted.order_by(table.c.number, table.c.at, table.c.call_id)).all():
        if row.holder is not None and not is_dead(conn, row.holder):
            continue
        try:
            planned = _planned(row, seal)
        except (SealError, ValueError, LookupError, TypeError):
            _log.exception("the planned call %s of %s cannot be read", row.call_id, tenant)
            continue
        if may_reach(principal, planned):
            found.append(planned)
    return found


def is_planned(conn: Connection, tenant: str, call_id: str) -> bool:
    """Whether a call waits and nobody has taken it."""
    wanted = select(table.c.number).where(_is_call(tenant, call_id), table.c.holder.is_(None))
    return conn.execute(wanted).first() is not None


def take_next(
    conn: Connection, tenant: str, planned: PlannedCall, session: str | None, holder: str, is_dead: IsDead
) -> Taken:
    """Take a call to run it, unless somebody who lives runs one of its plan."""
    of_plan = _of_user(tenant, planned.principal)
    conn.execute(select(table.c.number).where(of_plan).order_by(table.c.number).limit(1).with_for_update())
    held = select(table.c.holder).where(of_plan, table.c.holder.is_not(None)).distinct()
    if session is not None:
        held = held.where(table.c.session_id == fit_column(session))
    if any(not is_dead(conn, one) for one in conn.execute(held).scalars().all()):
        return "busy"
    taken = take_planned(conn, tenant, planned.call.id or "", holder, is_dead)
    return "taken" if taken else "gone"


def take_planned(conn: Connection, tenant: str, call_id: str, holder: str, is_dead: IsDead) -> bool:
    """Write down who runs a call; False when somebody has it who lives, or it is gone."""
    row = conn.execute(select(table.c.holder).where(_is_call(tenant, call_id)).with_for_update()).first()
    if row is None or (row.holder is not None and not is_dead(conn, row.holder)):
        return False
    was = table.c.holder.is_(None) if row.holder is None else table.c.holder == row.holder
    taken = update(table).where(_is_call(tenant, call_id), was).values(holder=holder)
    return conn.execute(taken).rowcount == 1


def forget_planned(conn: Connection, tenant: str, call_id: str, holder: str | None = None) -> bool:
    """Forget a call that its holder has run; without a holder, one that nobody has."""
    whose = or_(table.c.holder.is_(None), table.c.holder == holder)
    return conn.execute(delete(table).where(_is_call(tenant, call_id), whose)).rowcount == 1


def _is_call(tenant: str, call_id: str | None) -> ColumnElement[bool]:
    return and_(table.c.tenant_id == tenant, table.c.call_id == fit_column(call_id or ""))


def _of_user(tenant: str, principal: Principal) -> ColumnElement[bool]:
    user = principal.user
    same = table.c.user_id.is_(None) if user is None else table.c.user_id == fit_column(user)
    return and_(table.c.tenant_id == tenant, same)


def _row(tenant: str, planned: PlannedCall, seal: Seal) -> dict[str, Any]:
    call, who = planned.call, planned.principal
    exact = {"call": encode_call(call), "raw": planned.raw, "secrets": sorted(planned.secrets)}
    return {
        "tenant_id": tenant,
        "call_id": fit_column(call.id or ""),
        "user_id": None if who.user is None else fit_column(who.user),
        "agent": None if who.agent is None else fit_column(who.agent),
        "session_id": fit_column(call.session or f"call:{call.id}"),
        "source": call.source,
        "tool": fit_column(planned.tool),
        "args": dump(planned.args),
        "reason": dump(planned.reason),
        "sealed": seal.close(tenant, dump(exact), f"planned:{fit_column(call.id or '')}"),
        "holder": None,
        "at": planned.at,
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
        row.at,
        row.holder is not None,
    )


class StorePlans:
    """`Plans` in rows. A call that a dead process took is found again, as doubtful."""

    def __init__(self, db: Database, seal: Seal, is_dead: IsDead) -> None:
        self._db = db
        self._seal = seal
        self._is_dead = is_dead

    async def add(self, planned: PlannedCall, /) -> Added:
        tenant = planned.principal.tenant
        return await self._db.write(tenant, lambda conn: add_planned(conn, tenant, planned, self._seal))

    async def queued(
        self, principal: Principal, session: str | None = None, calls: Collection[str] | None = None, /
    ) -> list[PlannedCall]:
        tenant = principal.tenant
        found = await self._db.read(
            tenant, lambda conn: queued_calls(conn, tenant, principal, self._seal, self._is_dead, calls)
        )
        return [one for one in found if session is None or one.call.session == session]

    async def holds(self, call_id: str, tenant: str, /) -> bool:
        return await self._db.read(tenant, lambda conn: is_planned(conn, tenant, call_id))

    async def take(self, planned: PlannedCall, session: str | None = None, /) -> Taken:
        tenant, holder = planned.principal.tenant, self._db.holder
        return await self._db.write(
            tenant, lambda conn: take_next(conn, tenant, planned, session, holder, self._is_dead)
        )

    async def over(self, planned: PlannedCall, /) -> None:
        tenant, call_id, holder = planned.principal.tenant, planned.call.id or "", self._db.holder
        self._db.post(tenant, lambda conn: forget_planned(conn, tenant, call_id, holder))

    async def discard(self, principal: Principal, session: str | None = None, /) -> int:
        tenant = principal.tenant
        there = await self.queued(principal, session)

        def forget(conn: Connection) -> int:
            gone = 0
            for one in there:
                call_id = one.call.id or ""
                taken = take_planned(conn, tenant, call_id, self._db.holder, self._is_dead)
                gone += taken and forget_planned(conn, tenant, call_id, self._db.holder)
            return gone

        return await self._db.write(tenant, forget)
