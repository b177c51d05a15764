"""append: gives encoded events their numbers and hashes, and writes them, in one transaction.

First the ends of runs that another process has taken over are dropped. Then the tenant's head is raised,
which locks it until the commit: numbers are given in the order in which they become visible, so a reader who
saw number n will never find a smaller one that is new.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection

from handrail.store.events.rows import COLUMNS, ENDS, Written, chained

_log = logging.getLogger("handrail.store")

FIRST = ""
"""The hash before the first event of a session."""
_CHUNKS = (256, 64, 16, 4, 1)
"""Rows in one statement. Few sizes, so that the database knows each statement already."""
Numbered = tuple[Written, int, int]
"""An event with its number in the session and its position in the tenant."""


def append(conn: Connection, tenant: str, rows: Sequence[Written], holder: str) -> list[Numbered]:
    """Write the rows of one tenant, whose scope the connection has; those that were written, numbered."""
    rows, begun = _unfenced(conn, tenant, rows, holder)
    if not rows:
        return []
    names = list(dict.fromkeys([row.session for row in rows]))
    position = _raise_head(conn, tenant, len(rows))
    heads = _heads(conn, tenant, names)
    numbered: list[Numbered] = []
    values: list[tuple[Any, ...]] = []
    for row in rows:
        session, event = row.session, row.event
        seq, previous = heads.get(session) or (0, FIRST)
        seq += 1
        position += 1
        since = begun.get(row.run_id) if row.run_id is not None and row.type in _OF_RUNS else None
        new = chained(previous, tenant, session, seq, position, since, row.said)
        heads[session] = (seq, new)
        numbered.append((row, seq, position))
        place = (tenant, session, seq, position, row.type, event.at, since)
        blob = row.blob
        values.append((*place, *row.names, new, blob, "" if blob is not None else row.payload))
    now = rows[-1].event.at
    _insert(conn, _EVENTS, values)
    large = {row.blob: row.payload for row in rows if row.blob is not None}
    _insert(conn, _BLOBS, [(tenant, key, *_content(text), now) for key, text in sorted(large.items())])
    _insert(conn, _SESSIONS, [(tenant, name, *heads[name], now, now) for name in sorted(names)])
    _open(conn, tenant, rows, holder)
    return numbered


_OF_RUNS = ENDS | {"tool.started"}


def _unfenced(
    conn: Connection, tenant: str, rows: Sequence[Written], holder: str
) -> tuple[Sequence[Written], dict[str, float]]:
    """The rows without ends that are no longer ours to tell; and when each run began."""
    begun: dict[str, float] = {}
    ended: list[str] = []
    for row in rows:
        if row.run_id is not None:
            if row.type == "tool.started":
                begun.setdefault(row.run_id, row.event.at)
            elif row.type in ENDS:
                ended.append(row.run_id)
    if not ended:
        return rows, begun
    # Those that began here too: a run that was taken over may be begun anew under its own id.
    closed = conn.exec_driver_sql(*_among(conn, _CLOSE, ended, (holder, tenant)))
    known = begun | {run_id: float(since) for run_id, since in closed}
    if len(known) == len(begun) == len(ended) == len(set(ended)):
        return rows, known
    left = set(known)
    kept = []
    for row in rows:
        if row.run_id is not None and row.type in ENDS:
            if row.run_id not in left:
                _log.warning(
                    "%s of run %s was dropped: the run has ended, or another process has it in hand",
                    row.type,
                    row.run_id,
                )
                continue
            left.discard(row.run_id)
        kept.append(row)
    return kept, known


def _raise_head(conn: Connection, tenant: str, by: int) -> int:
    """The tenant's position before these events; nobody else of this tenant appends until the commit."""
    row = conn.exec_driver_sql(_marked(conn, _HEAD), (tenant, by)).one()
    return int(row[0]) - by


