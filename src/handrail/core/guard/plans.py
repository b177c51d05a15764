"""Plans: calls queued for review instead of run. The port, and its twin in memory."""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from handrail.core.define.call import BoundCall
from handrail.core.define.principal import Principal

MAX_PLANNED_CALLS = 1_000
"""So many calls does one plan hold."""
Added = Literal["added", "full", "known"]
"""known: a call of this id is in a plan already."""
Taken = Literal["taken", "gone", "busy"]
"""gone: somebody ran or discarded it; busy: somebody runs this plan, and its calls go one after the other."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One queued call, as it would run."""

    call: BoundCall
    tool: str
    args: dict[str, Any]
    """What a reviewer sees: repaired, secrets masked."""
    reason: str
    raw: Any = field(default=None, repr=False)
    """The arguments as they were sent, for the run."""
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    """What an outer body was told in confidence: masked in every record of the call."""
    at: float = 0.0
    """When it was planned."""
    doubtful: bool = False
    """Whether a process took it to run it, and was gone before it said that it was over."""

    @property
    def principal(self) -> Principal:
        return self.call.principal

    def to_dict(self) -> dict[str, Any]:
        """The call as JSON data, as a reviewer may see it."""
        call = self.call
        return {
            "call_id": call.id,
            "tool": self.tool,
            "arguments": self.args,
            "reason": self.reason,
            "session": call.session,
            "user": self.principal.user,
            "agent": self.principal.agent,
            "source": call.source,
            "at": self.at,
        }


class Plans(Protocol):
    """Where planned calls wait, in their order. Each principal fills a plan of its own."""

    async def add(self, planned: PlannedCall, /) -> Added:
        """Queue a call behind the others of its plan."""
        ...

    async def queued(
        self, principal: Principal, session: str | None = None, calls: Collection[str] | None = None, /
    ) -> list[PlannedCall]:
        """What is queued and within reach of a principal, in order; of `calls` alone where they are named."""
        ...

    async def holds(self, call_id: str, tenant: str, /) -> bool:
        """Whether a call is still queued."""
        ...

    async def take(self, planned: PlannedCall, session: str | None = None, /) -> Taken:
        """Take a call out of the queue to run it, unless one of its user, or of the session, is run now."""
        ...

    async def over(self, planned: PlannedCall, /) -> None:
        """Forget a call that was taken: its end is told."""
        ...

    async def discard(self, principal: Principal, session: str | None = None, /) -> int:
        """Forget what is queued and within reach of a principal; how many calls that were."""
        ...


def may_reach(who: Principal, planned: PlannedCall) -> bool:
    """Whether somebody may see, run and discard a planned call.

    A person reaches what was planned in their name. An agent, a key of nobody and a key that does not reach
    everything have only what they planned themselves: a plan lends nobody the authority of another.
    """
    owner = planned.principal
    if (who.tenant, who.user) != (owner.tenant, owner.user):
        return False
    narrow = who.user is None or who.agent is not None or who.scope is not None or who.ceiling is not None
    return who == owner if narrow else True


class MemoryPlans:
    """The plans of a process without a database."""

    def __init__(self, keep: int = MAX_PLANNED_CALLS) -> None:
        self._keep = keep
        self._queue: dict[tuple[str, str | None], PlannedCall] = {}
        self._running: dict[tuple[str, str | None], PlannedCall] = {}
        self._lock = threading.Lock()

    async def add(self, planned: PlannedCall, /) -> Added:
        owner = planned.principal
        with self._lock:
            if _key(planned) in self._queue:
                return "known"
            owners = ((other.principal.tenant, other.principal.user) for other in self._queue.values())
            if sum(other == (owner.tenant, owner.user) for other in owners) >= self._keep:
                return "full"
            self._queue[_key(planned)] = planned
            return "added"

    async def queued(
        self, principal: Principal, session: str | None = None, calls: Collection[str] | None = None, /
    ) -> list[PlannedCall]:
        with self._lock:
            reached = self._reached(principal, session)
        return [planned for planned in reached if calls is None or planned.call.id in calls]

    async def holds(self, call_id: str, tenant: str, /) -> bool:
        with self._lock:
            return (tenant, call_id) in self._queue

    async def take(self, planned: PlannedCall, session: str | None = None, /) -> Taken:
        who = (planned.principal.tenant, planned.principal.user)
        with self._lock:
            for running in self._running.values():
                is_same_plan = (running.principal.tenant, running.principal.user) == who
                if is_same_plan and session in (None, running.call.session):
                    return "busy"
            if self._queue.pop(_key(planned), None) is None:
                return "gone"
            self._running[_key(planned)] = planned
            return "taken"

    async def over(self, planned: PlannedCall, /) -> None:
        with self._lock:
            self._running.pop(_key(planned), None)

    async def discard(self, principal: Principal, session: str | None = None, /) -> int:
        with self._lock:
            discarded = self._reached(principal, session)
            for planned in discarded:
                del self._queue[_key(planned)]
            return len(discarded)

    def _reached(self, principal: Principal, session: str | None) -> list[PlannedCall]:
        return [
            planned
            for planned in self._queue.values()
            if may_reach(principal, planned) and (session is None or planned.call.session == session)
        ]


def _key(planned: PlannedCall) -> tuple[str, str | None]:
    return planned.principal.tenant, planned.call.id
