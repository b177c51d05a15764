"""Idempotency keys of a database: who works under one, and how its call ended.

Keys that calls of this process hold are known in memory too.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, delete, select, update
from sqlalchemy.engine import Connection, Row

from handrail.core.define.call import Outcome
from handrail.core.guard.idempotency import KeyEntry, KeyId, is_open_again
from handrail.store.codec import STAND_IN_MARK, fit_column
from handrail.store.database import Database
from handrail.store.leases import IsDead
from handrail.store.statements import insert_if_absent, matching
from handrail.store.tables.calls import approvals
from handrail.store.tables.calls import idempotency_keys as keys
from handrail.store.tables.event_log import session_events as events

_log = logging.getLogger("handrail.keys")
_INTERNAL_CODES = ("LOG_UNAVAILABLE", "INTERNAL_ERROR")
"""Something of ours did not work: what was refused so, and did not begin, may be tried again."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.2
_UNKNOWN_FINGERPRINT = ""
"""The fingerprint of a key that a resumed run holds, which did not claim it."""

ReadOutcome = Callable[[Connection, str, str], Outcome | None]
"""(connection, tenant, call id): the outcome of a call so far, by its events."""


@dataclass(frozen=True, slots=True)
class KeyContext:
    """Which process asks, when, and what it takes to know about other processes and calls."""

    holder: str
    now: float
    is_dead: IsDead
    read_outcome: ReadOutcome


@dataclass(frozen=True, slots=True)
class KeyClaim:
    """What a call learns that wants a key."""

    kind: Literal["ours", "busy", "ended", "lost"]
    """busy: somebody works under it; ended: `outcome` says how; lost: nobody knows whether it happened."""
    fingerprint: str
    outcome: Outcome | None = None


def claim_key(conn: Connection, key: KeyId, fingerprint: str, call_id: str, context: KeyContext) -> KeyClaim:
    """Claim the key for a call, or learn how the earlier one ended."""
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
        row = _lock_row(conn, key)
        if row is not None:
            return _claim_of_row(conn, key, row, fresh, context)
    return KeyClaim("busy", fingerprint)  # claimed and released again and again by others: ask later


def _claim_of_row(
    conn: Connection, key: KeyId, row: Row[Any], fresh: dict[str, Any], context: KeyContext
) -> KeyClaim:
    fingerprint = row.fingerprint
    if row.state in ("waiting", "done"):
        outcome = context.read_outcome(conn, key[0], row.call_id)
        return KeyClaim("lost" if outcome is None else "ended", fingerprint, outcome)
    if row.holder != context.holder and not context.is_dead(conn, row.holder):
        return KeyClaim("busy", fingerprint)
    return _claim_of_dead_holder(conn, key, row, fresh, context)


def _claim_of_dead_holder(
    conn: Connection, key: KeyId, row: Row[Any], fresh: dict[str, Any], context: KeyContext
) -> KeyClaim:
    """The claim on a key of a process that is dead, or of this one, which does not know it any more."""
    tenant, fingerprint = key[0], row.fingerprint
    outcome = context.read_outcome(conn, tenant, row.call_id)
    if outcome is not None and outcome.status == "pending" and _has_approval(conn, tenant, row.call_id):
        # A person is asked, or has answered: then whoever resumes the run ends it under this key.
        is_undecided = row.state == "new"
        return KeyClaim("ended", fingerprint, outcome) if is_undecided else KeyClaim("busy", fingerprint)
    has_started = _has_started(conn, tenant, row.call_id)
    was_our_fault = outcome is not None and outcome.code in _INTERNAL_CODES and not has_started
    is_over = outcome is not None and outcome.status != "pending" and not was_our_fault
    # One that this process dispatched and holds no more could not be recorded, so it did not run.
    is_released = row.state == "new" or row.holder == context.holder
    is_untouched = is_released and not is_over and not has_started
    was_interrupted = outcome is not None and outcome.code == "INTERRUPTED"
    if is_untouched and _has_approval(conn, tenant, row.call_id):
        # It was killed before it recorded its request: that one is made anew, unless it has an answer.
        of_call = matching(approvals, tenant_id=tenant, call_id=fit_column(row.call_id), status="pending")
        conn.execute(delete(approvals).where(of_call))
        if _has_approval(conn, tenant, row.call_id):
            return KeyClaim("busy", fingerprint)
    if is_untouched or (was_interrupted and fingerprint == fresh["fingerprint"]):
        conn.execute(update(keys).where(_is(key)).values(fresh))
        return KeyClaim("ours", fresh["fingerprint"])
    return KeyClaim("ended", fingerprint, outcome) if is_over else KeyClaim("lost", fingerprint)


