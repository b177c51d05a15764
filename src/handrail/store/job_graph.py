"""Jobs that come after others: what the end of one does to those that wait for it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, and_, exists, func, or_, select, update

from handrail.core.run.jobs.job import FINAL, JobEntry, lets_children, why_skipped
from handrail.store.statements import matching
from handrail.store.tables.calls import job_parents, jobs

EnqueuedCalls = list[tuple[str, int]]
"""Calls to be enqueued, and which time that is."""

_parent = jobs.alias("parent")
_IS_PARENT = and_(
    _parent.c.tenant_id == job_parents.c.tenant_id, _parent.c.call_id == job_parents.c.parent_id
)
_COMPLETED = and_(_parent.c.state == "done", func.coalesce(_parent.c.reason, "") == "completed")
_OPEN = or_(_parent.c.state.not_in(FINAL), and_(_parent.c.state == "done", _parent.c.reason == "pending"))


def _has_parent(parent: ColumnElement[bool]) -> ColumnElement[bool]:
    """Whether a job comes after one like this."""
    own = (job_parents.c.tenant_id == jobs.c.tenant_id, job_parents.c.call_id == jobs.c.call_id)
    return exists(
        select(1).select_from(job_parents.join(_parent, _IS_PARENT)).where(*own, parent).correlate(jobs)
    )


def open_parents(conn: Connection, tenant: str, call_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What each of these jobs comes after that is not completed."""
    if not call_ids:
        return {}
    parents: dict[str, tuple[str, ...]] = {}
    statement = (
        select(job_parents.c.call_id, job_parents.c.parent_id)
        .select_from(job_parents.join(_parent, _IS_PARENT))
        .where(job_parents.c.tenant_id == tenant, job_parents.c.call_id.in_(call_ids), ~_COMPLETED)
        .order_by(_parent.c.created_at, job_parents.c.parent_id)
    )
    for row in conn.execute(statement):
        parents[row.call_id] = (*parents.get(row.call_id, ()), row.parent_id)
    return parents


def has_children(conn: Connection, tenant: str, call_id: str) -> bool:
    """Whether any job comes after it."""
    children = matching(job_parents, tenant_id=tenant, parent_id=call_id)
    return conn.execute(select(job_parents.c.call_id).where(children).limit(1)).first() is not None


def settle_children(conn: Connection, tenant: str, parent: JobEntry, now: float) -> EnqueuedCalls:
    """After a job changed: what waited for it is queued, to run or to be skipped, or goes on waiting."""
    verdict = lets_children(parent.state, parent.reason)
    if verdict == "wait":
        return []
    step = select(job_parents.c.call_id).where(job_parents.c.tenant_id == tenant)
    first = step.where(job_parents.c.parent_id == parent.id)
    if verdict == "run":
        below = _lock_waiting(conn, tenant, conn.execute(first).scalars().all())
        return queue_waiting_jobs(conn, tenant, below, now, ~_has_parent(~_COMPLETED))
    descendants = first.cte("below", recursive=True)
    descendants = descendants.union(step.where(job_parents.c.parent_id == descendants.c.call_id))
    below = _lock_waiting(conn, tenant, conn.execute(select(descendants.c.call_id)).scalars().all())
    return queue_waiting_jobs(conn, tenant, below, now, skipped=why_skipped(parent))


def _lock_waiting(conn: Connection, tenant: str, call_ids: Sequence[str]) -> list[str]:
    """Those that wait. Until the commit no other parent decides about them: the last one sees all others."""
    if not call_ids:
        return []
    statement = select(jobs.c.call_id).where(*_waiting(tenant, call_ids))
    statement = statement.order_by(jobs.c.call_id).with_for_update()
    return list(conn.execute(statement).scalars())


def queue_waiting_jobs(
    conn: Connection,
    tenant: str,
    call_ids: Sequence[str],
    now: float,
    only: ColumnElement[bool] | None = None,
    skipped: str | None = None,
) -> EnqueuedCalls:
    """Queue jobs that waited; `skipped` says why they are only to be ended."""
    if not call_ids:
        return []
    changes = {"state": "queued", "enqueue_count": jobs.c.enqueue_count + 1, "updated_at": now}
    if skipped is not None:
        changes |= {"cancel_requested": True, "skipped": True, "reason": skipped}
    statement = update(jobs).where(*_waiting(tenant, call_ids))
    if only is not None:
        statement = statement.where(only)
    queued = conn.execute(statement.values(changes).returning(jobs.c.call_id, jobs.c.enqueue_count))
    return sorted((row.call_id, row.enqueue_count) for row in queued)


def _waiting(tenant: str, call_ids: Sequence[str]) -> tuple[ColumnElement[bool], ...]:
    return jobs.c.tenant_id == tenant, jobs.c.call_id.in_(call_ids), jobs.c.state == "waiting"


def parents_of(conn: Connection, tenant: str, call_id: str) -> list[str]:
    of_job = matching(job_parents, tenant_id=tenant, call_id=call_id)
    return list(conn.execute(select(job_parents.c.parent_id).where(of_job)).scalars())


def stranded_jobs(conn: Connection, before: float, limit: int = 500) -> list[tuple[str, str]]:
    """Of all tenants: jobs that wait since before a time, though all they wait for is over; tenant, call."""
    statement = (
        select(jobs.c.tenant_id, jobs.c.call_id)
        .where(jobs.c.state == "waiting", jobs.c.updated_at < before, ~_has_parent(_OPEN))
        .limit(limit)
    )
    return [(row[0], row[1]) for row in conn.execute(statement)]