def _heads(conn: Connection, tenant: str, sessions: list[str]) -> dict[str, tuple[int, str]]:
    """The last number and hash of each session that has any."""
    found = conn.exec_driver_sql(*_among(conn, _LAST, sessions, (tenant,)))
    return {name: (last, digest) for name, last, digest in found}


def _open(conn: Connection, tenant: str, rows: Sequence[Written], holder: str) -> None:
    """Note the runs that began and did not end in this group."""
    over = {row.run_id for row in rows if row.type in ENDS}
    begun = [row for row in rows if row.type == "tool.started" and row.run_id not in over]
    values = [
        (
            tenant,
            row.run_id,
            row.names[0],
            row.session,
            row.names[2],
            holder,
            bool(getattr(row.event, "repeatable", False)),
            row.event.at,
        )
        for row in begun
    ]
    _insert(conn, _OPEN, values)


def _content(text: str) -> tuple[bytes, int]:
    content = text.encode()
    return content, len(content)


_EVENTS = (f"INSERT INTO session_events ({', '.join(COLUMNS)}) VALUES ", len(COLUMNS), "")
_BLOBS = (
    "INSERT INTO blobs (tenant_id, hash, content, size, created_at) VALUES ",
    5,
    " ON CONFLICT (tenant_id, hash) DO NOTHING",
)
_SESSIONS = (
    "INSERT INTO sessions (tenant_id, id, last_seq, last_hash, created_at, updated_at) VALUES ",
    6,
    " ON CONFLICT (tenant_id, id) DO UPDATE SET last_seq = excluded.last_seq,"
    " last_hash = excluded.last_hash, updated_at = excluded.updated_at",
)
_OPEN = (
    "INSERT INTO open_runs (tenant_id, run_id, call_id, session_id, tool, holder, repeatable, started_at) VALUES ",
    8,
    " ON CONFLICT (tenant_id, run_id) DO NOTHING",
)
_HEAD = (
    "INSERT INTO event_heads (tenant_id, position) VALUES (?, ?) ON CONFLICT (tenant_id)"
    " DO UPDATE SET position = event_heads.position + excluded.position RETURNING position"
)
_LAST = "SELECT id, last_seq, last_hash FROM sessions WHERE tenant_id = ? AND id"
_CLOSE = "DELETE FROM open_runs WHERE holder = ? AND tenant_id = ? AND run_id"


def _insert(
    conn: Connection, into: tuple[str, int, str], values: Sequence[tuple[Any, ...]]
) -> None:
    """Many rows in one statement: the database takes them in one go, beside whatever else runs here."""
    for part in _chunks(values):
        conn.exec_driver_sql(_statement(*into, len(part), conn.dialect.name), _flat(part))


def _flat(rows: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple([value for row in rows for value in row])


def _chunks(values: Sequence[tuple[Any, ...]]) -> Iterator[Sequence[tuple[Any, ...]]]:
    at = 0
    for size in _CHUNKS:
        while len(values) - at >= size:
            yield values[at : at + size]
            at += size


@cache
def _statement(head: str, columns: int, tail: str, rows: int, dialect: str) -> str:
    mark = "?" if dialect == "sqlite" else "%s"
    one = f"({', '.join([mark] * columns)})"
    return f"{head}{', '.join([one] * rows)}{tail}"


def _marked(conn: Connection, sql: str) -> str:
    return sql if conn.dialect.name == "sqlite" else sql.replace("?", "%s")


def _among(
    conn: Connection, sql: str, keys: list[str], before: tuple[Any, ...]
) -> tuple[str, tuple[Any, ...]]:
    """The statement with its last condition: one of these keys, however many, in a single parameter."""
    returning = " RETURNING run_id, started_at" if sql is _CLOSE else ""
    if conn.dialect.name == "sqlite":
        return f"{sql} IN (SELECT value FROM json_each(?)){returning}", (*before, json.dumps(keys))
    return f"{_marked(conn, sql)} = ANY(%s){returning}", (*before, keys)
