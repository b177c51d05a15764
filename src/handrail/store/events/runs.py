"""runs: the newest runs first, a page at a time, from indexes alone; no payload is read.

The end of a run tells when it began, so a list by status walks the ends in the order of the beginnings.
Together with a session, tool, user or agent it walks the beginnings of those, and looks up each end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, exists, literal, or_, select, text, tuple_
from sqlalchemy.engine import Connection

from handrail.core.tell import runs
from handrail.store.codec import fit_column
from handrail.store.events.rows import END_TYPES
from handrail.store.tables.event_log import open_runs, session_events

_e = session_events.c
_end = session_events.alias("ending")
_RUN_COLUMNS = (
    *(_e.run_id, _e.call_id, _e.session_id, _e.tool, _e.user_id, _e.agent, _e.source),
    *(_e.type, _e.code, _e.started_at, _e.at),
)
"""The first seven are the first fields of a `Run`, in their order."""
_FILTERED_COLUMNS = {
    "session": _e.session_id,
    "tool": _e.tool,
    "source": _e.source,
    "user": _e.user_id,
    "agent": _e.agent,
}
# Written out: a partial index is used only where the query says literally what the index is about.
_STARTED = text("session_events.type = 'tool.started'")
_NOT_OUTPUT = text("session_events.type <> 'tool.output_appended'")
_ENDED = text("session_events.type <> 'tool.started' AND session_events.started_at IS NOT NULL")
_END_NOT_OUTPUT = text("ending.type <> 'tool.output_appended'")
_IN_REVIEW = text(f"session_events.code = '{runs.UNKNOWN_OUTCOME}'")


def list_runs(
    conn: Connection, tenant: str, which: runs.RunFilter, *, after: str | None = None, limit: int = 50
) -> list[runs.Run]:
    """The tenant's runs that fit, the newest first, beginning after a cursor."""
    if which.status == "running":
        return runs.page_of_runs(_list_open_runs(conn, tenant), _fitted_filter(which), after, limit)
    query = _candidate_rows(which).where(_e.tenant_id == tenant, *_filters(_fitted_filter(which)))
    if after is not None:
        began_at, run_id = runs.parse_cursor(after)
        query = query.where(
            tuple_(_e.started_at, _e.run_id) < tuple_(literal(began_at), literal(fit_column(run_id)))
        )
    rows = conn.execute(
        query.order_by(_e.started_at.desc(), _e.run_id.desc()).limit(runs.check_limit(limit))
    ).all()
    ends = _ends(conn, tenant, [row.run_id for row in rows if row.type == "tool.started"])
    return [_run(row, ends.get(row.run_id)) for row in rows]


def get_run(conn: Connection, tenant: str, run_id: str) -> runs.Run | None:
    """One run."""
    query = select(*_RUN_COLUMNS).where(_e.tenant_id == tenant, _e.run_id == fit_column(run_id), _NOT_OUTPUT)
    rows = {row.type: row for row in conn.execute(query.order_by(_e.position.desc()))}
    start = rows.pop("tool.started", None)
    return None if start is None else _run(start, next(iter(rows.values()), None))


def _list_open_runs(conn: Connection, tenant: str) -> list[runs.Run]:
    """All that run now: few, and each looked up by its id, so that no index over all runs is walked."""
    ids = select(open_runs.c.tenant_id, open_runs.c.run_id).where(open_runs.c.tenant_id == tenant)
    query = select(*_RUN_COLUMNS).where(_STARTED, _NOT_OUTPUT, tuple_(_e.tenant_id, _e.run_id).in_(ids))
    return [_run(row, None) for row in conn.execute(query)]


def _fitted_filter(which: runs.RunFilter) -> runs.RunFilter:
    """The filter with names as columns hold them."""
    names = {name: getattr(which, name) for name in _FILTERED_COLUMNS}
    columns: dict[str, Any] = {name: fit_column(text) for name, text in names.items() if text is not None}
    return replace(which, **columns)


def _candidate_rows(which: runs.RunFilter) -> Select[Any]:
    """The rows by which runs are found: their starts, or their ends."""
    status, query = which.status, select(*_RUN_COLUMNS)
    if status is None:
        return query.where(_STARTED)
    if any(name is not None for name in (which.session, which.tool, which.user, which.agent)):
        ending = and_(_end.c.tenant_id == _e.tenant_id, _end.c.run_id == _e.run_id, _END_NOT_OUTPUT)
        return query.where(_STARTED, exists().where(ending, *_has_status(status, _end.c)))
    if status == "needs_review":
        return query.where(_IN_REVIEW, _e.started_at.is_not(None), *_has_status(status, _e))
    return query.where(_ENDED, *_has_status(status, _e))


def _has_status(status: runs.RunStatus, of: Any) -> list[ColumnElement[bool]]:
    if status == "needs_review":
        return [of.type == "tool.failed", of.code == runs.UNKNOWN_OUTCOME]
    if status == "failed":
        return [of.type == "tool.failed", or_(of.code.is_(None), of.code != runs.UNKNOWN_OUTCOME)]
    return [of.type == f"tool.{status}"]


def _filters(which: runs.RunFilter) -> list[ColumnElement[bool]]:
    names = [(column, getattr(which, name)) for name, column in _FILTERED_COLUMNS.items()]
    conditions = [column == name for column, name in names if name is not None]
    if which.since is not None:
        conditions.append(_e.started_at >= which.since)
    if which.until is not None:
        conditions.append(_e.started_at < which.until)
    return conditions


def _ends(conn: Connection, tenant: str, run_ids: Iterable[str]) -> dict[str, Any]:
    ids = sorted(run_ids)
    if not ids:
        return {}
    query = select(_e.run_id, _e.type, _e.code, _e.at).where(
        _e.tenant_id == tenant, _e.run_id.in_(ids), _NOT_OUTPUT, _e.type.in_(END_TYPES)
    )
    return {row.run_id: row for row in conn.execute(query)}


def _run(row: Any, end: Any) -> runs.Run:
    over = row if row.type != "tool.started" else end
    status: runs.RunStatus = "running"
    if over is not None:
        status = runs.run_status(over.type.removeprefix("tool."), over.code)
    code, ended_at = (None, None) if over is None else (over.code, over.at)
    values: tuple[Any, ...] = (*row[:7], status, code, row.started_at, ended_at)
    return runs.Run(*values)
