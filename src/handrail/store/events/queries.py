"""What can be read from the event log, page by page: events, sessions, the outcome of a call, an export."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, or_, select
from sqlalchemy.engine import Connection, Row

from handrail.core.define.call import Outcome
from handrail.core.errors import HandrailError
from handrail.core.tell.events import Event
from handrail.core.tell.log import EventFilter
from handrail.core.tell.projections import outcome_of
from handrail.store import blobs
from handrail.store.codec import dump, fit_column, load
from handrail.store.database import Database
from handrail.store.events.rows import COLUMNS, EVENT_FIELDS, decode_event
from handrail.store.statements import matching
from handrail.store.tables.event_log import event_heads, session_events, sessions

PAGE_ROWS = 200
"""Rows of one query."""
_e = session_events.c
_TYPE_OF_STATUS = {"chunk": "tool.output_appended"}


class UnreadableEvent(HandrailError):
    """An event cannot be read: somebody changed it where it is kept. Run: handrail verify-log"""


def read_events(db: Database, tenant: str, after: int, which: EventFilter) -> Iterator[Event]:
    """The tenant's events that fit every filter, oldest first; holds one page at a time."""
    last = 0
    while True:
        with db.reading(tenant) as conn:
            page = events_page(conn, tenant, last, PAGE_ROWS, which, after)
        yield from page
        if len(page) < PAGE_ROWS:
            return
        last = page[-1].position


def events_page(
    conn: Connection, tenant: str, beyond: int, limit: int, which: EventFilter, after: int = 0
) -> list[Event]:
    """The next events beyond a position that fit every filter."""
    query = select(session_events).where(_e.tenant_id == tenant)
    for column, name in (
        (_e.session_id, which.session),
        (_e.tool, which.tool),
        (_e.source, which.source),
        (_e.call_id, which.call_id),
    ):
        if name is not None:
            query = query.where(column == fit_column(name))
    if which.status is not None:
        query = query.where(_e.type == _TYPE_OF_STATUS.get(which.status, f"tool.{which.status}"))
    if which.since is not None:
        query = query.where(_e.at >= which.since)
    if which.until is not None:
        query = query.where(_e.at < which.until)
    if after > 0:
        query = query.where(_e.seq > after)
    # Within a session both orders are the same, and each has its index.
    order = _e.seq if which.session is not None else _e.position
    query = query.where(_e.position > beyond) if beyond else query
    return fetch_events(conn, tenant, query.order_by(order).limit(limit))


def newest_end_events(
    conn: Connection, tenant: str, tool: str, user: str | None, agent: str | None, limit: int
) -> list[Event]:
    """How the newest runs of a tool ended that were made for this user and agent, the newest first."""
    started = matching(
        session_events,
        tenant_id=tenant,
        type="tool.started",
        tool=fit_column(tool),
        user_id=None if user is None else fit_column(user),
        agent=None if agent is None else fit_column(agent),
    )
    newest = select(_e.run_id).where(started).order_by(_e.started_at.desc()).limit(limit)
    runs = list(conn.execute(newest).scalars())
    ends = select(session_events).where(
        _e.tenant_id == tenant, _e.run_id.in_(runs), _e.type.in_(("tool.completed", "tool.failed"))
    )
    return fetch_events(conn, tenant, ends.order_by(_e.position.desc()))


def tenants_of_session(conn: Connection, session: str) -> list[str]:
    """Of all tenants: those that have a session of this name."""
    query = select(sessions.c.tenant_id).where(sessions.c.id == fit_column(session))
    return list(conn.execute(query).scalars())


def fetch_events(conn: Connection, tenant: str, query: Select[Any]) -> list[Event]:
    """The events of these rows, large payloads fetched."""
    rows = conn.execute(query).all()
    return [_event(row, payload) for row, payload in with_payloads(conn, tenant, rows)]


