"""export: a log as JSON Lines, one event a line, with everything that is needed to check and read it back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import select

from handrail.core.tell.events import Event
from handrail.store.database import Database
from handrail.store.events.reading import PAGE, with_payloads
from handrail.store.events.rows import COLUMNS, decode
from handrail.store.tables import session_events
from handrail.store.text import column, dump, load

_e = session_events.c
_FIELDS = tuple(name for name in COLUMNS if name != "payload")


def export(db: Database, tenant: str, session: str | None = None) -> Iterator[str]:
    """The tenant's events, or those of one session, oldest first: a line of JSON each.

    A payload stands in its line as it stands in the database, also a large one.
    """
    last = 0
    while True:
        query = select(session_events).where(_e.tenant_id == tenant, _e.position > last)
        if session is not None:
            query = query.where(_e.session_id == column(session))
        with db.reading(tenant) as conn:
            rows = conn.execute(query.order_by(_e.position).limit(PAGE)).all()
            lines = [
                _line(row, row.payload if payload is None else payload)
                for row, payload in with_payloads(conn, tenant, rows)
            ]
        yield from lines
        if len(rows) < PAGE:
            return
        last = rows[-1].position


def _line(row: Any, payload: str) -> str:
    fields = dump({name: getattr(row, name) for name in _FIELDS})
    return f'{fields[:-1]},"payload":{payload or "null"}}}'


def read_line(line: str) -> Event:
    """The event of an exported line."""
    row = load(line)
    return decode(row, dump(row["payload"]))
