"""Plan: calls queued for review instead of run."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from handrail.core.define.call import Call
from handrail.core.define.principal import Principal


@dataclass(frozen=True, slots=True)
class Planned:
    """One queued call, as it would run."""

    call: Call
    tool: str
    args: dict[str, Any]
    """What a reviewer sees: repaired, secrets masked."""
    reason: str
    raw: Any = field(default=None, repr=False)
    """The arguments as they were sent, for the run."""
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    """What an outer body was told in confidence: masked in every record of the call."""


class Plan:
    """The queue, in the order of the calls. Each principal may fill a plan of its own."""

    def __init__(self, keep: int = 1_000) -> None:
        self._keep = keep
        self._queue: list[Planned] = []
        self._lock = threading.Lock()

    def add(self, planned: Planned) -> bool:
        """Queue a call; False when the plan is full."""
        owner = planned.call.principal
        assert owner is not None
        with self._lock:
            if sum(_belongs(one, owner, None) for one in self._queue) >= self._keep:
                return False
            self._queue.append(planned)
            return True

    def queued(self, principal: Principal, session: str | None = None) -> list[Planned]:
        """What is queued for a principal, in order."""
        with self._lock:
            return [one for one in self._queue if _belongs(one, principal, session)]

    def holds(self, call_id: str) -> bool:
        """Whether a call is still queued."""
        with self._lock:
            return any(one.call.id == call_id for one in self._queue)

    def remove(self, planned: Planned) -> bool:
        """Take one call out of the queue; False when it is no longer there."""
        with self._lock:
            kept = [one for one in self._queue if one is not planned]
            there = len(kept) < len(self._queue)
            self._queue = kept
            return there

    def take(self, principal: Principal, session: str | None = None) -> list[Planned]:
        """Empty the queue of a principal and give what was in it."""
        with self._lock:
            taken = [one for one in self._queue if _belongs(one, principal, session)]
            self._queue = [one for one in self._queue if not _belongs(one, principal, session)]
            return taken


def _belongs(planned: Planned, principal: Principal, session: str | None) -> bool:
    owner = planned.call.principal
    assert owner is not None
    same = owner.tenant == principal.tenant and owner.user == principal.user
    return same and (session is None or planned.call.session == session)
