"""Idempotency keys as rows: who works under one, and what became of it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import and_, delete, select, update
from sqlalchemy.engine import Connection, Row

from handrail.core.define.call import Outcome
from handrail.core.guard.idempotency import KeyId, is_open_again
from handrail.store.codec import STAND_IN_MARK, fit_column
from handrail.store.tables import approvals
from handrail.store.tables import call_keys as keys
from handrail.store.tables import session_events as events
from handrail.store.upsert import insert_if_absent

_log = logging.getLogger("handrail.keys")

_INTERNAL_CODES = ("LOG_UNAVAILABLE", "INTERNAL_ERROR")
"""Something of ours did not work: what was refused so, and did not begin, may be tried again."""

IsDead = Callable[[Connection, str], bool]
"""Whether the process with this holder's id is no more."""

ReadOutcome = Callable[[Connection, str, str], Outcome | None]
"""(connection, tenant, call id): how a call stands, as its events tell."""


@dataclass(frozen=True, slots=True)
class KeyContext:
    """Who asks, when, and whom to ask about others."""

    holder: str
    now: float
    is_dead: IsDead
    told: ReadOutcome


@dataclass(frozen=True, slots=True)
class KeyClaim:
    """What a key is to somebody who came for it."""

    kind: Literal["ours", "busy", "ended", "lost"]
    """busy: somebody works under it; ended: `outcome` says how; lost: nobody knows whether it happened."""
    fingerprint: str
    outcome: Outcome | None = None


def claim_key(conn: Connection, key: KeyId, fingerprint: str, call_id: str, context: KeyContext) -> KeyClaim:
    """Make the key one's own, or learn what became of it."""
    fresh: dict[str, Any] = {
        **_key_columns(key),
        "fingerprint": fingerprint,
        "state": "new",
        "call_id": call_id,
        "holder": context.holder,
        "updated_at": context.now,
    }
    for _ in range(10):
        if insert_if_absent(conn, keys, fresh):
            return KeyClaim("ours", fingerprint)
        found = _lock_row(conn, key)
        if found is not None:
            return _claim_of_row(conn, key, found, fresh, context)
    return KeyClaim("busy", fingerprint)  # made and given up again and again by others: look later


def _claim_of_row(
    conn: Connection, key: KeyId, row: Row[Any], fresh: dict[str, Any], context: KeyContext
) -> KeyClaim:
    fingerprint = row.fingerprint
    if row.state in ("waiting", "done"):
        outcome = context.told(conn, key[0], row.call_id)
        return KeyClaim("lost" if outcome is None else "ended", fingerprint, outcome)
    if row.holder != context.holder and not context.is_dead(conn, row.holder):
        return KeyClaim("busy", fingerprint)
    return _claim_of_dead_holder(conn, key, row, fresh, context)


def _claim_of_dead_holder(
    conn: Connection, key: KeyId, row: Row[Any], fresh: dict[str, Any], context: KeyContext
) -> KeyClaim:
    """What a dead process has left under a key."""
    tenant, fingerprint = key[0], row.fingerprint
    outcome = context.told(conn, tenant, row.call_id)
    if outcome is not None and outcome.status == "pending" and _has_approval(conn, tenant, row.call_id):
        # A person is asked, or has answered: then whoever takes up the run ends it under this key.
        waits = row.state == "new"
        return KeyClaim("ended", fingerprint, outcome) if waits else KeyClaim("busy", fingerprint)
    began = _has_started(conn, tenant, row.call_id)
    in_vain = outcome is not None and outcome.code in _INTERNAL_CODES and not began
    over = outcome is not None and outcome.status != "pending" and not in_vain
    # One that this process dispatched and has no more in hand could not be written down, so it did not run.
    given_up = row.state == "new" or row.holder == context.holder
    untouched = given_up and not over and not began
    interrupted = outcome is not None and outcome.code == "INTERRUPTED"
    if untouched and _has_approval(conn, tenant, row.call_id):
        # It was killed before it told of its question: that one is asked anew, unless it has an answer.
        asked = (approvals.c.tenant_id == tenant, approvals.c.call_id == fit_column(row.call_id))
        conn.execute(delete(approvals).where(*asked, approvals.c.status == "pending"))
        if _has_approval(conn, tenant, row.call_id):
            return KeyClaim("busy", fingerprint)
    if untouched or (interrupted and fingerprint == fresh["fingerprint"]):
        conn.execute(update(keys).where(_is(key)).values(fresh))
        return KeyClaim("ours", fresh["fingerprint"])
    return KeyClaim("ended", fingerprint, outcome) if over else KeyClaim("lost", fingerprint)


def is_busy(conn: Connection, key: KeyId, context: KeyContext) -> bool:
    """Whether somebody still works under the key, or will take up what was approved under it."""
    row = conn.execute(select(keys).where(_is(key))).first()
    if row is None or row.state in ("waiting", "done"):
        return False
    if row.holder == context.holder or not context.is_dead(conn, row.holder):
        return True
    outcome = context.told(conn, key[0], row.call_id)
    pending = outcome is not None and outcome.status == "pending"
    return pending and row.state == "dispatched" and _has_approval(conn, key[0], row.call_id)


