"""runs: the newest runs first, a page at a time, from indexes alone; no payload is read.

The end of a run tells when it began, so a list by status walks the ends in the order of the beginnings.
Together with a session, tool, user or agent it walks the beginnings of those, and looks up each end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, exists, literal, or_, select, text, tuple_
from sqlalchemy.engine import Connection

from handrail.core.tell.runs import UNKNOWN, Run, RunFilter, RunStatus, bounded, place_of, status_of
from handrail.store.tables import open_runs, session_events
from handrail.store.text import column

_e = session_events.c
_end = session_events.alias("ending")
_SHOWN = (
    _e.run_id,
    _e.call_id,
    _e.session_id,
    _e.tool,
    _e.user_id,
    _e.agent,
    _e.source,
    _e.type,
    _e.code,
    _e.begun,
    _e.at,
)
# Written out: a partial index is used only where the query says literally what the index is about.
_STARTED = text("session_events.type = 'tool.started'")
_NO_CHUNK = text("session_events.type <> 'tool.output_appended'")
_ENDED = text("session_events.type <> 'tool.started' AND session_events.begun IS NOT NULL")
_END_IS_NO_CHUNK = text("ending.type <> 'tool.output_appended'")
_IN_REVIEW = text(f"session_events.code = '{UNKNOWN}'")
_ENDS = ("tool.completed", "tool.failed", "tool.cancelled")


def list_runs(
    conn: Connection, tenant: str, which: RunFilter, *, after: str | None = None, limit: int = 50
) -> list[Run]:
    """The tenant's runs that fit, the newest first, beginning after a cursor."""
    query, index = _query(which)
    query = query.where(_e.tenant_id == tenant, *_filters(which))
    if after is not None:
        began_at, run_id = place_of(after)
        query = query.where(tuple_(_e.begun, _e.run_id) < tuple_(literal(began_at), literal(column(run_id))))
    query = query.order_by(_e.begun.desc(), _e.run_id.desc()).limit(bounded(limit))
    if index is not None:
        query = query.with_hint(session_events, f"INDEXED BY {index}", "sqlite")
    rows = conn.execute(query).all()
    begun = [row.run_id for row in rows if row.type == "tool.started"]
    ends = {} if which.status == "running" else _ends(conn, tenant, begun)
    return [_run(row, ends.get(row.run_id)) for row in rows]


def get_run(conn: Connection, tenant: str, run_id: str) -> Run | None:
    """One run."""
    query = select(*_SHOWN).where(_e.tenant_id == tenant, _e.run_id == column(run_id), _NO_CHUNK)
    rows = {row.type: row for row in conn.execute(query.order_by(_e.position.desc()))}
    begun = rows.pop("tool.started", None)
    return None if begun is None else _run(begun, next(iter(rows.values()), None))


def _query(which: RunFilter) -> tuple[Select[Any], str | None]:
    """What to walk, and which index SQLite, which keeps no statistics, is to take for it."""
    query = select(*_SHOWN)
    index = _index(which)
    if which.status is None:
        return query.where(_STARTED), index or "ix_runs_begun"
    if which.status == "running":
        is_open = and_(open_runs.c.tenant_id == _e.tenant_id, open_runs.c.run_id == _e.run_id)
        return query.join(open_runs, is_open).where(_STARTED, _NO_CHUNK), None
    if index is not None and index != "ix_runs_source":
        ending = and_(_end.c.tenant_id == _e.tenant_id, _end.c.run_id == _e.run_id, _END_IS_NO_CHUNK)
        return query.where(_STARTED, exists().where(ending, *_is(which.status, _end.c))), index
    if which.status == "needs_review":
        return query.where(_IN_REVIEW, _e.begun.is_not(None), *_is(which.status, _e)), "ix_runs_review"
    return query.where(_ENDED, *_is(which.status, _e)), "ix_runs_ended"


def _index(which: RunFilter) -> str | None:
    """The index of the filter that leaves the fewest runs, as far as one can tell."""
    for name in ("session", "tool", "user", "agent", "source"):
        if getattr(which, name) is not None:
            return f"ix_runs_{name}"
    return None


def _is(status: RunStatus, of: Any) -> list[ColumnElement[bool]]:
    if status == "needs_review":
        return [of.type == "tool.failed", of.code == UNKNOWN]
    if status == "failed":
        return [of.type == "tool.failed", or_(of.code.is_(None), of.code != UNKNOWN)]
    return [of.type == f"tool.{status}"]


def _filters(which: RunFilter) -> list[ColumnElement[bool]]:
    wanted = (
        (_e.session_id, which.session),
        (_e.tool, which.tool),
        (_e.source, which.source),
        (_e.user_id, which.user),
        (_e.agent, which.agent),
    )
    found = [held == column(value) for held, value in wanted if value is not None]
    if which.since is not None:
        found.append(_e.begun >= which.since)
    if which.until is not None:
        found.append(_e.begun < which.until)
    return found


def _ends(conn: Connection, tenant: str, run_ids: Iterable[str]) -> dict[str, Any]:
    wanted = sorted(run_ids)
    if not wanted:
        return {}
    query = select(_e.run_id, _e.type, _e.code, _e.at).where(
        _e.tenant_id == tenant, _e.run_id.in_(wanted), _NO_CHUNK, _e.type.in_(_ENDS)
    )
    query = query.with_hint(session_events, "INDEXED BY ix_runs_run", "sqlite")
    return {row.run_id: row for row in conn.execute(query)}


def _run(row: Any, end: Any) -> Run:
    over = row if row.type != "tool.started" else end
    status: RunStatus = "running" if over is None else status_of(over.type.removeprefix("tool."), over.code)
    return Run(
        id=row.run_id,
        call_id=row.call_id,
        session=row.session_id,
        tool=row.tool,
        user=row.user_id,
        agent=row.agent,
        source=row.source,
        status=status,
        code=None if over is None else over.code,
        began_at=row.begun,
        ended_at=None if over is None else over.at,
    )
