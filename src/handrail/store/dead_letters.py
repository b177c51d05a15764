"""Dead letters of a database: calls that failed for good, and their replays."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from sqlalchemy import and_, delete, func, insert, or_, select, update
from sqlalchemy.engine import Connection, Row

from handrail.core.tell.dead_letters import DeadLetter, DeadLetterFilters, DeadLetterStatus, parse_cursor
from handrail.store.codec import decode_call, dump, encode_call, fit_column, load
from handrail.store.database import Database
from handrail.store.encryption import Seal
from handrail.store.leases import IsDead
from handrail.store.statements import matching
from handrail.store.tables.calls import dead_letter_replays as replays
from handrail.store.tables.calls import dead_letters as letters

_MAX_IDS = 500
"""Letters whose replays are queried by id."""
_UNSETTLED = ("open", "replaying")


def to_row(letter: DeadLetter, seal: Seal) -> dict[str, Any]:
    exact = {"call": encode_call(letter.call), "raw": letter.raw, "secrets": sorted(letter.secrets)}
    return {
        "tenant_id": letter.tenant,
        "id": letter.id,
        "call_id": fit_column(letter.call.id),
        "session_id": fit_column(letter.session),
        "tool": fit_column(letter.tool),
        "code": None if letter.code is None else fit_column(letter.code),
        "error": dump(letter.error),
        "earlier_errors": dump(list(letter.earlier_errors)),
        "attempts": letter.attempts,
        "args": dump(letter.args),
        "sealed": seal.close(letter.tenant, exact, f"letter:{letter.id}"),
        "status": letter.status,
        "replay_of": letter.replay_of,
        "holder": None,
        "failed_at": letter.at,
    }


def from_row(row: Row[Any], replays: Iterable[str], status: DeadLetterStatus, seal: Seal) -> DeadLetter:
    exact = seal.open(row.tenant_id, row.sealed, f"letter:{row.id}")
    return DeadLetter(
        id=row.id,
        call=decode_call(exact["call"]),
        tool=row.tool,
        args=load(row.args),
        error=load(row.error),
        code=row.code,
        attempts=row.attempts,
        at=row.failed_at,
        replay_of=row.replay_of,
        replays=tuple(replays),
        status=status,
        earlier_errors=tuple(load(row.earlier_errors)),
        raw=exact["raw"],
        secrets=frozenset(exact["secrets"]),
    )


def add_dead_letter(conn: Connection, tenant: str, row: dict[str, Any]) -> None:
    """Store a letter; if its call replays another letter, that one is its origin."""
    if row["tenant_id"] != tenant:
        return
    replayed = _replayed_letter(conn, tenant, row["call_id"])
    origin = row["replay_of"] if replayed is None else replayed.id
    conn.execute(insert(letters), {**row, "replay_of": origin})


def get_dead_letter(
    conn: Connection, tenant: str, letter_id: str, seal: Seal, is_dead: IsDead
) -> DeadLetter | None:
    return next(iter(_read(conn, tenant, (letters.c.id == letter_id,), seal, is_dead)), None)


def list_dead_letters(
    conn: Connection, tenant: str, seal: Seal, is_dead: IsDead, **filters: Unpack[DeadLetterFilters]
) -> list[DeadLetter]:
    """The letters that fit every given filter, newest last."""
    where: list[Any] = []
    columns = (letters.c.tool, letters.c.session_id, letters.c.code)
    values = (filters.get("tool"), filters.get("session"), filters.get("code"))
    for column, value in zip(columns, values, strict=True):
        if value is not None:
            where.append(column == fit_column(value))
    if (since := filters.get("since")) is not None:
        where.append(letters.c.failed_at >= since)
    if (before := filters.get("before")) is not None:
        where.append(letters.c.failed_at < before)
    status = filters.get("status")
    if status is not None:  # a row says `replaying` also where the process that replayed it is dead
        where.append(letters.c.status.in_(_UNSETTLED if status in _UNSETTLED else (status,)))
    matches = _read(conn, tenant, where, seal, is_dead)
    return [letter for letter in matches if status in (None, letter.status)]


def page_dead_letters(
    conn: Connection,
    tenant: str,
    seal: Seal,
    is_dead: IsDead,
    *,
    after: tuple[float, str] | None,
    limit: int,
) -> list[DeadLetter]:
    """The newest letters first, beyond one of that time and id."""
    query = select(letters).where(letters.c.tenant_id == tenant)
    if after is not None:
        at, id = after
        query = query.where(
            letters.c.failed_at <= at,
            or_(letters.c.failed_at < at, and_(letters.c.failed_at == at, letters.c.id < id)),
        )
    newest = query.order_by(letters.c.failed_at.desc(), letters.c.id.desc()).limit(limit)
    return _with_replays(conn, tenant, conn.execute(newest).all(), seal, is_dead)


def claim_dead_letter(
    conn: Connection, tenant: str, letter_id: str, call_id: str, holder: str, seal: Seal, is_dead: IsDead
) -> DeadLetter | None:
    """An open letter becomes `replaying`, once."""
    row = _lock_letter(conn, tenant, letter_id)
    if row is None or _status(conn, row, is_dead) != "open":
        return None
    claimed = update(letters).where(matching(letters, tenant_id=tenant, id=letter_id))
    conn.execute(claimed.values(status="replaying", holder=holder))
    of_letter = {"tenant_id": tenant, "dead_letter_id": letter_id}
    earlier = select(func.count()).select_from(replays).where(matching(replays, **of_letter))
    number = conn.execute(earlier).scalar_one() + 1
    conn.execute(insert(replays), {**of_letter, "call_id": call_id, "number": number})
    return get_dead_letter(conn, tenant, letter_id, seal, lambda conn, holder: False)


def settle_replay(conn: Connection, tenant: str, call_id: str, ok: bool) -> None:
    """A call is over: if it replayed a letter, the letter is settled or open again."""
    row = _replayed_letter(conn, tenant, call_id)
    if row is None:
        return
    if ok:
        settle_chain(conn, tenant, row, "replayed")
    elif _last_replay(conn, tenant, row.id) == call_id:
        _settle(conn, tenant, [row.id], "open")


def mark_replay_unknown(conn: Connection, tenant: str, call_id: str) -> None:
    """The effect of a replay may have happened: the letters behind it are never replayed again."""
    row = _replayed_letter(conn, tenant, call_id)
    if row is not None:
        settle_chain(conn, tenant, row, "unknown")


def settle_chain(conn: Connection, tenant: str, row: Row[Any], status: DeadLetterStatus) -> None:
    """Settle a letter, those it came from, and all that failed replays of any of them left."""
    of_session = select(letters.c.id, letters.c.replay_of).where(
        matching(letters, tenant_id=tenant, session_id=row.session_id)
    )
    origins = {letter.id: letter.replay_of for letter in conn.execute(of_session)}
    _settle(conn, tenant, chain_of(row.id, origins), status)


def chain_of(letter_id: str, origins: Mapping[str, str | None]) -> set[str]:
    """The letters of one call and its replays; `origins` says of each which one it came from."""
    first, chain = letter_id, {letter_id}
    while (origin := origins.get(first)) is not None and origin in origins and origin not in chain:
        first = origin
        chain.add(first)
    while not (replayed := {letter for letter, origin in origins.items() if origin in chain}) <= chain:
        chain |= replayed
    return chain


def delete_dead_letters(conn: Connection, tenant: str, letter_ids: Iterable[str]) -> int:
    """Forget letters; how many there were."""
    count = 0
    for letter_id in letter_ids:
        deleted = delete(letters).where(matching(letters, tenant_id=tenant, id=letter_id))
        if conn.execute(deleted).rowcount:
            of_letter = matching(replays, tenant_id=tenant, dead_letter_id=letter_id)
            conn.execute(delete(replays).where(of_letter))
            count += 1
    return count


def _read(
    conn: Connection, tenant: str, where: Iterable[Any], seal: Seal, is_dead: IsDead
) -> list[DeadLetter]:
    query = select(letters).where(letters.c.tenant_id == tenant, *where)
    rows = conn.execute(query.order_by(letters.c.failed_at, letters.c.id)).all()
    return _with_replays(conn, tenant, rows, seal, is_dead)


def _with_replays(
    conn: Connection, tenant: str, rows: Sequence[Row[Any]], seal: Seal, is_dead: IsDead
) -> list[DeadLetter]:
    """Letters with the calls that replayed them."""
    query = select(replays).where(replays.c.tenant_id == tenant).order_by(replays.c.number)
    if len(rows) <= _MAX_IDS:
        query = query.where(replays.c.dead_letter_id.in_([row.id for row in rows]))
    calls: dict[str, list[str]] = {}
    if rows:
        for replay in conn.execute(query):
            calls.setdefault(replay.dead_letter_id, []).append(replay.call_id)
    return [from_row(row, calls.get(row.id, ()), _status(conn, row, is_dead), seal) for row in rows]


def _status(conn: Connection, row: Row[Any], is_dead: IsDead) -> DeadLetterStatus:
    is_lost = row.status == "replaying" and row.holder is not None and is_dead(conn, row.holder)
    status: DeadLetterStatus = "open" if is_lost else row.status
    return status


def _replayed_letter(conn: Connection, tenant: str, call_id: str) -> Row[Any] | None:
    """The letter that a call replays."""
    of_call = matching(replays, tenant_id=tenant, call_id=call_id)
    letter_id = conn.execute(select(replays.c.dead_letter_id).where(of_call)).scalar()
    return None if letter_id is None else _lock_letter(conn, tenant, letter_id)


def _lock_letter(conn: Connection, tenant: str, letter_id: str) -> Row[Any] | None:
    query = select(letters).where(matching(letters, tenant_id=tenant, id=letter_id))
    return conn.execute(query.with_for_update()).first()


def _last_replay(conn: Connection, tenant: str, letter_id: str) -> str | None:
    of_letter = matching(replays, tenant_id=tenant, dead_letter_id=letter_id)
    query = select(replays.c.call_id).where(of_letter).order_by(replays.c.number.desc()).limit(1)
    call_id: str | None = conn.execute(query).scalar()
    return call_id


def _settle(conn: Connection, tenant: str, letter_ids: Iterable[str], status: DeadLetterStatus) -> None:
    """`replayed` and `unknown` stay."""
    unsettled = letters.c.status.in_(_UNSETTLED)
    chosen = update(letters).where(letters.c.tenant_id == tenant, letters.c.id.in_(sorted(letter_ids)))
    conn.execute(chosen.where(unsettled).values(status=status, holder=None))


class StoreDeadLetters:
    """`DeadLetters` in rows. What is not awaited is posted, and commits with the events around it."""

    def __init__(self, db: Database, seal: Seal, is_dead: IsDead) -> None:
        self._db = db
        self._seal = seal
        self._is_dead = is_dead

    def add(self, letter: DeadLetter, /) -> None:
        tenant, row = letter.tenant, to_row(letter, self._seal)
        self._db.post(tenant, add_dead_letter, tenant, row)

    def doubt(self, call_id: str, tenant: str, /) -> None:
        self._db.post(tenant, mark_replay_unknown, tenant, call_id)

    async def get(self, letter_id: str, tenant: str, /) -> DeadLetter | None:
        await self._db.flushed()
        return await self._db.read(tenant, get_dead_letter, tenant, letter_id, self._seal, self._is_dead)

    async def list(self, tenant: str, **filters: Unpack[DeadLetterFilters]) -> builtins.list[DeadLetter]:
        await self._db.flushed()
        return await self._db.read(tenant, list_dead_letters, tenant, self._seal, self._is_dead, **filters)

    async def page(self, tenant: str, /, *, after: str | None, limit: int) -> builtins.list[DeadLetter]:
        cursor = None if after is None else parse_cursor(after)
        await self._db.flushed()
        return await self._db.read(
            tenant, page_dead_letters, tenant, self._seal, self._is_dead, after=cursor, limit=limit
        )

    async def take(self, letter_id: str, tenant: str, call_id: str, /) -> DeadLetter | None:
        return await self._db.write(
            tenant, claim_dead_letter, tenant, letter_id, call_id, self._db.holder, self._seal, self._is_dead
        )

    async def ended(self, call_id: str, tenant: str, ok: bool, /) -> None:
        await self._db.write(tenant, settle_replay, tenant, call_id, ok)

    async def remove(self, letter_ids: Iterable[str], tenant: str, /) -> int:
        ids = list(letter_ids)
        return await self._db.write(tenant, delete_dead_letters, tenant, ids)
