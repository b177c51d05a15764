"""What can be said of a key, each in the transaction it is given.

A key belongs to its holder, the process that works under it. Others keep away from it until it is done, or
until that process is dead: then nothing happened under a `new` one, and nobody knows of a `dispatched` one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import and_, delete, select, update
from sqlalchemy.engine import Connection, Row

from handrail.core.define.call import Outcome
from handrail.core.guard.keys import KeyId, is_open_again
from handrail.store.tables import approvals
from handrail.store.tables import call_keys as keys
from handrail.store.tables import session_events as events
from handrail.store.text import MARK, column
from handrail.store.upsert import insert_new

_log = logging.getLogger("handrail.keys")

_OF_OURS = ("LOG_UNAVAILABLE", "INTERNAL_ERROR")
"""Something of ours did not work: what was refused so, and did not begin, may be tried again."""

IsDead = Callable[[Connection, str], bool]
"""Whether the process with this holder's id is no more."""
Told = Callable[[Connection, str, str], Outcome | None]
"""(connection, tenant, call id): how a call stands, as its events tell."""


@dataclass(frozen=True, slots=True)
class House:
    """Who asks, when, and whom to ask about others."""

    holder: str
    now: float
    is_dead: IsDead
    told: Told


@dataclass(frozen=True, slots=True)
class Found:
    """What a key is to somebody who came for it."""

    kind: Literal["ours", "busy", "ended", "lost"]
    """busy: somebody works under it; ended: `outcome` says how; lost: nobody knows whether it happened."""
    fingerprint: str
    outcome: Outcome | None = None


def take_key(conn: Connection, key: KeyId, fingerprint: str, call_id: str, house: House) -> Found:
    """Make the key one's own, or learn what became of it."""
    fresh: dict[str, Any] = {
        **_this(key),
        "fingerprint": fingerprint,
        "state": "new",
        "call_id": call_id,
        "holder": house.holder,
        "updated_at": house.now,
    }
    for _ in range(10):
        if insert_new(conn, keys, fresh):
            return Found("ours", fingerprint)
        found = _locked(conn, key)
        if found is not None:
            return _met(conn, key, found, fresh, house)
    return Found("busy", fingerprint)  # made and given up again and again by others: look later


def _met(conn: Connection, key: KeyId, row: Row[Any], fresh: dict[str, Any], house: House) -> Found:
    fingerprint = row.fingerprint
    if row.state in ("waiting", "done"):
        outcome = house.told(conn, key[0], row.call_id)
        return Found("lost" if outcome is None else "ended", fingerprint, outcome)
    if row.holder != house.holder and not house.is_dead(conn, row.holder):
        return Found("busy", fingerprint)
    return _left(conn, key, row, fresh, house)


def _left(conn: Connection, key: KeyId, row: Row[Any], fresh: dict[str, Any], house: House) -> Found:
    """What a dead process has left under a key."""
    tenant, fingerprint = key[0], row.fingerprint
    outcome = house.told(conn, tenant, row.call_id)
    if outcome is not None and outcome.status == "pending" and _asks(conn, tenant, row.call_id):
        # A person is asked, or has answered: then whoever takes up the run ends it under this key.
        waits = row.state == "new"
        return Found("ended", fingerprint, outcome) if waits else Found("busy", fingerprint)
    began = _began(conn, tenant, row.call_id)
    in_vain = outcome is not None and outcome.code in _OF_OURS and not began
    over = outcome is not None and outcome.status != "pending" and not in_vain
    # One that this process dispatched and has no more in hand could not be written down, so it did not run.
    given_up = row.state == "new" or row.holder == house.holder
    untouched = given_up and not over and not began
    interrupted = outcome is not None and outcome.code == "INTERRUPTED"
    if untouched and _asks(conn, tenant, row.call_id):
        # It was killed before it told of its question: that one is asked anew, unless it has an answer.
        asked = (approvals.c.tenant_id == tenant, approvals.c.call_id == column(row.call_id))
        conn.execute(delete(approvals).where(*asked, approvals.c.status == "pending"))
        if _asks(conn, tenant, row.call_id):
            return Found("busy", fingerprint)
    if untouched or (interrupted and fingerprint == fresh["fingerprint"]):
        conn.execute(update(keys).where(_is(key)).values(fresh))
        return Found("ours", fresh["fingerprint"])
    return Found("ended", fingerprint, outcome) if over else Found("lost", fingerprint)


def is_busy(conn: Connection, key: KeyId, house: House) -> bool:
    """Whether somebody still works under the key, or will take up what was approved under it."""
    row = conn.execute(select(keys).where(_is(key))).first()
    if row is None or row.state in ("waiting", "done"):
        return False
    if row.holder == house.holder or not house.is_dead(conn, row.holder):
        return True
    outcome = house.told(conn, key[0], row.call_id)
    pending = outcome is not None and outcome.status == "pending"
    return pending and row.state == "dispatched" and _asks(conn, key[0], row.call_id)


