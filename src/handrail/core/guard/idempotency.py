"""Keys: effects at most once. A key is written before dispatch and says afterwards what came of it."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Literal, Protocol

from handrail.core.define.call import Outcome
from handrail.core.define.principal import Principal

KeyId = tuple[str, str | None, str | None, str]
"""Tenant, user, agent and the caller's own key."""


def key_id(principal: Principal, key: str) -> KeyId:
    """Whose key it is."""
    nameless = principal.nameless_id
    own = key if nameless is None else f"{key} {nameless}"
    return (principal.tenant, principal.user, principal.agent, own)


def is_open_again(outcome: Outcome | None) -> bool:
    """Whether a replay may follow on how a call ended: not on a success, nor on a person's no."""
    return outcome is not None and (outcome.status == "failed" or outcome.code == "APPROVAL_EXPIRED")


@dataclass(slots=True)
class KeyEntry:
    """What is known of a key."""

    fingerprint: str
    """Of tool and arguments: another body under the same key is refused."""
    state: Literal["new", "waiting", "dispatched", "done"] = "new"
    """waiting: for an approval; dispatched: the effect may have happened."""
    outcome: Outcome | None = None
    ended: Future[None] = field(default_factory=Future)

    async def over(self) -> None:
        """Wait until whoever has the key is done with it. Whoever stops waiting ends no other's wait."""
        await asyncio.shield(asyncio.wrap_future(self.ended))


class IdempotencyKeys(Protocol):
    """Where keys are kept. What is not awaited takes effect in the order in which it was said."""

    async def begin(self, key: KeyId, fingerprint: str, call_id: str, /) -> tuple[KeyEntry, bool]:
        """The key's entry, and whether this call made it. One given up before dispatch is made anew."""
        ...

    def dispatched(self, key: KeyId, /) -> None:
        """Written before the body runs."""
        ...

    async def is_ours(self, key: KeyId, /) -> bool:
        """Whether a key that we dispatched was still ours then. False when we were taken for dead."""
        ...

    def finish(self, key: KeyId, outcome: Outcome, /) -> None: ...

    def release(self, key: KeyId, /) -> None:
        """Forget a key under which nothing happened."""
        ...

    def reopen(self, key: KeyId, /) -> None:
        """Forget a key whose call failed or was not approved in time, so that a replay may have it."""
        ...

    def forsake(self, key: KeyId, /) -> None:
        """Leave a key as it is: the call that has it is ended by somebody else."""
        ...

    def collected(self, key: KeyId, call_id: str, /) -> None:
        """Forget a key whose call is over and was told to its caller, so that the same may be asked anew."""
        ...


@dataclass(slots=True)
class _Slot:
    """The keys of one tenant, and which of them are done, the first one first."""

    entries: dict[KeyId, KeyEntry] = field(default_factory=dict)
    done: OrderedDict[KeyId, None] = field(default_factory=OrderedDict)

    def forget(self, key: KeyId) -> None:
        self.done.pop(key, None)
        self.entries.pop(key, None)


class MemoryIdempotencyKeys:
    """The keys of one process: the newest ones of each tenant, and of the tenants that came last.

    Only what is done is forgotten; no tenant pushes out the keys of another until there are too many tenants.
    """

    def __init__(self, keep: int = 10_000, tenants: int = 1_000) -> None:
        self._keep = keep
        self._tenants = tenants
        self._slots: defaultdict[str, _Slot] = defaultdict(_Slot)
        self._idle: OrderedDict[str, None] = OrderedDict()
        """Tenants all of whose keys are done, the one that is so for longest first."""
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return sum(len(slot.entries) for slot in self._slots.values())

    async def begin(self, key: KeyId, fingerprint: str, call_id: str, /) -> tuple[KeyEntry, bool]:
        with self._lock:
            slot = self._slots[key[0]]
            entry = slot.entries.get(key)
            if entry is not None:
                return entry, False
            entry = slot.entries[key] = KeyEntry(fingerprint)
            self._idle.pop(key[0], None)
            while len(slot.entries) > self._keep and slot.done:
                slot.forget(next(iter(slot.done)))
            while len(self._slots) > self._tenants and self._idle:
                del self._slots[self._idle.popitem(last=False)[0]]
            return entry, True

    def dispatched(self, key: KeyId, /) -> None:
        with self._lock:
            slot, entry = self._find(key)
            if slot is None or entry is None:
                return
            entry.state = "dispatched"
            slot.done.pop(key, None)
            self._note(key[0], slot)
            if entry.outcome is not None:  # it waited for an approval; from here on its end is open again
                entry.ended, entry.outcome = Future(), None

    async def is_ours(self, key: KeyId, /) -> bool:
        return True

    def finish(self, key: KeyId, outcome: Outcome, /) -> None:
        with self._lock:
            slot, entry = self._find(key)
            if slot is None or entry is None:
                return
            entry.outcome = outcome
            if outcome.status == "pending":
                entry.state = "waiting"
            else:
                entry.state = "done"
                slot.done[key] = None
            self._note(key[0], slot)
        if not entry.ended.done():
            entry.ended.set_result(None)

    def reopen(self, key: KeyId, /) -> None:
        self._forget_done(key, is_open_again)

    def collected(self, key: KeyId, call_id: str, /) -> None:
        self._forget_done(key, lambda outcome: outcome.call_id == call_id)

    def _forget_done(self, key: KeyId, is_meant: Callable[[Outcome], bool]) -> None:
        with self._lock:
            slot, entry = self._find(key)
            if slot is None or entry is None or entry.state != "done" or entry.outcome is None:
                return
            if is_meant(entry.outcome):
                slot.forget(key)
                self._note(key[0], slot)

    def release(self, key: KeyId, /) -> None:
        with self._lock:
            slot, entry = self._find(key)
            if slot is not None:
                slot.forget(key)
                self._note(key[0], slot)
        if entry is not None and not entry.ended.done():
            entry.ended.set_result(None)

    def forsake(self, key: KeyId, /) -> None:
        return  # there is nobody else

    def _find(self, key: KeyId) -> tuple[_Slot | None, KeyEntry | None]:
        slot = self._slots.get(key[0])
        return slot, None if slot is None else slot.entries.get(key)

    def _note(self, tenant: str, slot: _Slot) -> None:
        """Keep in mind whether a tenant can be forgotten; one without keys is, at once."""
        if not slot.entries:
            del self._slots[tenant]
            self._idle.pop(tenant, None)
        elif len(slot.done) == len(slot.entries):
            self._idle[tenant] = None
        else:
            self._idle.pop(tenant, None)