def _event(row: Row[Any], payload: str | None) -> Event:
    try:
        return decode_event(row._mapping, payload)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UnreadableEvent(
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


_s = sessions.c

_CALL_SESSION_PREFIX = "call:"
"""The prefix of sessions that belong to one call alone."""


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """A session as a list shows it."""

    id: str
    last_seq: int
    """The number of its newest event."""
    created_at: float
    updated_at: float


def list_sessions(
    conn: Connection,
    tenant: str,
    *,
    after: str | None = None,
    limit: int = 50,
    named: bool = False,
    prefix: str = "",
) -> list[SessionEntry]:
    """The tenant's sessions by id, after a cursor; with `named` without those that belong to one call."""
    query = select(_s.id, _s.last_seq, _s.created_at, _s.updated_at).where(_s.tenant_id == tenant)
    if after is not None:
        query = query.where(_s.id > fit_column(after))
    if named:
        query = query.where(func.substr(_s.id, 1, len(_CALL_SESSION_PREFIX)) != _CALL_SESSION_PREFIX)
        if conn.dialect.name == "sqlite":  # the order is that of bytes, so the index can leave them out
            query = query.where(or_(_s.id < _CALL_SESSION_PREFIX, _s.id >= "call;"))
    if prefix:
        query = query.where(func.substr(_s.id, 1, len(prefix)) == prefix)
    return [SessionEntry(*row) for row in conn.execute(query.order_by(_s.id).limit(limit))]


def last_seq(conn: Connection, tenant: str, session: str) -> int:
    """The number of the newest event of a session; 0 when there is none."""
    query = select(_s.last_seq).where(_s.tenant_id == tenant, _s.id == fit_column(session))
    return conn.execute(query).scalar() or 0


def last_position(conn: Connection, tenant: str) -> int:
    """The number of the tenant's newest event; 0 when there is none."""
    query = select(event_heads.c.position).where(event_heads.c.tenant_id == tenant)
    return conn.execute(query).scalar() or 0


_TYPES_WITHOUT_OUTPUT = EVENT_FIELDS.keys() - {"tool.output_appended"}


def events_of_call(conn: Connection, tenant: str, call_id: str) -> list[Event]:
    """The events of a call, oldest first, without its output."""
    of_call = matching(session_events, tenant_id=tenant, call_id=fit_column(call_id))
    without_output = _e.type.in_(_TYPES_WITHOUT_OUTPUT)
    query = select(session_events).where(of_call, without_output).order_by(_e.position)
    return fetch_events(conn, tenant, query)


def outcome_of_call(conn: Connection, tenant: str, call_id: str) -> Outcome | None:
    """The outcome of a call, so far; None when it has no events. Its output is not read."""
    return outcome_of(events_of_call(conn, tenant, call_id))


def tenants_with_events(conn: Connection) -> list[str]:
    """Every tenant that has a log, registered or not, by name: for a connection of the system."""
    return sorted(conn.execute(select(event_heads.c.tenant_id)).scalars())


_EXPORTED_COLUMNS = {"begun" if name == "started_at" else name: name for name in COLUMNS if name != "payload"}
"""The column of each exported field; the format of exports has a name of its own for one of them."""


def export_lines(db: Database, tenant: str, session: str | None = None) -> Iterator[str]:
    """The tenant's events, or those of one session, oldest first: a line of JSON each.

    A payload stands in its line as it stands in the database, also a large one.
    """
    last = 0
    while True:
        query = select(session_events).where(_e.tenant_id == tenant, _e.position > last)
        if session is not None:
            query = query.where(_e.session_id == fit_column(session))
        with db.reading(tenant) as conn:
            rows = conn.execute(query.order_by(_e.position).limit(PAGE_ROWS)).all()
            lines = [
                _format_line(row, row.payload if payload is None else payload)
                for row, payload in with_payloads(conn, tenant, rows)
            ]
        yield from lines
        if len(rows) < PAGE_ROWS:
            return
        last = rows[-1].position


def _format_line(row: Any, payload: str) -> str:
    fields = dump({field: getattr(row, column) for field, column in _EXPORTED_COLUMNS.items()})
    return f'{fields[:-1]},"payload":{payload or "null"}}}'


def parse_line(line: str) -> Event:
    """The event of an exported line."""
    row = load(line)
    return decode_event(row, dump(row["payload"]))