def is_busy(conn: Connection, key: KeyId, context: KeyContext) -> bool:
    """Whether somebody still works under the key, or will resume what was approved under it."""
    row = conn.execute(select(keys).where(_is(key))).first()
    if row is None or row.state in ("waiting", "done"):
        return False
    if row.holder == context.holder or not context.is_dead(conn, row.holder):
        return True
    outcome = context.read_outcome(conn, key[0], row.call_id)
    is_pending = outcome is not None and outcome.status == "pending"
    return is_pending and row.state == "dispatched" and _has_approval(conn, key[0], row.call_id)


def fingerprint_of(conn: Connection, key: KeyId) -> str | None:
    fingerprint: str | None = conn.execute(select(keys.c.fingerprint).where(_is(key))).scalar()
    return fingerprint


def dispatch_key(conn: Connection, key: KeyId, context: KeyContext) -> bool:
    """The effect may happen from here on, by this process. False when it did not hold the key."""
    row = _row_unless_foreign(conn, key, context)
    if row is not None and row.state != "done":
        values = {"state": "dispatched", "holder": context.holder, "updated_at": context.now}
        conn.execute(update(keys).where(_is(key)).values(values))
    return row is not None and row.holder == context.holder


def finish_key(conn: Connection, key: KeyId, outcome: Outcome, context: KeyContext) -> None:
    """Record how the call ended, for whoever comes with the key."""
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
    """Forget a key that a call claimed without knowing it, since it was cancelled meanwhile."""
    ours = matching(keys, holder=context.holder, state="new", call_id=call_id)
    conn.execute(delete(keys).where(_is(key), ours))


def reopen_key(conn: Connection, key: KeyId, context: KeyContext) -> None:
    """Forget a key whose call failed or was not approved in time, so that a replay may have it."""
    row = _row_unless_foreign(conn, key, context)
    if row is None or row.state not in ("done", "dispatched") or row.call_id is None:
        return
    if is_open_again(context.read_outcome(conn, key[0], row.call_id)):
        conn.execute(delete(keys).where(_is(key)))


def forget_collected_key(conn: Connection, key: KeyId, call_id: str, context: KeyContext) -> None:
    """Forget a key whose call is over and whose caller has the outcome, so that it can be called anew."""
    row = _lock_row(conn, key)
    if row is None or row.call_id != call_id:
        return
    ended = context.read_outcome(conn, key[0], call_id)
    if ended is not None and ended.status != "pending":
        conn.execute(delete(keys).where(_is(key)))


def delete_old_keys(conn: Connection, before: float) -> int:
    """Forget keys of all tenants that were done before a time. For a sweeper's connection."""
    old = and_(keys.c.state == "done", keys.c.updated_at < before)
    return conn.execute(delete(keys).where(old)).rowcount


def _row_unless_foreign(conn: Connection, key: KeyId, context: KeyContext) -> Row[Any] | None:
    """The row, unless another live process works under it: then this one was taken for dead."""
    row = _lock_row(conn, key)
    if row is None or row.holder == context.holder or row.state in ("waiting", "done"):
        return row
    if context.is_dead(conn, row.holder):
        return row
    _log.warning("the key %r is another process's by now, so this one leaves it alone", key[3])
    return None


