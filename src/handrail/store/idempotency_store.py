"""StoreIdempotencyKeys: the keys of a database; those in hand here are known in memory too."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass

from sqlalchemy.engine import Connection

from handrail.core.define.call import Outcome
from handrail.core.guard.idempotency import KeyEntry, KeyId
from handrail.store import idempotency_queries
from handrail.store.database import Database
from handrail.store.idempotency_queries import IsDead, KeyClaim, KeyContext, ReadOutcome

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.2
_UNKNOWN_FINGERPRINT = ""
"""The fingerprint of a key that was taken up by a run which did not begin it."""


@dataclass(slots=True)
class _ForeignKeyEntry(KeyEntry):
    """A key that another process has in hand."""

    watch: Callable[[], Awaitable[None]] | None = None

    async def over(self) -> None:
        assert self.watch is not None
        await self.watch()


@dataclass(slots=True)
class _Watch:
    """One look-out for all calls of a loop that wait for the same key."""

    task: asyncio.Task[None]
    waiting: int = 0


class StoreIdempotencyKeys:
    """`Keys` in rows. What is not awaited is posted, and commits with the events around it."""

    def __init__(self, db: Database, is_dead: IsDead, told: ReadOutcome) -> None:
        self._db = db
        self._is_dead = is_dead
        self._told = told
        self._here: dict[KeyId, KeyEntry] = {}
        """Keys that calls of this process have in hand."""
        self._asking: dict[KeyId, Future[KeyEntry | None]] = {}
        """Keys about which this process is asking the database; the answer is for all who ask meanwhile."""
        self._overtaken: set[KeyId] = set()
        """Keys that a run of this process took up while they were asked about: the answer is out of date."""
        self._watches: dict[tuple[asyncio.AbstractEventLoop, KeyId], _Watch] = {}
        self._held: dict[KeyId, bool] = {}
        """Of keys that calls of this process dispatched: whether they were still theirs."""
        self._lock = threading.Lock()

    async def begin(self, key: KeyId, fingerprint: str, call_id: str, /) -> tuple[KeyEntry, bool]:
        while True:
            with self._lock:
                entry = self._here.get(key)
                if entry is not None and entry.fingerprint != _UNKNOWN_FINGERPRINT:
                    return entry, False
                asking = self._asking.get(key)
                if asking is None:
                    mine = self._asking[key] = Future()
            if asking is not None:
                answer = await asyncio.shield(asyncio.wrap_future(asking))
                if answer is not None:
                    return answer, False
                continue
            told: KeyEntry | None = None
            try:
                if entry is not None:
                    if await self._is_known(key, entry):
                        return entry, False
                    continue  # it was done and forgotten meanwhile
                met, ours = await self._take(key, fingerprint, call_id)
                if not ours and met.state != "dispatched":
                    told = met
            finally:
                with self._lock:
                    del self._asking[key]
                    was_overtaken = key in self._overtaken
                    self._overtaken.discard(key)
                mine.set_result(told)
            if told is not None or ours or not was_overtaken:
                return met, ours

    async def _take(self, key: KeyId, fingerprint: str, call_id: str) -> tuple[KeyEntry, bool]:
        try:
            found: KeyClaim = await self._db.write(
                key[0],
                lambda conn: idempotency_queries.claim_key(conn, key, fingerprint, call_id, self._context()),
            )
        except asyncio.CancelledError:
            self._post(
                key, lambda conn, context: idempotency_queries.abandon_key(conn, key, call_id, context)
            )
            raise
        if found.kind == "ours":
            entry = KeyEntry(fingerprint)
            with self._lock:
                self._here[key] = entry
            return entry, True
        if found.kind == "busy":
            return _ForeignKeyEntry(found.fingerprint, "new", watch=lambda: self._watch(key)), False
        entry = KeyEntry(found.fingerprint, "dispatched" if found.kind == "lost" else "done", found.outcome)
        if found.outcome is not None and found.outcome.status == "pending":
            entry.state = "waiting"
        entry.ended.set_result(None)
        return entry, False

    async def _is_known(self, key: KeyId, entry: KeyEntry) -> bool:
        """A run that was approved or taken up goes on under its key; the row knows for which arguments."""
        known = await self._db.read(key[0], lambda conn: idempotency_queries.fingerprint_of(conn, key))
        if known is not None:
            entry.fingerprint = known
        return known is not None or not entry.ended.done()

    async def _watch(self, key: KeyId) -> None:
        """Wait until nobody works under the key any more. However many wait, one looks."""
        here = (asyncio.get_running_loop(), key)
        watch = self._watches.get(here)
        if watch is None:
            watch = self._watches[here] = _Watch(asyncio.create_task(self._look(key)))
        watch.waiting += 1
        try:
            await asyncio.shield(watch.task)
        finally:
            watch.waiting -= 1
            if watch.waiting == 0:
                watch.task.cancel()
                self._watches.pop(here, None)

    async def _look(self, key: KeyId) -> None:
        """Look again and again, ever less often."""
        pause, busy = _FIRST_PAUSE, True
        while busy:
            await asyncio.sleep(pause)
            pause = min(_LONGEST_PAUSE, pause * 1.5)
            busy = await self._db.read(
                key[0], lambda conn: idempotency_queries.is_busy(conn, key, self._context())
            )

    def dispatched(self, key: KeyId, /) -> None:
        with self._lock:
            entry = self._here.setdefault(key, KeyEntry(_UNKNOWN_FINGERPRINT))
            entry.state = "dispatched"
            if key in self._asking:
                self._overtaken.add(key)
            begun_here = entry.fingerprint != _UNKNOWN_FINGERPRINT

        def dispatch(conn: Connection, context: KeyContext) -> None:
            held = idempotency_queries.dispatch_key(conn, key, context)
            self._held[key] = held or not begun_here  # what was taken up is fenced by its run

        self._held.pop(key, None)
        self._post(key, dispatch)

    async def is_ours(self, key: KeyId, /) -> bool:
        if key not in self._held:
            await self._db.flushed()
        return self._held.get(key, False)

    def finish(self, key: KeyId, outcome: Outcome, /) -> None:
        self._post(key, lambda conn, context: idempotency_queries.finish_key(conn, key, outcome, context))
        self._held.pop(key, None)
        with self._lock:
            entry = self._here.pop(key, None)
        if entry is not None:
            entry.outcome = outcome
            entry.state = "waiting" if outcome.status == "pending" else "done"
            entry.ended.set_result(None)

    def release(self, key: KeyId, /) -> None:
        if self._held.get(key, True):  # otherwise it is somebody else's to forget
            self._post(key, lambda conn, context: idempotency_queries.release_key(conn, key, context))
        self.forsake(key)

    def forsake(self, key: KeyId, /) -> None:
        self._held.pop(key, None)
        with self._lock:
            entry = self._here.pop(key, None)
        if entry is not None:
            entry.state = "new"
            entry.ended.set_result(None)

    def reopen(self, key: KeyId, /) -> None:
        self._post(key, lambda conn, context: idempotency_queries.reopen_key(conn, key, context))

    def collected(self, key: KeyId, call_id: str, /) -> None:
        self._post(
            key, lambda conn, context: idempotency_queries.forget_collected_key(conn, key, call_id, context)
        )

    def sweep(self, before: float) -> int:
        """Forget what was done before a time, of all tenants; for a sweeper, in a thread of its own."""
        with self._db.system() as conn:
            return idempotency_queries.delete_old_keys(conn, before)

    def _context(self) -> KeyContext:
        return KeyContext(self._db.holder, self._db.clock.now(), self._is_dead, self._told)

    def _post(self, key: KeyId, fn: Callable[[Connection, KeyContext], None]) -> None:
        context = self._context()
        self._db.post(key[0], lambda conn: fn(conn, context))
