"""append: gives encoded events their numbers and hashes, and writes them, in one transaction.

First the tenant's head is raised, which locks it until the commit: numbers are given in the order in which
they become visible, so a reader who saw number n will never find a smaller one that is new. Then the ends of
runs that another process has taken over are dropped.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from sqlalchemy import Connection

from handrail.core.tell.events import ToolStarted
from handrail.store import blobs
from handrail.store.engines import enter_tenant
from handrail.store.events.notifications import notify_sessions
from handrail.store.events.rows import COLUMNS, END_TYPES, EncodedEvent, chain_hash

_log = logging.getLogger("handrail.store")

FIRST_HASH = ""
"""The hash before the first event of a session."""
_ROWS_PER_STATEMENT = 1_000
"""Rows in one statement; a database takes only so many parameters."""
NumberedEvent = tuple[EncodedEvent, int, int]
"""An event with its number in the session and its position in the tenant."""


def append(conn: Connection, rows: Sequence[EncodedEvent], holder: str) -> list[NumberedEvent]:
    """Write rows of any tenants; those that were written, numbered."""
    tenants: dict[str, list[EncodedEvent]] = {}
    for row in rows:
        tenants.setdefault(row.tenant, []).append(row)
    heads: dict[str, int] = {}
    for tenant in sorted(tenants):  # always in this order, before any other lock: nobody waits in a circle
        enter_tenant(conn, tenant)
        heads[tenant] = _raise_head(conn, tenant, len(tenants[tenant]))
    numbered: list[NumberedEvent] = []
    for tenant, position in heads.items():
        if len(heads) > 1:
            enter_tenant(conn, tenant)
        numbered += _append(conn, tenant, tenants[tenant], position, holder)
    return numbered


def _append(
    conn: Connection, tenant: str, events: Sequence[EncodedEvent], position: int, holder: str
) -> list[NumberedEvent]:
    rows, starts = _without_fenced_ends(conn, tenant, events, holder)
    if len(rows) < len(events):
        _raise_head(conn, tenant, len(rows) - len(events))
    if not rows:
        return []
    names = list(dict.fromkeys([row.session for row in rows]))
    heads = _session_heads(conn, tenant, names)
    numbered: list[NumberedEvent] = []
    values: list[Any] = []
    for row in rows:
        session, at, kind, blob = row.session, row.event.at, row.type, row.blob
        seq, previous = heads.get(session) or (0, FIRST_HASH)
        seq += 1
        position += 1
        started_at = starts.get(row.run_id) if row.run_id is not None and kind in _RUN_TYPES else None
        row_hash = chain_hash(previous, tenant, session, seq, position, started_at, row.content)
        heads[session] = (seq, row_hash)
        numbered.append((row, seq, position))
        values += (tenant, session, seq, position, kind, at, started_at)
        values += row.names
        values += (row_hash, blob, row.payload if blob is None else "")
    now = rows[-1].event.at
    _insert(conn, _EVENTS, values)
    if large := {row.blob: row.payload for row in rows if row.blob is not None}:
        blobs.put(conn, tenant, large, now)
    for row in rows:
        if row.files:
            blobs.put(conn, tenant, row.files, now)
    sessions = ((tenant, name, *heads[name], now, now) for name in sorted(names))
    _insert(conn, _SESSIONS, list(chain.from_iterable(sessions)))
    _insert(conn, _OPEN, _new_open_runs(tenant, rows, holder))
    notify_sessions(conn, tenant, names)
    return numbered


_RUN_TYPES = END_TYPES | {"tool.started"}


def _without_fenced_ends(
    conn: Connection, tenant: str, rows: Sequence[EncodedEvent], holder: str
) -> tuple[Sequence[EncodedEvent], dict[str, float]]:
    """The rows without ends of runs that another process holds by now; and when each run began."""
    starts: dict[str, float] = {}
    ended: list[str] = []
    for row in rows:
        if row.run_id is not None:
            if row.type == "tool.started":
                starts.setdefault(row.run_id, row.event.at)
            elif row.type in END_TYPES:
                ended.append(row.run_id)
    if not ended:
        return rows, starts
    # Those that began here too: a run that was taken over may be started anew under its own id.
    closed = conn.exec_driver_sql(*_where_in(conn, _CLOSE, ended, (holder, tenant)))
    all_starts = starts | {run_id: float(started_at) for run_id, started_at in closed}
    if len(all_starts) == len(starts) == len(ended) == len(set(ended)):
        return rows, all_starts
    open_runs = set(all_starts)
    unfenced = []
    for row in rows:
        if row.run_id is not None and row.type in END_TYPES:
            if row.run_id not in open_runs:
                _log.warning(
                    "%s of run %s was dropped: the run has ended, or another process has it in hand",
                    row.type,
                    row.run_id,
                )
                continue
            open_runs.discard(row.run_id)
        unfenced.append(row)
    return unfenced, all_starts


def _raise_head(conn: Connection, tenant: str, by: int) -> int:
    """The tenant's position before these events; nobody else of this tenant appends until the commit."""
    row = conn.exec_driver_sql(_with_placeholders(conn, _HEAD), (tenant, by)).one()
    return int(row[0]) - by