def _has_started(conn: Connection, tenant: str, call_id: str) -> bool:
    """Whether the log has the start of the call, though its key does not."""
    started = matching(events, tenant_id=tenant, call_id=fit_column(call_id), type="tool.started")
    return conn.execute(select(events.c.seq).where(started).limit(1)).first() is not None


def _has_approval(conn: Connection, tenant: str, call_id: str) -> bool:
    """Whether there is an approval request of the call."""
    of_call = matching(approvals, tenant_id=tenant, call_id=fit_column(call_id))
    return conn.execute(select(approvals.c.id).where(of_call).limit(1)).first() is not None


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


def _key_part(name: str | None) -> str:
    """A name as its column holds it: nobody is '', and somebody whose name is empty is not nobody."""
    return "" if name is None else fit_column(name) or STAND_IN_MARK


def _is(key: KeyId) -> ColumnElement[bool]:
    return matching(keys, **_key_columns(key))


@dataclass(slots=True, kw_only=True)
class _ForeignKeyEntry(KeyEntry):
    """A key that another process holds."""

    watch: Callable[[], Awaitable[None]]

    async def over(self) -> None:
        await self.watch()


@dataclass(slots=True)
class _Watch:
    """One task that polls for all calls of a loop that wait for the same key."""

    task: asyncio.Task[None]
    waiting: int = 0


