"""Jobs as rows: what waits to be run, which process runs it, and how it ended.

The holder of a running job is a token that is never used twice: whoever claims the job writes it into the
row, and what it records afterwards counts only while the token is still there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, insert, select, union, update

from handrail.core.run.jobs.job import FINAL, Busy, Job, JobEntry, JobState
from handrail.store.codec import decode_call, dump, encode_call, fit_column, load
from handrail.store.encryption import Seal
from handrail.store.events.rows import END_TYPES
from handrail.store.job_graph import open_parents
from handrail.store.leases import dead_holders, is_alive
from handrail.store.statements import dialect_insert, matching
from handrail.store.tables.calls import approvals, job_parents, jobs
from handrail.store.tables.event_log import session_events

LIVE_STATES: tuple[JobState, ...] = ("waiting", "queued", "running", "blocked")
_TOKEN_SEPARATOR = "#"
"""Stands in a token between the process and the number of the take."""


def holder_of(token: str) -> str:
    """The process behind a token."""
    return token.partition(_TOKEN_SEPARATOR)[0]


def token_of(holder: str, number: int) -> str:
    return f"{holder}{_TOKEN_SEPARATOR}{number}"


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job with what only a worker needs of it."""

    entry: JobEntry
    approval_id: str | None
    sealed: str
    """Empty once the job is over."""
    cancel_requested: bool
    enqueue_count: int
    skipped: bool


_c = jobs.c
_ENTRY = (
    *(_c.call_id, _c.tenant_id, _c.tool, _c.kind, _c.state, _c.attempts, _c.created_at, _c.updated_at),
    *(_c.due_at, _c.reason, _c.fingerprint, _c.holder, _c.task_name),
)
"""The columns of a `JobEntry` in the order of its fields."""
_ROW = (*_ENTRY, _c.approval_id, _c.sealed, _c.cancel_requested, _c.enqueue_count, _c.skipped)


def _entry(row: Any) -> JobEntry:
    return JobEntry(*row[: len(_ENTRY)])


def _job_row(row: Any) -> JobRow:
    cancelled, skipped = bool(row.cancel_requested), bool(row.skipped)
    return JobRow(_entry(row), row.approval_id, row.sealed or "", cancelled, row.enqueue_count, skipped)


def _is_job(tenant: str, call_id: str) -> ColumnElement[bool]:
    return matching(jobs, tenant_id=tenant, call_id=call_id)


def seal_job(seal: Seal, job: Job) -> str:
    """What a worker needs of a job, as only this tenant's row may hold it."""
    exact = {"call": encode_call(job.call), "raw": job.raw, "secrets": sorted(job.secrets)}
    return seal.close(job.tenant, dump(exact), f"job:{job.id}")


def unseal_job(seal: Seal, row: JobRow) -> Job:
    entry = row.entry
    exact = load(seal.open(entry.tenant, row.sealed, f"job:{entry.id}"))
    return Job(
        decode_call(exact["call"]),
        entry.tool,
        exact["raw"],
        frozenset(exact["secrets"]),
        entry.kind,
        row.approval_id,
        entry.fingerprint,
        entry.due_at,
    )


def add_job(conn: Connection, tenant: str, job: Job, sealed: str | None, now: float) -> int:
    """Store a job; how often it is enqueued by then, 0 when it exists already and is not over.

    One that is over comes to life again only by an answered question: it had ended by waiting for it.
    """
    row = _queued(job, sealed, now)
    new = {"tenant_id": tenant, "call_id": job.id, "created_at": now, "enqueue_count": 1, **row}
    added = dialect_insert(conn, jobs).values(new).on_conflict_do_nothing().returning(jobs.c.call_id)
    if conn.execute(added).first() is not None:
        return 1
    earlier = get_job_row(conn, tenant, job.id, lock=True)
    if earlier is None or earlier.entry.state not in FINAL:
        return 0
    if job.approval_id in (None, earlier.approval_id):
        return 0
    number = earlier.enqueue_count + 1
    conn.execute(update(jobs).where(_is_job(tenant, job.id)).values(enqueue_count=number, **row))
    return number


def add_graph(
    conn: Connection, tenant: str, graph: Sequence[tuple[Job, str]], now: float
) -> list[tuple[str, int]]:
    """Store new jobs, each with its sealed part; those to enqueue at once, with their number."""
    new, edges = [], []
    for job, sealed in graph:
        own = {"tenant_id": tenant, "call_id": job.id, "created_at": now, "task_name": job.task}
        waits = {"state": "waiting", "enqueue_count": 0} if job.after else {"enqueue_count": 1}
        new.append({**_queued(job, sealed, now), **own, **waits})
        edges += [{"tenant_id": tenant, "call_id": job.id, "parent_id": parent} for parent in job.after]
    conn.execute(insert(jobs), new)
    if edges:
        conn.execute(insert(job_parents), edges)
    return [(job.id, 1) for job, _ in graph if not job.after]