def fingerprint_of(conn: Connection, key: KeyId) -> str | None:
    found: str | None = conn.execute(select(keys.c.fingerprint).where(_is(key))).scalar()
    return found


def dispatch_key(conn: Connection, key: KeyId, context: KeyContext) -> bool:
    """The effect may happen from here on, by this process. False when the key was not in its hands."""
    row = _row_unless_foreign(conn, key, context)
    if row is not None and row.state != "done":
        values = {"state": "dispatched", "holder": context.holder, "updated_at": context.now}
        conn.execute(update(keys).where(_is(key)).values(values))
    return row is not None and row.holder == context.holder


def finish_key(conn: Connection, key: KeyId, outcome: Outcome, context: KeyContext) -> None:
    """How the call ended; whoever comes with the key is told so."""
    row = _row_unless_foreign(conn, key, context)
    if row is None or (row.state == "done" and row.holder != context.holder):
        return
    values = {
        "state": "waiting" if outcome.status == "pending" else "done",
        "call_id": outcome.result.metadata.get("duplicate_of", outcome.call_id),
        "holder": context.holder,
        "updated_at": context.now,
    }
    conn.execute(update(keys).where(_is(key)).values(values))


def release_key(conn: Connection, key: KeyId, context: KeyContext) -> None:
    """Forget a key under which nothing happened."""
    if (row := _row_unless_foreign(conn, key, context)) is not None and row.state != "done":
        conn.execute(delete(keys).where(_is(key)))


def abandon_key(conn: Connection, key: KeyId, call_id: str, context: KeyContext) -> None:
    """Forget a key that a call took and never heard of, since it was cancelled meanwhile."""
    ours = (keys.c.holder == context.holder, keys.c.state == "new", keys.c.call_id == call_id)
    conn.execute(delete(keys).where(_is(key), *ours))


def reopen_key(conn: Connection, key: KeyId, context: KeyContext) -> None:
    """Forget a key whose call failed or was not approved in time, so that a replay may have it."""
    row = _row_unless_foreign(conn, key, context)
    if row is None or row.state not in ("done", "dispatched") or row.call_id is None:
        return
    if is_open_again(context.told(conn, key[0], row.call_id)):
        conn.execute(delete(keys).where(_is(key)))


def forget_collected_key(conn: Connection, key: KeyId, call_id: str, context: KeyContext) -> None:
    """Forget a key whose call is over and was told to its caller, so that the same may be asked anew."""
    row = _lock_row(conn, key)
    if row is None or row.call_id != call_id:
        return
    ended = context.told(conn, key[0], call_id)
    if ended is not None and ended.status != "pending":
        conn.execute(delete(keys).where(_is(key)))


def delete_old_keys(conn: Connection, before: float) -> int:
    """Forget keys of all tenants that were done before a time. For a sweeper's connection."""
    old = and_(keys.c.state == "done", keys.c.updated_at < before)
    return conn.execute(delete(keys).where(old)).rowcount


def _row_unless_foreign(conn: Connection, key: KeyId, context: KeyContext) -> Row[Any] | None:
    """The row, unless another living process works under it: then this one was given up for dead."""
    row = _lock_row(conn, key)
    if row is None or row.holder == context.holder or row.state in ("waiting", "done"):
        return row
    if context.is_dead(conn, row.holder):
        return row
    _log.warning("the key %r is another process's by now, so this one leaves it alone", key[3])
    return None


def _has_started(conn: Connection, tenant: str, call_id: str) -> bool:
    """Whether the log knows that the call began, though its key does not."""
    began = (
        events.c.tenant_id == tenant,
        events.c.call_id == fit_column(call_id),
        events.c.type == "tool.started",
    )
    return conn.execute(select(events.c.seq).where(*began).limit(1)).first() is not None


def _has_approval(conn: Connection, tenant: str, call_id: str) -> bool:
    """Whether a question about the call is in the book."""
    wanted = (approvals.c.tenant_id == tenant, approvals.c.call_id == fit_column(call_id))
    return conn.execute(select(approvals.c.id).where(*wanted).limit(1)).first() is not None


def _lock_row(conn: Connection, key: KeyId) -> Row[Any] | None:
    return conn.execute(select(keys).where(_is(key)).with_for_update()).first()


def _key_columns(key: KeyId) -> dict[str, str]:
    tenant, user, agent, name = key
    return {
        "tenant_id": tenant,
        "user_id": _key_part(user),
        "agent": _key_part(agent),
        "key": fit_column(name),
    }


def _key_part(one: str | None) -> str:
    """A name as its column holds it: nobody is '', and somebody whose name is empty is not nobody."""
    return "" if one is None else fit_column(one) or STAND_IN_MARK


def _is(key: KeyId) -> Any:
    return and_(*(keys.c[name] == value for name, value in _key_columns(key).items()))
