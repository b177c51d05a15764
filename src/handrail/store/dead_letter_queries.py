"""Dead letters as rows: what can be asked and changed, each in the transaction it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import and_, delete, func, insert, or_, select, update
from sqlalchemy.engine import Connection, Row

from handrail.core.tell.dead_letters import DeadLetter, DeadLetterStatus
from handrail.store.codec import decode_call, dump, encode_call, fit_column, load
from handrail.store.encryption import Seal
from handrail.store.tables import dead_letters as letters
from handrail.store.tables import letter_replays as replays


def to_row(letter: DeadLetter, seal: Seal) -> dict[str, Any]:
    exact = {"call": encode_call(letter.call), "raw": letter.raw, "secrets": sorted(letter.secrets)}
    return {
        "tenant_id": letter.tenant,
        "id": letter.id,
        "call_id": fit_column(letter.call.id or ""),
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
        "at": letter.at,
    }


def from_row(row: Row[Any], replays: Iterable[str], status: DeadLetterStatus, seal: Seal) -> DeadLetter:
    kept = seal.open(row.tenant_id, row.sealed, f"letter:{row.id}")
    return DeadLetter(
        id=row.id,
        call=decode_call(kept["call"]),
        tool=row.tool,
        args=load(row.args),
        error=load(row.error),
        code=row.code,
        attempts=row.attempts,
        at=row.at,
        replay_of=row.replay_of,
        replays=tuple(replays),
        status=status,
        earlier_errors=tuple(load(row.earlier_errors)),
        raw=kept["raw"],
        secrets=frozenset(kept["secrets"]),
    )


IsDead = Callable[[Connection, str], bool]
"""Whether the process with this holder's id is no more."""

_MAX_IDS = 500
"""Letters whose replays are asked for by id."""


def add_dead_letter(conn: Connection, tenant: str, row: dict[str, Any]) -> None:
    """Keep a letter; if its call replays another one, that is where it comes from."""
    if row["tenant_id"] != tenant:
        return
    behind = _replayed_letter(conn, tenant, row["call_id"])
    comes_from = row["replay_of"] if behind is None else behind.id
    conn.execute(insert(letters), {**row, "replay_of": comes_from})


def get_dead_letter(
    conn: Connection, tenant: str, letter_id: str, seal: Seal, is_dead: IsDead
) -> DeadLetter | None:
    found = _read(conn, tenant, (letters.c.id == letter_id,), seal, is_dead)
    return found[0] if found else None


def list_dead_letters(
    conn: Connection,
    tenant: str,
    seal: Seal,
    is_dead: IsDead,
    *,
    tool: str | None = None,
    session: str | None = None,
    code: str | None = None,
    status: DeadLetterStatus | None = None,
    since: float | None = None,
    before: float | None = None,
) -> list[DeadLetter]:
    """The letters that fit every given filter, newest last."""
    wanted: list[Any] = []
    for name, value in (("tool", tool), ("session_id", session), ("code", code)):
        if value is not None:
            wanted.append(letters.c[name] == fit_column(value))
    if since is not None:
        wanted.append(letters.c.at >= since)
    if before is not None:
        wanted.append(letters.c.at < before)
    if status in ("open", "replaying"):
        wanted.append(or_(letters.c.status == "open", letters.c.status == "replaying"))
    elif status is not None:
        wanted.append(letters.c.status == status)
    found = _read(conn, tenant, wanted, seal, is_dead)
    return found if status is None else [one for one in found if one.status == status]


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
    these = select(letters).where(letters.c.tenant_id == tenant)
    if after is not None:
        at, id = after
        these = these.where(
            letters.c.at <= at, or_(letters.c.at < at, and_(letters.c.at == at, letters.c.id < id))
        )
    newest = these.order_by(letters.c.at.desc(), letters.c.id.desc()).limit(limit)
    return _with_replays(conn, tenant, conn.execute(newest).all(), seal, is_dead)


def claim_dead_letter(
    conn: Connection, tenant: str, letter_id: str, call_id: str, holder: str, seal: Seal, is_dead: IsDead
) -> DeadLetter | None:
    """An open letter becomes `replaying`, once."""
    row = conn.execute(select(letters).where(_is(tenant, letter_id)).with_for_update()).first()
    if row is None or _status(conn, row, is_dead) != "open":
        return None
    values = {"status": "replaying", "holder": holder}
    conn.execute(update(letters).where(_is(tenant, letter_id)).values(values))
    made = (replays.c.tenant_id == tenant, replays.c.letter_id == letter_id)
    before = conn.execute(select(func.count()).select_from(replays).where(*made)).scalar_one()
    note = {"tenant_id": tenant, "call_id": call_id, "letter_id": letter_id, "number": before + 1}
    conn.execute(insert(replays), note)
    return get_dead_letter(conn, tenant, letter_id, seal, lambda conn, holder: False)


