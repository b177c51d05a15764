"""Backend: what a database puts behind the ports of one Handrail, and who opens it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol, cast

from handrail.core.clock import Clock
from handrail.core.errors import UsageError
from handrail.core.find.pins import Pins
from handrail.core.find.registry import Registry
from handrail.core.find.visibility import TenantViewResolver
from handrail.core.guard.approval_store import (
    ApprovalStore,
    MemoryApprovals,
    MemoryStandingApprovals,
    StandingApprovals,
)
from handrail.core.guard.idempotency import IdempotencyKeys, MemoryIdempotencyKeys
from handrail.core.guard.plans import MemoryPlans, Plans
from handrail.core.run.jobs.job import Jobs
from handrail.core.run.jobs.memory import MemoryJobs
from handrail.core.run.jobs.perform import JobContext
from handrail.core.run.outcomes import FindOutcomes
from handrail.core.run.runtime import Secrets
from handrail.core.tell.dead_letters import DeadLetters, MemoryDeadLetters
from handrail.core.tell.log import EventLog, MemoryLog
from handrail.core.tell.usage import UsageMeter

GROUP = "handrail.databases"
"""The entry points that open databases, by the scheme of their address."""


async def _nothing() -> None:
    return


@dataclass(frozen=True, slots=True)
class Backend:
    """The ports that outlive the process."""

    log: EventLog
    approvals: ApprovalStore
    keys: IdempotencyKeys
    dead_letters: DeadLetters
    standing: StandingApprovals
    plans: Plans
    jobs: Callable[[Callable[[], JobContext]], Jobs]
    """Makes the place for jobs, once it is known what it takes to perform them."""
    secrets: Secrets | None = None
    resolver: Callable[[Registry], TenantViewResolver] | None = None
    """Makes the way to each tenant's tools, over those of this process."""
    usage_meter: UsageMeter | None = None
    find_outcomes: FindOutcomes | None = None
    """How a call stands that this process did not run, or no longer remembers."""
    settled: Callable[[], Awaitable[None]] | None = None
    """Returns when all that was told so far is durable."""
    pins: Pins | None = None
    services: object = None
    """What the doors of a platform need beside the ports; `handrail.platform` knows what it is."""
    close: Callable[[], Awaitable[None]] = _nothing
    """Commit what is on its way, and let go of the database."""


def memory_backend(clock: Clock) -> Backend:
    """The twins, for a process without a database."""
    return Backend(
        log=MemoryLog(),
        approvals=MemoryApprovals(clock.now),
        keys=MemoryIdempotencyKeys(),
        dead_letters=MemoryDeadLetters(),
        standing=MemoryStandingApprovals(),
        plans=MemoryPlans(),
        jobs=partial(MemoryJobs, clock=clock),
    )


class DatabaseOpener(Protocol):
    """What an entry point of the group is: opens a database by its address."""

    def __call__(self, url: str, clock: Clock, worker: bool, /) -> Backend: ...


def open_backend(url: str, clock: Clock, worker: bool) -> Backend:
    """Open the database at an address, by whoever says that it can."""
    from importlib.metadata import entry_points

    scheme = url.partition("://")[0].partition("+")[0]
    openers = [point for point in entry_points(group=GROUP) if point.name == scheme]
    if not openers:
        schemes = sorted({point.name for point in entry_points(group=GROUP)})
        raise UsageError(
            f"An address that begins with {scheme!r} is not one of a database that can be opened here. "
            f"Known are: {', '.join(f'{name}://' for name in schemes) or 'none'}."
        )
    return cast(DatabaseOpener, openers[0].load())(url, clock, worker)
