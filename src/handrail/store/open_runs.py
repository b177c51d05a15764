"""Open runs: those that began and did not end, and which process holds them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, and_, select, update

from handrail.store.codec import fit_column
from handrail.store.jobs import LIVE_STATES
from handrail.store.leases import dead_holders
from handrail.store.statements import matching
from handrail.store.tables.calls import jobs
from handrail.store.tables.event_log import open_runs


@dataclass(frozen=True, slots=True)
class OpenRunRow:
    """A run whose end is not known: the columns of `open_runs` in their order."""

    tenant: str
    run_id: str
    call_id: str
    session: str
    tool: str
    holder: str
    repeatable: bool
    started_at: float


def open_runs_of_call(conn: Connection, tenant: str, call_id: str) -> list[OpenRunRow]:
    """The open runs of one call, the first one first."""
    statement = select(open_runs).where(matching(open_runs, tenant_id=tenant, call_id=fit_column(call_id)))
    return [OpenRunRow(*row) for row in conn.execute(statement.order_by(open_runs.c.started_at))]


def take_over(conn: Connection, tenant: str, run_id: str, was: str, now: str) -> bool:
    """Give the run to another holder; False when somebody else was faster."""
    held = matching(open_runs, tenant_id=tenant, run_id=run_id, holder=was)
    return conn.execute(update(open_runs).where(held).values(holder=now)).rowcount == 1


def orphaned_runs(conn: Connection, limit: int = 500) -> list[OpenRunRow]:
    """Of all tenants: runs of dead processes that no job will go on with. For sweepers."""
    of_a_job = and_(
        jobs.c.tenant_id == open_runs.c.tenant_id,
        jobs.c.call_id == open_runs.c.call_id,
        jobs.c.state.in_(LIVE_STATES),
    )
    dead = dead_holders(conn, conn.execute(select(open_runs.c.holder).distinct()).scalars())
    if not dead:
        return []
    statement = (
        select(open_runs)
        .select_from(open_runs.outerjoin(jobs, of_a_job))
        .where(open_runs.c.holder.in_(dead), jobs.c.call_id.is_(None))
        .order_by(open_runs.c.started_at)
        .limit(limit)
    )
    return [OpenRunRow(*row) for row in conn.execute(statement)]
