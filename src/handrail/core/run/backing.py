"""Backing: what a database puts behind the ports of one Handrail, and who opens it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, cast

from handrail.core.clock import Clock
from handrail.core.errors import UsageError
from handrail.core.find.pins import Pins
from handrail.core.find.registry import Registry
from handrail.core.find.resolver import Resolver
from handrail.core.guard.book import ApprovalBook, MemoryBook
from handrail.core.guard.keys import Keys, MemoryKeys
from handrail.core.guard.plan import MemoryPlans, Plans
from handrail.core.guard.standing import MemoryStanding, Standing
from handrail.core.run.house import Secrets
from handrail.core.run.jobs import Jobs
from handrail.core.run.memory_jobs import MemoryJobs
from handrail.core.run.outcomes import Look
from handrail.core.run.perform import Work
from handrail.core.tell.letters import DeadLetters, MemoryDeadLetters
from handrail.core.tell.log import EventLog, MemoryLog
from handrail.core.tell.usage import Tally

GROUP = "handrail.databases"
"""The entry points that open databases, by the scheme of their address."""


async def _nothing() -> None:
    return


@dataclass(frozen=True, slots=True)
class Backing:
    """The ports that outlive the process."""

    log: EventLog
    book: ApprovalBook
    keys: Keys
    letters: DeadLetters
    standing: Standing
    plans: Plans
    jobs: Callable[[Callable[[], Work]], Jobs]
    """Makes the place for jobs, once it is known what it takes to perform them."""
    secrets: Secrets | None = None
    resolver: Callable[[Registry], Resolver] | None = None
    """Makes the way to each tenant's tools, over those of this process."""
    tally: Tally | None = None
    look: Look | None = None
    """How a call stands that this process did not run, or no longer remembers."""
    settled: Callable[[], Awaitable[None]] | None = None
    """Returns when all that was told so far is durable."""
    pins: Pins | None = None
    offices: object = None
    """What the doors of a platform need beside the ports; `handrail.platform` knows what it is."""
    close: Callable[[], Awaitable[None]] = _nothing
    """Commit what is on its way, and let go of the database."""


def in_memory(clock: Clock) -> Backing:
    """The twins, for a process without a database."""
    return Backing(
        log=MemoryLog(),
        book=MemoryBook(clock.now),
        keys=MemoryKeys(),
        letters=MemoryDeadLetters(),
        standing=MemoryStanding(),
        plans=MemoryPlans(),
        jobs=lambda work: MemoryJobs(work, clock),
    )


class Opener(Protocol):
    """What an entry point of the group is: opens a database by its address."""

    def __call__(self, url: str, clock: Clock, worker: bool, /) -> Backing: ...


def open_backing(url: str, clock: Clock, worker: bool) -> Backing:
    """Open the database at an address, by whoever says that it can."""
    from importlib.metadata import entry_points

    scheme = url.partition("://")[0].partition("+")[0]
    found = [point for point in entry_points(group=GROUP) if point.name == scheme]
    if not found:
        known = sorted({point.name for point in entry_points(group=GROUP)})
        raise UsageError(
            f"An address that begins with {scheme!r} is not one of a database that can be opened here. "
            f"Known are: {', '.join(f'{name}://' for name in known) or 'none'}."
        )
    return cast(Opener, found[0].load())(url, clock, worker)
