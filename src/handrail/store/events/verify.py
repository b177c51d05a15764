"""verify: walks the chains of a tenant's sessions and names what does not hold.

Each row's hash is over the one before it, so a row that was changed, put in or taken out shows, as does a
session that was cut short: its head still knows the last number. Whoever can write all tables and the code
can make a new chain; keep the last hashes, or an export, elsewhere to see that too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import func, select, union_all
from sqlalchemy.engine import Connection

from handrail.core.frozen_record import record
from handrail.store import blobs
from handrail.store.database import Database
from handrail.store.events.append import FIRST_HASH
from handrail.store.events.queries import last_position
from handrail.store.events.rows import NAME_COLUMNS, chain_hash, hash_input
from handrail.store.tables.event_log import session_events, sessions

_PAGE = 1_000
_e, _s = session_events.c, sessions.c


@record
class LogFlaw:
    """One thing that is wrong with a log."""

    tenant: str
    session: str | None
    """None where the tenant's log as a whole is meant."""
    seq: int | None
    what: str

    def __str__(self) -> str:
        where = f"tenant {self.tenant}"
        if self.session is not None:
            where += f", session {self.session}"
        if self.seq is not None:
            where += f", event {self.seq}"
        return f"{where}: {self.what}"


@record
class VerifiedSession:
    """A session that was walked to its end."""

    session: str
    events: int
    last_hash: str


def verify(db: Database, tenant: str, session: str | None = None) -> Iterator[LogFlaw | VerifiedSession]:
    """Walk one session or all of a tenant, page by page; each flaw as it is found, each session when done."""
    if session is not None:
        yield from _verify_session(db, tenant, session)
        return
    with db.reading(tenant) as conn:  # what is told meanwhile is beyond this and not looked at
        head = last_position(conn, tenant)
    count, name = 0, None
    while (name := _next_session(db, tenant, name)) is not None:
        for result in _verify_session(db, tenant, name, head):
            if isinstance(result, VerifiedSession):
                count += result.events
            yield result
    if count < head:
        yield LogFlaw(
            tenant, None, None, f"{head} events were written and {count} are there: some are missing"
        )
    if _has_uncounted_events(db, tenant):
        yield LogFlaw(
            tenant, None, None, "some events are not counted: they were put in, or the count was lost"
        )


def _has_uncounted_events(db: Database, tenant: str) -> bool:
    """Whether there are events beyond the number that the tenant's head says were written."""
    newest = select(func.max(_e.position)).where(_e.tenant_id == tenant)
    with db.reading(tenant) as conn:  # in this order: a head is never behind what was there before
        last = conn.execute(newest).scalar() or 0
        return last > last_position(conn, tenant)


def _next_session(db: Database, tenant: str, after: str | None) -> str | None:
    """The next session by name that has events or a head; in the order of the database, whatever that is."""
    both = []
    for name, of in ((_s.id, _s.tenant_id), (_e.session_id, _e.tenant_id)):
        query = select(func.min(name).label("name")).where(of == tenant)
        both.append(query if after is None else query.where(name > after))
    with db.reading(tenant) as conn:
        return conn.execute(select(func.min(union_all(*both).subquery().c.name))).scalar()


def _verify_session(
    db: Database, tenant: str, session: str, upto: int | None = None
) -> Iterator[LogFlaw | VerifiedSession]:
    seq, previous, count = 0, FIRST_HASH, 0
    with db.reading(tenant) as conn:
        head = conn.execute(
            select(_s.last_seq, _s.last_hash).where(_s.tenant_id == tenant, _s.id == session)
        ).first()
    if head is None:
        yield LogFlaw(
            tenant, session, None, "it has events, but no head that says how many: it was put in or cut"
        )
    while True:
        with db.reading(tenant) as conn:
            rows = _page(conn, tenant, session, seq)
        for row in rows:
            if head is not None and row.seq == head.last_seq and row.hash != head.last_hash:
                yield LogFlaw(tenant, session, row.seq, "it is not the event that the session ended with")
            if row.seq != seq + 1:
                missing = f"event {seq + 1}" if row.seq == seq + 2 else f"events {seq + 1} to {row.seq - 1}"
                yield LogFlaw(tenant, session, seq + 1, f"{missing} missing")
            else:
                what = _row_flaw(row, previous) or _blob_flaw(db, row)
                if what is not None:
                    yield LogFlaw(tenant, session, row.seq, what)
            seq, previous = row.seq, row.hash
            count += upto is None or row.position <= upto
        if len(rows) < _PAGE:
            break
    if head is not None and seq < head.last_seq:
        yield LogFlaw(
            tenant, session, seq + 1, f"the session had {head.last_seq} events; those from here on are gone"
        )
    yield VerifiedSession(session, count, previous)


def _page(conn: Connection, tenant: str, session: str, after: int) -> Any:
    query = select(session_events).where(_e.tenant_id == tenant, _e.session_id == session, _e.seq > after)
    return conn.execute(query.order_by(_e.seq).limit(_PAGE)).all()


def _row_flaw(row: Any, previous: str) -> str | None:
    names = tuple(getattr(row, name) for name in NAME_COLUMNS)
    content = hash_input(row.type, row.at, names, row.blob, row.payload)
    position = (row.tenant_id, row.session_id, row.seq, row.position, row.started_at)
    if not _is_well_formed(names, row) or chain_hash(previous, *position, content) != row.hash:
        return "it was changed, or the event before it was replaced: its hash does not fit"
    return None


def _is_well_formed(names: tuple[Any, ...], row: Any) -> bool:
    """Whether we could have written the row so. Some that we could not would have the hash of one we did."""
    if not all(name is None or str(name).isprintable() for name in names):
        return False
    return bool(row.payload.startswith("{") if row.blob is None else row.payload == "")


def _blob_flaw(db: Database, row: Any) -> str | None:
    """One at a time: they are large."""
    if row.blob is None:
        return None
    with db.reading(row.tenant_id) as conn:
        content = blobs.get(conn, row.tenant_id, [row.blob]).get(row.blob)
    if content is None:
        return f"its payload, blob {row.blob}, is missing"
    return None if blobs.hash_of(content) == row.blob else f"its payload, blob {row.blob}, was changed"
