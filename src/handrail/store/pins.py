"""Pins: which definitions of foreign tools were accepted, and what waits; durable, and the same for all."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.engine import Connection, Row

from handrail.core.find.pins import Pin, PinChanges
from handrail.core.find.visibility import DEFAULT_TENANT_ID
from handrail.store.codec import dump_document, load_document
from handrail.store.database import Database
from handrail.store.statements import insert_if_absent, matching
from handrail.store.tables.catalogue import mcp_pins


def read_pins(conn: Connection, tenant: str, server: str) -> dict[str, Pin]:
    """The pins of a server: those that hold for all tenants, and in their place the tenant's own."""
    query = select(mcp_pins).where(
        mcp_pins.c.tenant_id.in_((tenant, DEFAULT_TENANT_ID)), mcp_pins.c.server == server
    )
    rows = sorted(conn.execute(query), key=lambda row: row.tenant_id != DEFAULT_TENANT_ID)
    return {row.tool: _pin(row) for row in rows}


def record_pin_changes(
    conn: Connection, tenant: str, server: str, sighting: PinChanges, *, now: float
) -> None:
    """Record what a server offers. What is accepted stays accepted, whoever saw something else first."""
    for pin in sighting.first:
        insert_if_absent(conn, mcp_pins, _row(tenant, server, pin, now))
    for pin in sighting.held:
        if not insert_if_absent(conn, mcp_pins, _row(tenant, server, pin, now)):
            _update(conn, tenant, server, pin.tool, pending_definition=dump_document(pin.held))
    for name in sighting.back:
        _update(conn, tenant, server, name, pending_definition=None)


def accept_pins(
    conn: Connection, tenant: str, server: str, tool: str | None, *, by: str | None, now: float
) -> list[Pin]:
    """Accept what is pending, of one tool or of all; the pins as they are now."""
    of_server = matching(mcp_pins, tenant_id=tenant, server=server)
    query = select(mcp_pins).where(of_server, mcp_pins.c.pending_definition.is_not(None))
    if tool is not None:
        query = query.where(mcp_pins.c.tool == tool)
    pending = conn.execute(query.order_by(mcp_pins.c.tool)).all()
    for row in pending:
        accepted = {"accepted_definition": row.pending_definition, "accepted_at": now, "accepted_by": by}
        _update(conn, tenant, server, row.tool, **accepted, pending_definition=None)
    return [Pin(row.tool, load_document(row.pending_definition), None, now, by) for row in pending]


def delete_pins(conn: Connection, tenant: str, server: str) -> int:
    """Forget a server; how many of its tools were known."""
    of_server = matching(mcp_pins, tenant_id=tenant, server=server)
    return conn.execute(delete(mcp_pins).where(of_server)).rowcount


def _update(conn: Connection, tenant: str, server: str, tool: str, **values: Any) -> None:
    pin = matching(mcp_pins, tenant_id=tenant, server=server, tool=tool)
    conn.execute(update(mcp_pins).where(pin).values(values))


def _row(tenant: str, server: str, pin: Pin, now: float) -> dict[str, Any]:
    return {
        "tenant_id": tenant,
        "server": server,
        "tool": pin.tool,
        "accepted_definition": dump_document(pin.accepted),
        "pending_definition": dump_document(pin.held),
        "accepted_at": None if pin.accepted is None else now,
        "accepted_by": pin.accepted_by,
    }


def _pin(row: Row[Any]) -> Pin:
    accepted, held = load_document(row.accepted_definition), load_document(row.pending_definition)
    return Pin(row.tool, accepted, held, row.accepted_at, row.accepted_by)


class StorePins:
    """The port of pins in rows."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def read(self, tenant: str, server: str, /) -> dict[str, Pin]:
        return await self._db.read(tenant, read_pins, tenant, server)

    async def note(self, tenant: str, server: str, seen: PinChanges, /) -> None:
        now = self._db.clock.now()
        await self._db.write(tenant, record_pin_changes, tenant, server, seen, now=now)

    async def accept(
        self, tenant: str, server: str, tool: str | None = None, *, by: str | None = None
    ) -> list[Pin]:
        now = self._db.clock.now()
        return await self._db.write(tenant, accept_pins, tenant, server, tool, by=by, now=now)

    async def forget(self, tenant: str, server: str, /) -> int:
        return await self._db.write(tenant, delete_pins, tenant, server)