class StoreIdempotencyKeys:
    """The port of keys in rows. What is not awaited is posted, and commits with the events around it."""

    def __init__(self, db: Database, is_dead: IsDead, read_outcome: ReadOutcome) -> None:
        self._db = db
        self._is_dead = is_dead
        self._read_outcome = read_outcome
        self._local: dict[KeyId, KeyEntry] = {}
        """Keys that calls of this process hold."""
        self._claims: dict[KeyId, Future[KeyEntry | None]] = {}
        """Keys that this process is claiming from the database; the result is for all who come meanwhile."""
        self._overtaken: set[KeyId] = set()
        """Keys that a run of this process resumed while they were claimed: the result is out of date."""
        self._watches: dict[tuple[asyncio.AbstractEventLoop, KeyId], _Watch] = {}
        self._held: dict[KeyId, bool] = {}
        """Of keys that calls of this process dispatched: whether they were still theirs."""
        self._lock = threading.Lock()

    async def begin(self, key: KeyId, fingerprint: str, call_id: str, /) -> tuple[KeyEntry, bool]:
        while True:
            with self._lock:
                entry = self._local.get(key)
                if entry is not None and entry.fingerprint != _UNKNOWN_FINGERPRINT:
                    return entry, False
                earlier = self._claims.get(key)
                if earlier is None:
                    claim = self._claims[key] = Future()
            if earlier is not None:
                shared = await asyncio.shield(asyncio.wrap_future(earlier))
                if shared is not None:
                    return shared, False
                continue
            result: KeyEntry | None = None
            try:
                if entry is not None:
                    if await self._learn_fingerprint(key, entry):
                        return entry, False
                    continue  # it was done and forgotten meanwhile
                claimed, is_ours = await self._claim(key, fingerprint, call_id)
                if not is_ours and claimed.state != "dispatched":
                    result = claimed
            finally:
                with self._lock:
                    del self._claims[key]
                    was_overtaken = key in self._overtaken
                    self._overtaken.discard(key)
                claim.set_result(result)
            if result is not None or is_ours or not was_overtaken:
                return claimed, is_ours

    async def _claim(self, key: KeyId, fingerprint: str, call_id: str) -> tuple[KeyEntry, bool]:
        try:
            claim = await self._db.write(key[0], claim_key, key, fingerprint, call_id, self._context())
        except asyncio.CancelledError:
            self._db.post(key[0], abandon_key, key, call_id, self._context())
            raise
        if claim.kind == "ours":
            entry = KeyEntry(fingerprint)
            with self._lock:
                self._local[key] = entry
            return entry, True
        if claim.kind == "busy":
            return _ForeignKeyEntry(claim.fingerprint, "new", watch=lambda: self._watch(key)), False
        entry = KeyEntry(claim.fingerprint, "dispatched" if claim.kind == "lost" else "done", claim.outcome)
        if claim.outcome is not None and claim.outcome.status == "pending":
            entry.state = "waiting"
        entry.ended.set_result(None)
        return entry, False

    async def _learn_fingerprint(self, key: KeyId, entry: KeyEntry) -> bool:
        """A run that was approved or resumed goes on under its key; the row knows for which arguments."""
        fingerprint = await self._db.read(key[0], fingerprint_of, key)
        if fingerprint is not None:
            entry.fingerprint = fingerprint
        return fingerprint is not None or not entry.ended.done()

    async def _watch(self, key: KeyId) -> None:
        """Wait until nobody works under the key any more. However many wait, one polls."""
        watch_key = (asyncio.get_running_loop(), key)
        watch = self._watches.get(watch_key)
        if watch is None:
            watch = self._watches[watch_key] = _Watch(asyncio.create_task(self._poll(key)))
        watch.waiting += 1
        try:
            await asyncio.shield(watch.task)
        finally:
            watch.waiting -= 1
            if watch.waiting == 0:
                watch.task.cancel()
                self._watches.pop(watch_key, None)

    async def _poll(self, key: KeyId) -> None:
        """Ask again and again, ever less often."""
        pause, still_busy = _FIRST_PAUSE, True
        while still_busy:
            await asyncio.sleep(pause)
            pause = min(_LONGEST_PAUSE, pause * 1.5)
            still_busy = await self._db.read(key[0], is_busy, key, self._context())

    def dispatched(self, key: KeyId, /) -> None:
        with self._lock:
            entry = self._local.setdefault(key, KeyEntry(_UNKNOWN_FINGERPRINT))
            entry.state = "dispatched"
            if key in self._claims:
                self._overtaken.add(key)
            is_resumed = entry.fingerprint == _UNKNOWN_FINGERPRINT

        def dispatch(conn: Connection, context: KeyContext) -> None:
            # What was resumed is fenced by its run.
            self._held[key] = dispatch_key(conn, key, context) or is_resumed

        self._held.pop(key, None)
        self._db.post(key[0], dispatch, self._context())

    async def is_ours(self, key: KeyId, /) -> bool:
        if key not in self._held:
            await self._db.flushed()
        return self._held.get(key, False)

    def finish(self, key: KeyId, outcome: Outcome, /) -> None:
        self._db.post(key[0], finish_key, key, outcome, self._context())
        self._held.pop(key, None)
        with self._lock:
            entry = self._local.pop(key, None)
        if entry is not None:
            entry.outcome = outcome
            entry.state = "waiting" if outcome.status == "pending" else "done"
            entry.ended.set_result(None)

    def release(self, key: KeyId, /) -> None:
        if self._held.get(key, True):  # otherwise it is somebody else's to forget
            self._db.post(key[0], release_key, key, self._context())
        self.forsake(key)

    def forsake(self, key: KeyId, /) -> None:
        self._held.pop(key, None)
        with self._lock:
            entry = self._local.pop(key, None)
        if entry is not None:
            entry.state = "new"
            entry.ended.set_result(None)

    def reopen(self, key: KeyId, /) -> None:
        self._db.post(key[0], reopen_key, key, self._context())

    def collected(self, key: KeyId, call_id: str, /) -> None:
        self._db.post(key[0], forget_collected_key, key, call_id, self._context())

    def sweep(self, before: float) -> int:
        """Forget what was done before a time, of all tenants; for a sweeper, in a thread of its own."""
        with self._db.system() as conn:
            return delete_old_keys(conn, before)

    def _context(self) -> KeyContext:
        return KeyContext(self._db.holder, self._db.clock.now(), self._is_dead, self._read_outcome)
