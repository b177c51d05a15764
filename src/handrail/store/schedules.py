"""Schedules as rows: what is to run again and again, and when next."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from sqlalchemy import Connection, delete, select, update

from handrail.store.statements import matching, upsert
from handrail.store.tables.calls import schedules


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """One schedule: the columns of `schedules` in their order. Who calls, and with what, is sealed."""

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


_COLUMNS = [column for column in schedules.c if column.name != "updated_at"]


def put_schedule(conn: Connection, tenant: str, row: ScheduleRow, now: float) -> None:
    """Store a schedule, replacing one with the same name."""
    values = {column.name: value for column, value in zip(_COLUMNS, astuple(row), strict=True)}
    upsert(conn, schedules, {**values, "tenant_id": tenant, "updated_at": now})


def list_schedules(conn: Connection, tenant: str) -> list[ScheduleRow]:
    """The tenant's schedules by name."""
    statement = select(*_COLUMNS).where(schedules.c.tenant_id == tenant).order_by(schedules.c.name)
    return [ScheduleRow(*row) for row in conn.execute(statement)]


def remove_schedule(conn: Connection, tenant: str, name: str) -> bool:
    named = matching(schedules, tenant_id=tenant, name=name)
    return conn.execute(delete(schedules).where(named)).rowcount == 1


def due_schedules(conn: Connection, now: float, limit: int = 100) -> list[ScheduleRow]:
    """Of all tenants: what is due, the longest first. For sweepers."""
    statement = select(*_COLUMNS).where(schedules.c.enabled, schedules.c.next_run_at <= now)
    rows = conn.execute(statement.order_by(schedules.c.next_run_at).limit(limit))
    return [ScheduleRow(*row) for row in rows]


def fire_schedule(
    conn: Connection, tenant: str, name: str, at: float, next_at: float, call_id: str, now: float
) -> bool:
    """Record the call of a schedule that was due, and when it is due next; False when another was faster."""
    due = matching(schedules, tenant_id=tenant, name=name, next_run_at=at)
    statement = (
        update(schedules)
        .where(due, schedules.c.enabled)
        .values(next_run_at=next_at, last_call_id=call_id, updated_at=now)
    )
    return conn.execute(statement).rowcount == 1