def fingerprint_of(conn: Connection, key: KeyId) -> str | None:
    found: str | None = conn.execute(select(keys.c.fingerprint).where(_is(key))).scalar()
    return found


def dispatch_key(conn: Connection, key: KeyId, house: House) -> bool:
    """The effect may happen from here on, by this process. False when the key was not in its hands."""
    row = _mine(conn, key, house)
    if row is not None and row.state != "done":
        values = {"state": "dispatched", "holder": house.holder, "updated_at": house.now}
        conn.execute(update(keys).where(_is(key)).values(values))
    return row is not None and row.holder == house.holder


def finish_key(conn: Connection, key: KeyId, outcome: Outcome, house: House) -> None:
    """How the call ended; whoever comes with the key is told so."""
    row = _mine(conn, key, house)
    if row is None or (row.state == "done" and row.holder != house.holder):
        return
    values = {
        "state": "waiting" if outcome.status == "pending" else "done",
        "call_id": outcome.result.metadata.get("duplicate_of", outcome.call_id),
        "holder": house.holder,
        "updated_at": house.now,
    }
    conn.execute(update(keys).where(_is(key)).values(values))


def release_key(conn: Connection, key: KeyId, house: House) -> None:
    """Forget a key under which nothing happened."""
    if (row := _mine(conn, key, house)) is not None and row.state != "done":
        conn.execute(delete(keys).where(_is(key)))


def abandon_key(conn: Connection, key: KeyId, call_id: str, house: House) -> None:
    """Forget a key that a call took and never heard of, since it was cancelled meanwhile."""
    ours = (keys.c.holder == house.holder, keys.c.state == "new", keys.c.call_id == call_id)
    conn.execute(delete(keys).where(_is(key), *ours))


def reopen_key(conn: Connection, key: KeyId, house: House) -> None:
    """Forget a key whose call failed or was not approved in time, so that a replay may have it."""
    row = _mine(conn, key, house)
    if row is None or row.state not in ("done", "dispatched") or row.call_id is None:
        return
    if is_open_again(house.told(conn, key[0], row.call_id)):
        conn.execute(delete(keys).where(_is(key)))


def collect_key(conn: Connection, key: KeyId, call_id: str, house: House) -> None:
    """Forget a key whose call is over and was told to its caller, so that the same may be asked anew."""
    row = _locked(conn, key)
    if row is None or row.call_id != call_id:
        return
    ended = house.told(conn, key[0], call_id)
    if ended is not None and ended.status != "pending":
        conn.execute(delete(keys).where(_is(key)))


def sweep_keys(conn: Connection, before: float) -> int:
    """Forget keys of all tenants that were done before a time. For a sweeper's connection."""
    old = and_(keys.c.state == "done", keys.c.updated_at < before)
    return conn.execute(delete(keys).where(old)).rowcount


def _mine(conn: Connection, key: KeyId, house: House) -> Row[Any] | None:
    """The row, unless another living process works under it: then this one was given up for dead."""
    row = _locked(conn, key)
    if row is None or row.holder == house.holder or row.state in ("waiting", "done"):
        return row
    if house.is_dead(conn, row.holder):
        return row
    _log.warning("the key %r is another process's by now, so this one leaves it alone", key[3])
    return None


def _began(conn: Connection, tenant: str, call_id: str) -> bool:
    """Whether the log knows that the call began, though its key does not."""
    began = (
        events.c.tenant_id == tenant,
        events.c.call_id == column(call_id),
        events.c.type == "tool.started",
    )
    return conn.execute(select(events.c.seq).where(*began).limit(1)).first() is not None


def _asks(conn: Connection, tenant: str, call_id: str) -> bool:
    """Whether a question about the call is in the book."""
    wanted = (approvals.c.tenant_id == tenant, approvals.c.call_id == column(call_id))
    return conn.execute(select(approvals.c.id).where(*wanted).limit(1)).first() is not None


def _locked(conn: Connection, key: KeyId) -> Row[Any] | None:
    return conn.execute(select(keys).where(_is(key)).with_for_update()).first()


def _this(key: KeyId) -> dict[str, str]:
    tenant, user, agent, name = key
    return {"tenant_id": tenant, "user_id": _named(user), "agent": _named(agent), "key": column(name)}


def _named(one: str | None) -> str:
    """A name as its column holds it: nobody is '', and somebody whose name is empty is not nobody."""
    return "" if one is None else column(one) or MARK


def _is(key: KeyId) -> Any:
    return and_(*(keys.c[name] == value for name, value in _this(key).items()))
