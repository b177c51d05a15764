"""Keys: effects at most once. A key is written before dispatch and says afterwards what came of it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Literal, Protocol

from handrail.core.define.call import Outcome
from handrail.core.define.principal import Principal

KeyId = tuple[str, str | None, str | None, str]
"""Tenant, user, agent and the caller's own key."""


def key_id(principal: Principal, key: str) -> KeyId:
    return (principal.tenant, principal.user, principal.agent, key)


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


class Keys(Protocol):
    """Where keys are kept."""

    def begin(self, key: KeyId, fingerprint: str, /) -> tuple[KeyEntry, bool]:
        """The key's entry, and whether this call made it. One given up before dispatch is made anew."""
        ...

    def dispatched(self, key: KeyId, /) -> None:
        """Written before the body runs."""
        ...

    def finish(self, key: KeyId, outcome: Outcome, /) -> None: ...

    def release(self, key: KeyId, /) -> None:
        """Forget a key under which nothing happened."""
        ...

    def reopen(self, key: KeyId, /) -> None:
        """Forget a key whose call failed or was not approved in time, so that a replay may have it."""
        ...


class MemoryKeys:
    """The keys of one process. Keeps the newest ones."""

    def __init__(self, keep: int = 10_000) -> None:
        self._keep = keep
        self._entries: OrderedDict[KeyId, KeyEntry] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def begin(self, key: KeyId, fingerprint: str, /) -> tuple[KeyEntry, bool]:
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                return entry, False
            entry = self._entries[key] = KeyEntry(fingerprint)
            self._drop_oldest()
            return entry, True

    def _drop_oldest(self) -> None:
        while len(self._entries) > self._keep:
            finished = (key for key, entry in self._entries.items() if entry.state == "done")
            oldest = next(finished, None)
            if oldest is None:
                return
            del self._entries[oldest]

    def dispatched(self, key: KeyId, /) -> None:
        if (entry := self._entries.get(key)) is None:
            return
        entry.state = "dispatched"
        if entry.outcome is not None:  # it waited for an approval; from here on its end is open again
            entry.ended, entry.outcome = Future(), None

    def finish(self, key: KeyId, outcome: Outcome, /) -> None:
        if (entry := self._entries.get(key)) is None:
            return
        entry.outcome = outcome
        entry.state = "waiting" if outcome.status == "pending" else "done"
        if not entry.ended.done():
            entry.ended.set_result(None)

    def reopen(self, key: KeyId, /) -> None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and entry.state == "done" and is_open_again(entry.outcome):
                del self._entries[key]

    def release(self, key: KeyId, /) -> None:
        with self._lock:
            entry = self._entries.pop(key, None)
        if entry is not None and not entry.ended.done():
            entry.ended.set_result(None)