def settle_replay(conn: Connection, tenant: str, call_id: str, ok: bool) -> None:
    """A call is over: if it replayed a letter, that letter learns how it ended."""
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
    kin = select(letters.c.id, letters.c.replay_of).where(
        letters.c.tenant_id == tenant, letters.c.session_id == row.session_id
    )
    above = {one.id: one.replay_of for one in conn.execute(kin)}
    _settle(conn, tenant, chain_of(row.id, above), status)


def chain_of(letter_id: str, above: Mapping[str, str | None]) -> set[str]:
    """The letters of one call and its replays; `above` says of each which one it came from."""
    first, seen = letter_id, {letter_id}
    while (origin := above.get(first)) is not None and origin in above and origin not in seen:
        first = origin
        seen.add(first)
    chain, grown = seen, True
    while grown:
        below = {one for one, origin in above.items() if origin in chain}
        grown = not below <= chain
        chain = chain | below
    return chain


def delete_dead_letters(conn: Connection, tenant: str, letter_ids: Iterable[str]) -> int:
    """Forget letters; how many there were."""
    count = 0
    for letter_id in letter_ids:
        gone = conn.execute(delete(letters).where(_is(tenant, letter_id))).rowcount
        if gone:
            made = (replays.c.tenant_id == tenant, replays.c.letter_id == letter_id)
            conn.execute(delete(replays).where(*made))
        count += gone
    return count


def _read(
    conn: Connection, tenant: str, wanted: Iterable[Any], seal: Seal, is_dead: IsDead
) -> list[DeadLetter]:
    these = select(letters).where(letters.c.tenant_id == tenant, *wanted)
    rows = conn.execute(these.order_by(letters.c.at, letters.c.id)).all()
    return _with_replays(conn, tenant, rows, seal, is_dead)


def _with_replays(
    conn: Connection, tenant: str, rows: Sequence[Row[Any]], seal: Seal, is_dead: IsDead
) -> list[DeadLetter]:
    """Letters with the calls that replayed them."""
    made = select(replays).where(replays.c.tenant_id == tenant).order_by(replays.c.number)
    if len(rows) <= _MAX_IDS:
        made = made.where(replays.c.letter_id.in_([row.id for row in rows]))
    calls: dict[str, list[str]] = {}
    if rows:
        for one in conn.execute(made):
            calls.setdefault(one.letter_id, []).append(one.call_id)
    return [from_row(row, calls.get(row.id, ()), _status(conn, row, is_dead), seal) for row in rows]


def _status(conn: Connection, row: Row[Any], is_dead: IsDead) -> DeadLetterStatus:
    lost = row.status == "replaying" and row.holder is not None and is_dead(conn, row.holder)
    status: DeadLetterStatus = "open" if lost else row.status
    return status


def _replayed_letter(conn: Connection, tenant: str, call_id: str) -> Row[Any] | None:
    """The letter that a call replays."""
    wanted = (replays.c.tenant_id == tenant, replays.c.call_id == call_id)
    letter_id = conn.execute(select(replays.c.letter_id).where(*wanted)).scalar()
    if letter_id is None:
        return None
    return conn.execute(select(letters).where(_is(tenant, letter_id)).with_for_update()).first()


def _last_replay(conn: Connection, tenant: str, letter_id: str) -> str | None:
    made = select(replays.c.call_id).where(replays.c.tenant_id == tenant, replays.c.letter_id == letter_id)
    found: str | None = conn.execute(made.order_by(replays.c.number.desc()).limit(1)).scalar()
    return found


def _settle(conn: Connection, tenant: str, letter_ids: Iterable[str], status: DeadLetterStatus) -> None:
    """`replayed` and `unknown` stay."""
    these = (letters.c.tenant_id == tenant, letters.c.id.in_(sorted(letter_ids)))
    open_still = letters.c.status.in_(("open", "replaying"))
    conn.execute(update(letters).where(*these, open_still).values(status=status, holder=None))


def _is(tenant: str, letter_id: str) -> Any:
    return and_(letters.c.tenant_id == tenant, letters.c.id == letter_id)
