"""Job: a call that runs later, by whoever comes to it; what is kept of one, and the ports behind it."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from handrail.core.define.call import BoundCall
from handrail.core.define.principal import Principal

JobKind = Literal["submitted", "approved", "scheduled"]
JobState = Literal["waiting", "queued", "running", "blocked", "done", "cancelled", "dead"]

FINAL: frozenset[JobState] = frozenset({"done", "cancelled", "dead"})


@dataclass(frozen=True, slots=True)
class Job:
    """A call to be run later, with everything the run needs but the tool itself."""

    call: BoundCall
    tool: str
    """The canonical id."""
    raw: Any = field(default=None, repr=False)
    """The arguments as they were sent. A store keeps them encrypted."""
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    kind: JobKind = "submitted"
    approval_id: str | None = None
    """The answered question that the run brings along; its arguments are there."""
    fingerprint: str | None = None
    """Of tool and arguments, where the caller named a key: the same key with others is refused."""
    due_at: float | None = None
    """Not before this time."""
    task: str | None = None
    """Its name, in a graph."""
    after: tuple[str, ...] = ()
    """The calls that must be completed first."""

    @property
    def id(self) -> str:
        return self.call.id

    @property
    def tenant(self) -> str:
        return self.call.tenant


@dataclass(frozen=True, slots=True)
class JobEntry:
    """A job as a list shows it: no arguments."""

    id: str
    tenant: str
    tool: str
    kind: JobKind
    state: JobState
    attempts: int
    created_at: float
    updated_at: float
    due_at: float | None = None
    reason: str | None = None
    """Why it is blocked, dead or cancelled; how it ended when it is done."""
    fingerprint: str | None = None
    holder: str | None = None
    """Who is at it."""
    task: str | None = None
    after: tuple[str, ...] = ()
    """While it waits: the calls that it still waits for."""


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run that began and whose end is not known."""

    run_id: str
    repeatable: bool
    """Whether twice is as good as once: it only reads, or is declared idempotent."""


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A job in the hands of one worker, and what others have left behind of it."""

    job: Job
    attempt: int
    """From 1: how many workers have begun it, this one included."""
    stop: str | None = None
    """Somebody wants it cancelled, and why."""
    run: OpenRun | None = None
    recorded: frozenset[str] = frozenset()
    """The kinds of events that are in the log already."""
    skipped: bool = False
    """It is to be stopped because one that it comes after did not complete."""

    @property
    def ended(self) -> bool:
        return bool(self.recorded & {"completed", "failed", "cancelled"})


def lets_children(state: JobState, reason: str | None) -> Literal["run", "wait", "skip"]:
    """What those may do that come after a job which stands like this."""
    if state == "done" and reason == "completed":
        return "run"
    if state not in FINAL or (state == "done" and reason == "pending"):
        return "wait"
    return "skip"


def why_skipped(entry: JobEntry) -> str:
    """What is said of those that come after a job that did not complete."""
    how = _ENDS.get(entry.state) or _ENDS.get(entry.reason or "", "did not complete")
    name = entry.tool if entry.task is None else f"{entry.task!r}"
    return f"{name} (call {entry.id}), which must be completed first, {how}"


_ENDS = {
    "cancelled": "was cancelled",
    "dead": "was given up",
    "failed": "failed",
    "refused": "was refused",
    "needs_review": "needs review",
    "queued": "was only planned",
}

Busy = Literal["busy"]
"""Somebody who is alive is at it."""


class JobLedger(Protocol):
    """What is known of each job. Whoever takes one holds it until it is finished or its holder is dead.

    What the log is told of a job counts only while it comes from whoever holds it.
    """

    async def take(self, tenant: str, call_id: str, /) -> ClaimedJob | Busy | None:
        """Hold a job and count the attempt, durably; None when it is over or unknown."""
        ...

    async def finish(self, tenant: str, call_id: str, state: JobState, reason: str | None, /) -> bool:
        """Let go of a job that we hold; False when it is no longer ours."""
        ...

    async def holds(self, tenant: str, call_id: str, /) -> bool:
        """Whether a job that we took is still ours."""
        ...

    async def leave(self, tenant: str, call_id: str, /) -> None:
        """Nobody here is at the job any more, whether it is finished or not."""
        ...


class Jobs(Protocol):
    """Where calls wait that run later, and what runs them."""

    async def submit(self, job: Job, /) -> JobEntry | None:
        """Keep the job, durably when this returns. The earlier one, if there is one with this id."""
        ...

    async def submit_all(self, jobs: Sequence[Job], /) -> None:
        """Keep new jobs of one tenant, all or none. Each runs once those it comes `after` are completed.

        One whose parent ends otherwise is skipped, and so on down the graph.
        """
        ...

    async def cancel(self, call_id: str, tenant: str, reason: str, /) -> bool:
        """Stop a job that waits, or runs anywhere. False when there is none, or it is over."""
        ...

    async def get(self, call_id: str, tenant: str, /) -> JobEntry | None: ...

    async def caller(self, call_id: str, tenant: str, /) -> Principal | None:
        """Who made the call of a job that is not over; None when there is none."""
        ...

    async def list(self, tenant: str, /, *, state: JobState | None = None) -> builtins.list[JobEntry]:
        """The tenant's jobs, oldest first."""
        ...

    async def unblock(self, call_id: str, tenant: str, /) -> bool:
        """Try a blocked job again."""
        ...

    async def whose(self, call_id: str, /) -> builtins.list[str]:
        """The tenants that have a job of this id, for those who know no more of it."""
        ...

    async def start(self) -> None:
        """Take up what was left, and run what is due."""
        ...

    async def close(self) -> None:
        """Take no more, finish what runs."""
        ...


@dataclass(frozen=True, slots=True)
class JobLimits:
    """How much runs at once."""

    at_once: int = 64
    """In one process."""
    per_tenant: int = 32
    """Of one tenant, over all workers."""
    rate: tuple[int, float] | None = None
    """At most so many of one tenant begin in so many seconds."""