def _session_heads(conn: Connection, tenant: str, sessions: list[str]) -> dict[str, tuple[int, str]]:
    """The last number and hash of each session that has any."""
    rows = conn.exec_driver_sql(*_where_in(conn, _LAST, sessions, (tenant,)))
    return {name: (last, digest) for name, last, digest in rows}


def _new_open_runs(tenant: str, rows: Sequence[EncodedEvent], holder: str) -> list[Any]:
    """The runs that began and did not end in this group."""
    ended = {row.run_id for row in rows if row.type in END_TYPES}
    values: list[Any] = []
    for row in rows:
        event = row.event
        if isinstance(event, ToolStarted) and row.run_id not in ended:
            call_id, _, tool, *_ = row.names
            values += (tenant, row.run_id, call_id, row.session, tool, holder, event.repeatable, event.at)
    return values


_EVENTS = (f"INSERT INTO session_events ({', '.join(COLUMNS)}) VALUES ", len(COLUMNS), "")
_SESSIONS = (
    "INSERT INTO sessions (tenant_id, id, last_seq, last_hash, created_at, updated_at) VALUES ",
    6,
    " ON CONFLICT (tenant_id, id) DO UPDATE SET last_seq = excluded.last_seq,"
    " last_hash = excluded.last_hash, updated_at = excluded.updated_at",
)
_OPEN = (
    "INSERT INTO open_runs (tenant_id, run_id, call_id, session_id, tool, holder, repeatable, started_at)"
    " VALUES ",
    8,
    " ON CONFLICT (tenant_id, run_id) DO NOTHING",
)
_HEAD = (
    "INSERT INTO event_heads (tenant_id, position) VALUES (?, ?) ON CONFLICT (tenant_id)"
    " DO UPDATE SET position = event_heads.position + excluded.position RETURNING position"
)
_LAST = "SELECT id, last_seq, last_hash FROM sessions WHERE tenant_id = ? AND id"
_CLOSE = "DELETE FROM open_runs WHERE holder = ? AND tenant_id = ? AND run_id"


def _insert(conn: Connection, into: tuple[str, int, str], values: Sequence[Any]) -> None:
    """Many rows in one statement: the database takes them in one go, beside whatever else runs here.

    A statement for each row would have to wait each time until Python lets this thread go on.
    """
    step = _ROWS_PER_STATEMENT * into[1]
    for start in range(0, len(values), step):
        part = tuple(values[start : start + step])
        conn.exec_driver_sql(_insert_statement(*into, len(part) // into[1], conn.dialect.name), part)


@lru_cache(maxsize=64)
def _insert_statement(head: str, columns: int, tail: str, rows: int, dialect: str) -> str:
    mark = "?" if dialect == "sqlite" else "%s"
    row = f"({', '.join([mark] * columns)})"
    return f"{head}{', '.join([row] * rows)}{tail}"


def _with_placeholders(conn: Connection, sql: str) -> str:
    return sql if conn.dialect.name == "sqlite" else sql.replace("?", "%s")


def _where_in(
    conn: Connection, sql: str, keys: list[str], before: tuple[Any, ...]
) -> tuple[str, tuple[Any, ...]]:
    """The statement with its last condition: one of these keys, however many, in a single parameter."""
    returning = " RETURNING run_id, started_at" if sql is _CLOSE else ""
    if conn.dialect.name == "sqlite":
        return f"{sql} IN (SELECT value FROM json_each(?)){returning}", (*before, json.dumps(keys))
    return f"{_with_placeholders(conn, sql)} = ANY(%s){returning}", (*before, keys)
