"""reading: events as they were told, page by page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.engine import Connection, Row

from handrail.core.errors import HandrailError
from handrail.core.tell.events import Event
from handrail.store import blobs
from handrail.store.database import Database
from handrail.store.events.rows import decode
from handrail.store.tables import session_events, sessions
from handrail.store.text import column

PAGE = 200
"""Rows of one query."""
_e = session_events.c
_TYPES = {"chunk": "tool.output_appended"}


class Unreadable(HandrailError):
    """An event cannot be read: somebody changed it where it is kept. Run: handrail verify-log"""


def read(db: Database, tenant: str, **filters: Any) -> Iterator[Event]:
    """The tenant's events that fit every filter, oldest first; holds one page at a time."""
    last = 0
    while True:
        with db.reading(tenant) as conn:
            page = events_page(conn, tenant, last, PAGE, **filters)
        yield from page
        if len(page) < PAGE:
            return
        last = page[-1].position


def events_page(
    conn: Connection,
    tenant: str,
    beyond: int,
    limit: int,
    *,
    session: str | None = None,
    tool: str | None = None,
    source: str | None = None,
    status: str | None = None,
    call_id: str | None = None,
    since: float | None = None,
    until: float | None = None,
    after: int = 0,
) -> list[Event]:
    """The next events beyond a position that fit every filter."""
    query = select(session_events).where(_e.tenant_id == tenant)
    for held, wanted in (
        (_e.session_id, session),
        (_e.tool, tool),
        (_e.source, source),
        (_e.call_id, call_id),
    ):
        if wanted is not None:
            query = query.where(held == column(wanted))
    if status is not None:
        query = query.where(_e.type == _TYPES.get(status, f"tool.{status}"))
    if since is not None:
        query = query.where(_e.at >= since)
    if until is not None:
        query = query.where(_e.at < until)
    if after > 0:
        query = query.where(_e.seq > after)
    # Within a session both orders are the same, and each has its index.
    order = _e.seq if session is not None else _e.position
    query = query.where(_e.position > beyond) if beyond else query
    return told(conn, tenant, query.order_by(order).limit(limit))


def session_page(conn: Connection, tenant: str, session: str, after: int, limit: int) -> list[Event]:
    """The next events of one session."""
    query = select(session_events).where(
        _e.tenant_id == tenant, _e.session_id == column(session), _e.seq > after
    )
    return told(conn, tenant, query.order_by(_e.seq).limit(limit))


def tenant_page(conn: Connection, tenant: str, after: int, limit: int) -> list[Event]:
    """The next events of the tenant, by position."""
    query = select(session_events).where(_e.tenant_id == tenant, _e.position > after)
    return told(conn, tenant, query.order_by(_e.position).limit(limit))


def newest_ends(
    conn: Connection, tenant: str, tool: str, user: str | None, agent: str | None, limit: int
) -> list[Event]:
    """How the newest runs of a tool ended that were made for this user and agent, the newest first."""
    mine = (
        _e.user_id.is_(None) if user is None else _e.user_id == column(user),
        _e.agent.is_(None) if agent is None else _e.agent == column(agent),
    )
    begun = select(_e.run_id).where(
        _e.tenant_id == tenant, _e.type == "tool.started", _e.tool == column(tool), *mine
    )
    runs = list(conn.execute(begun.order_by(_e.begun.desc()).limit(limit)).scalars())
    ends = select(session_events).where(
        _e.tenant_id == tenant, _e.run_id.in_(runs), _e.type.in_(("tool.completed", "tool.failed"))
    )
    return told(conn, tenant, ends.order_by(_e.position.desc()))


def tenants_of(conn: Connection, session: str) -> list[str]:
    """The tenants that have a session of this name, as whoever sees them all finds it."""
    query = select(sessions.c.tenant_id).where(sessions.c.id == column(session))
    return list(conn.execute(query).scalars())


def told(conn: Connection, tenant: str, query: Select[Any]) -> list[Event]:
    """The events of these rows, large payloads fetched."""
    rows = conn.execute(query).all()
    return [_event(row, payload) for row, payload in with_payloads(conn, tenant, rows)]


def _event(row: Row[Any], payload: str | None) -> Event:
    try:
        return decode(row._mapping, payload)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise Unreadable(
            f"Event {row.seq} of session {row.session_id!r} of {row.tenant_id} cannot be read: "
            "somebody changed it where it is kept. Run: handrail verify-log"
        ) from error


def with_payloads(
    conn: Connection, tenant: str, rows: Sequence[Row[Any]]
) -> Iterator[tuple[Row[Any], str | None]]:
    """Each row with the content of its blob, if it has one."""
    contents = blobs.get(conn, tenant, [row.blob for row in rows if row.blob is not None])
    for row in rows:
        if row.blob is None:
            yield row, None
        else:
            content = contents.get(row.blob)
            yield row, None if content is None else content.decode("utf-8", "replace")
