"""How a call stands, as its events tell."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.engine import Connection

from handrail.core.define.call import Outcome
from handrail.core.tell.events import Event
from handrail.core.tell.outcome import outcome_of
from handrail.store.events.reading import told
from handrail.store.tables import session_events
from handrail.store.text import column

_TELLING = (
    "tool.needs_approval",
    "tool.approved",
    "tool.started",
    "tool.completed",
    "tool.failed",
    "tool.cancelled",
)


def telling_in(conn: Connection, tenant: str, call_id: str) -> list[Event]:
    """What is told of a call, oldest first, without its output."""
    events = session_events.c
    of_call = (events.tenant_id == tenant, events.call_id == column(call_id), events.type.in_(_TELLING))
    return told(conn, tenant, select(session_events).where(*of_call).order_by(events.position))


def outcome_in(conn: Connection, tenant: str, call_id: str) -> Outcome | None:
    """The outcome of a call, so far; None when nothing is told of it. Its output is not read."""
    return outcome_of(telling_in(conn, tenant, call_id))