def _queued(job: Job, sealed: str | None, now: float) -> dict[str, Any]:
    return {
        "session_id": fit_column(job.call.log_session),
        "tool": job.tool,
        "kind": job.kind,
        "state": "queued",
        "approval_id": job.approval_id,
        "sealed": sealed,
        "fingerprint": job.fingerprint,
        "attempts": 0,
        "cancel_requested": False,
        "due_at": job.due_at,
        "updated_at": now,
        "reason": None,
        "holder": None,
    }


def get_job_row(conn: Connection, tenant: str, call_id: str, *, lock: bool = False) -> JobRow | None:
    statement = select(*_ROW).where(_is_job(tenant, call_id))
    if lock:
        statement = statement.with_for_update()
    row = conn.execute(statement).first()
    return None if row is None else _job_row(row)


def get_job(conn: Connection, tenant: str, call_id: str) -> JobEntry | None:
    row = get_job_row(conn, tenant, call_id)
    return None if row is None else _with_parents(conn, tenant, [row.entry])[0]


def _with_parents(conn: Connection, tenant: str, entries: Sequence[JobEntry]) -> list[JobEntry]:
    """The entries; those that wait say for what."""
    waiting = [entry.id for entry in entries if entry.state == "waiting"]
    parents = open_parents(conn, tenant, waiting)
    return [replace(entry, after=parents.get(entry.id, ())) if waiting else entry for entry in entries]


def tenants_of_call(conn: Connection, call_id: str) -> list[str]:
    """Of all tenants: those that have a job, an approval request or an event of a call of this id."""
    with_job = select(jobs.c.tenant_id).where(jobs.c.call_id == call_id)
    with_request = select(approvals.c.tenant_id).where(approvals.c.call_id == fit_column(call_id))
    with_event = select(session_events.c.tenant_id).where(session_events.c.call_id == fit_column(call_id))
    return sorted(conn.execute(union(with_job, with_request, with_event)).scalars())


def ended_calls(conn: Connection, call_ids: Collection[str]) -> list[tuple[str, str]]:
    """Of all tenants: those of the calls that are over; tenant, call. What is a job is over when that is."""
    query = select(jobs.c.tenant_id, jobs.c.call_id, jobs.c.state).where(jobs.c.call_id.in_(call_ids))
    states = {(row.tenant_id, row.call_id): row.state for row in conn.execute(query)}
    names = {fit_column(call_id): call_id for call_id in call_ids}
    events = session_events.c
    ends = select(events.tenant_id, events.call_id).where(
        events.call_id.in_(names), events.type.in_(END_TYPES)
    )
    ended = {(row.tenant_id, names[row.call_id]) for row in conn.execute(ends)}
    return sorted({key for key, state in states.items() if state in FINAL} | (ended - states.keys()))


def list_jobs(
    conn: Connection, tenant: str, *, state: JobState | None = None, limit: int = 1_000
) -> list[JobEntry]:
    """The tenant's jobs, oldest first."""
    statement = select(*_ENTRY).where(jobs.c.tenant_id == tenant)
    if state is not None:
        statement = statement.where(jobs.c.state == state)
    statement = statement.order_by(jobs.c.created_at, jobs.c.call_id).limit(limit)
    return _with_parents(conn, tenant, [_entry(row) for row in conn.execute(statement)])


def take_job(
    conn: Connection, tenant: str, call_id: str, token: str, now: float, at_work: bool = False
) -> JobRow | Busy | None:
    """Claim a job and count the attempt; `busy` when a live process works on it, None when it is over.

    `at_work`: whether this process itself works on it.
    """
    changes = {"state": "running", "holder": token, "attempts": jobs.c.attempts + 1, "updated_at": now}
    taking = update(jobs).where(_is_job(tenant, call_id)).values(changes)
    first = conn.execute(taking.where(jobs.c.state == "queued").returning(*_ROW)).first()
    if first is not None:
        return _job_row(first)
    row = get_job_row(conn, tenant, call_id, lock=True)
    if row is None or row.entry.state in FINAL:
        return None
    if row.entry.state in ("blocked", "waiting") and not row.cancel_requested:
        return None
    earlier = row.entry.holder
    if row.entry.state == "running" and earlier is not None:
        is_ours = holder_of(earlier) == holder_of(token)
        if at_work if is_ours else is_alive(conn, holder_of(earlier)):
            return "busy"
    return _job_row(conn.execute(taking.returning(*_ROW)).one())


def is_job_held(conn: Connection, tenant: str, call_id: str, token: str) -> bool:
    """Whether the job is still held under this token. It stays so until the commit."""
    statement = select(jobs.c.holder).where(_is_job(tenant, call_id), jobs.c.state == "running")
    return conn.execute(statement.with_for_update()).scalar() == token


def job_holders(conn: Connection, tenant: str, call_ids: Collection[str]) -> dict[str, str]:
    """The token under which each of these jobs runs. It stays so until the commit."""
    running = (jobs.c.tenant_id == tenant, jobs.c.call_id.in_(call_ids), jobs.c.state == "running")
    statement = select(jobs.c.call_id, jobs.c.holder).where(*running).order_by(jobs.c.call_id)
    return {row.call_id: row.holder for row in conn.execute(statement.with_for_update())}


