"""Schedules as rows: what is to run again and again, and when next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from handrail.store.tables import schedules


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """One schedule; who calls, and with what, is sealed."""

    tenant: str
    name: str
    tool: str
    sealed: str
    cron: str | None
    every: float | None
    zone: str | None
    next_at: float
    last_call_id: str | None
    enabled: bool


_COLUMNS = (
    schedules.c.tenant_id,
    schedules.c.name,
    schedules.c.tool,
    schedules.c.sealed,
    schedules.c.cron,
    schedules.c.every,
    schedules.c.zone,
    schedules.c.next_at,
    schedules.c.last_call_id,
    schedules.c.enabled,
)


def put_schedule(conn: Connection, tenant: str, row: ScheduleRow, now: float) -> None:
    """Keep a schedule, in the place of one with the same name."""
    values: dict[str, Any] = {
        "tool": row.tool,
        "sealed": row.sealed,
        "cron": row.cron,
        "every": row.every,
        "zone": row.zone,
        "next_at": row.next_at,
        "last_call_id": row.last_call_id,
        "enabled": row.enabled,
        "updated_at": now,
    }
    mine = (schedules.c.tenant_id == tenant, schedules.c.name == row.name)
    if conn.execute(update(schedules).where(*mine).values(values)).rowcount == 0:
        conn.execute(insert(schedules).values(tenant_id=tenant, name=row.name, **values))


def list_schedules(conn: Connection, tenant: str) -> list[ScheduleRow]:
    """The tenant's schedules by name."""
    statement = select(*_COLUMNS).where(schedules.c.tenant_id == tenant).order_by(schedules.c.name)
    return [ScheduleRow(*row) for row in conn.execute(statement)]


def remove_schedule(conn: Connection, tenant: str, name: str) -> bool:
    mine = (schedules.c.tenant_id == tenant, schedules.c.name == name)
    return conn.execute(delete(schedules).where(*mine)).rowcount == 1


def due_schedules(conn: Connection, now: float, limit: int = 100) -> list[ScheduleRow]:
    """Of all tenants: what is due, the longest first. For sweepers."""
    statement = select(*_COLUMNS).where(schedules.c.enabled, schedules.c.next_at <= now)
    rows = conn.execute(statement.order_by(schedules.c.next_at).limit(limit))
    return [ScheduleRow(*row) for row in rows]


def fire_schedule(
    conn: Connection, tenant: str, name: str, at: float, next_at: float, call_id: str, now: float
) -> bool:
    """Note that a schedule was due and when it is due next; False when somebody else was faster."""
    mine = (schedules.c.tenant_id == tenant, schedules.c.name == name)
    statement = (
        update(schedules)
        .where(*mine, schedules.c.next_at == at, schedules.c.enabled)
        .values(next_at=next_at, last_call_id=call_id, updated_at=now)
    )
    return conn.execute(statement).rowcount == 1