def finish_job(
    conn: Connection, tenant: str, call_id: str, token: str, state: JobState, reason: str | None, now: float
) -> bool:
    """Let go of a job; what it would need to run again is forgotten once it is over."""
    changes: dict[str, Any] = {"state": state, "reason": reason, "holder": None, "updated_at": now}
    if state in FINAL:
        changes["sealed"] = None
    statement = update(jobs).where(_is_job(tenant, call_id), jobs.c.holder == token).values(changes)
    return conn.execute(statement).rowcount == 1


def release_job(conn: Connection, tenant: str, call_id: str, token: str, now: float) -> int:
    """Let go of a job that did not come to its end through no fault of its own; its next number, or 0."""
    changes = {"state": "queued", "holder": None, "attempts": jobs.c.attempts - 1}
    return _requeue(conn, _is_job(tenant, call_id), jobs.c.holder == token, now=now, **changes)


def request_cancel(conn: Connection, tenant: str, call_id: str, reason: str, now: float) -> JobEntry | None:
    """Record that somebody wants it cancelled; None when there is nothing to cancel."""
    row = get_job_row(conn, tenant, call_id, lock=True)
    if row is None or row.entry.state in FINAL:
        return None
    if row.skipped:
        return row.entry
    changes = {"cancel_requested": True, "reason": reason, "updated_at": now}
    conn.execute(update(jobs).where(_is_job(tenant, call_id)).values(changes))
    return row.entry


def unblock_job(conn: Connection, tenant: str, call_id: str, now: float) -> int:
    """Queue a blocked job again; its number, or 0 when it is not blocked."""
    changes = {"state": "queued", "reason": None, "attempts": 0}
    return _requeue(conn, _is_job(tenant, call_id), jobs.c.state == "blocked", now=now, **changes)


def event_types_of_call(conn: Connection, tenant: str, call_id: str) -> frozenset[str]:
    """The kinds of events that the log has of a call."""
    statement = select(session_events.c.type).distinct()
    where = (session_events.c.tenant_id == tenant, session_events.c.call_id == fit_column(call_id))
    types = conn.execute(statement.where(*where)).scalars()
    return frozenset(event_type.removeprefix("tool.") for event_type in types)


def jobs_to_cancel(conn: Connection, holder: str) -> list[tuple[str, str, str]]:
    """Of all tenants: what this process runs and somebody wants cancelled; tenant, call, reason."""
    statement = select(jobs.c.tenant_id, jobs.c.call_id, func.coalesce(jobs.c.reason, "")).where(
        jobs.c.state == "running",
        jobs.c.cancel_requested,
        jobs.c.holder.startswith(f"{holder}{_TOKEN_SEPARATOR}"),
    )
    return [(row[0], row[1], row[2]) for row in conn.execute(statement)]


def jobs_of_dead_holders(conn: Connection) -> list[tuple[str, str, int]]:
    """Of all tenants: jobs whose holder is dead; tenant, call, how often it was enqueued."""
    statement = select(jobs.c.tenant_id, jobs.c.call_id, jobs.c.enqueue_count, jobs.c.holder).where(
        jobs.c.state == "running"
    )
    rows = conn.execute(statement).all()
    dead = dead_holders(conn, {holder_of(row.holder) for row in rows if row.holder})
    return [(row[0], row[1], row[2]) for row in rows if row.holder and holder_of(row.holder) in dead]


def count_requeue(conn: Connection, tenant: str, call_id: str, number: int, now: float) -> int:
    """Count that a job is enqueued once more; its number, or 0 when somebody else was faster."""
    is_unchanged = (jobs.c.enqueue_count == number, jobs.c.state.in_(("queued", "running")))
    return _requeue(conn, _is_job(tenant, call_id), *is_unchanged, now=now)


def _requeue(conn: Connection, *where: ColumnElement[bool], now: float, **changes: Any) -> int:
    """Change a job that is enqueued once more; its number, or 0 when it is not as these conditions say."""
    values = {"enqueue_count": jobs.c.enqueue_count + 1, "updated_at": now, **changes}
    statement = update(jobs).where(*where).values(values).returning(jobs.c.enqueue_count)
    return int(conn.execute(statement).scalar() or 0)


def overdue_jobs(conn: Connection, before: float, limit: int = 500) -> list[tuple[str, str, int]]:
    """Of all tenants: jobs that should have begun before a time and have not; tenant, call, number."""
    due = func.coalesce(jobs.c.due_at, jobs.c.created_at)
    statement = (
        select(jobs.c.tenant_id, jobs.c.call_id, jobs.c.enqueue_count)
        .where(jobs.c.state == "queued", due < before, jobs.c.updated_at < before)
        .order_by(due)
        .limit(limit)
    )
    return [(row[0], row[1], row[2]) for row in conn.execute(statement)]


def blocked_jobs(conn: Connection, limit: int = 1_000) -> list[tuple[str, str]]:
    """Of all tenants: what waits for its tool; tenant, call."""
    statement = select(jobs.c.tenant_id, jobs.c.call_id).where(jobs.c.state == "blocked").limit(limit)
    return [(row[0], row[1]) for row in conn.execute(statement)]
