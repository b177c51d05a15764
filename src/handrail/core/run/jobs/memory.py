"""MemoryJobs: jobs in memory, for a process without a database."""

from __future__ import annotations

import asyncio
import builtins
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from handrail.core.clock import Clock
from handrail.core.define.call import Outcome
from handrail.core.define.principal import Principal
from handrail.core.run.jobs.job import (
    FINAL,
    Busy,
    ClaimedJob,
    Job,
    JobEntry,
    JobLimits,
    JobState,
    lets_children,
    why_skipped,
)
from handrail.core.run.jobs.perform import JobContext, perform

Key = tuple[str, str]
"""Tenant and call."""


class WaitingJobs:
    """Jobs that wait, the calls that each still waits for, and the other way round."""

    def __init__(self) -> None:
        self._parents: dict[Key, dict[Key, None]] = {}
        self._children: dict[Key, list[Key]] = {}

    def add(self, key: Key, parents: Iterable[str]) -> None:
        self._parents[key] = {(key[0], parent): None for parent in parents}
        for parent in self._parents[key]:
            self._children.setdefault(parent, []).append(key)

    def of(self, key: Key) -> tuple[str, ...]:
        """The calls that a job still waits for."""
        return tuple(call_id for _, call_id in self._parents.get(key, ()))

    def is_waited_for(self, key: Key) -> bool:
        return key in self._children

    def completed(self, parent: Key) -> Iterator[Key]:
        """Those that need not wait any more."""
        for key in self._children.pop(parent, ()):
            if (parents := self._parents.get(key)) is not None:
                parents.pop(parent, None)
                if not parents:
                    yield self.forget(key)

    def below(self, parent: Key) -> Iterator[Key]:
        """All that come after it, at any distance: they need not wait any more either."""
        stack = [parent]
        while stack:
            for key in self._children.pop(stack.pop(), ()):
                if key in self._parents:
                    stack.append(key)
                    yield self.forget(key)

    def forget(self, key: Key) -> Key:
        self._parents.pop(key, None)
        return key


_log = logging.getLogger("handrail.jobs")


@dataclass(slots=True)
class _Lane:
    """One tenant's jobs that are due, how many run, and when the newest began."""

    due: deque[str] = field(default_factory=deque)
    running: int = 0
    begun: deque[float] = field(default_factory=deque)


class MemoryJobs:
    """Both ports in memory: jobs are taken in order, tenant by tenant, within the limits.

    Keeps the newest of those that are over.
    """

    def __init__(
        self,
        work: Callable[[], JobContext],
        clock: Clock | None = None,
        limits: JobLimits | None = None,
        keep: int = 10_000,
    ) -> None:
        self._work = work
        self._clock = clock or Clock()
        self._limits = limits or JobLimits()
        self._keep = keep
        self._jobs: dict[Key, tuple[Job, JobEntry]] = {}
        self._over: deque[Key] = deque()
        self._stops: dict[Key, str] = {}
        self._skipped: set[Key] = set()
        self._waiting = WaitingJobs()
        self._lanes: dict[str, _Lane] = {}
        self._timers: set[asyncio.TimerHandle] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False

    async def submit(self, job: Job, /) -> JobEntry | None:
        if (earlier := self._jobs.get((job.tenant, job.id))) is not None:
            return earlier[1]
        await self.submit_all([job])
        return None

    async def submit_all(self, jobs: Sequence[Job], /) -> None:
        for job in jobs:
            self._keep_new(job)
        for job in jobs:
            if not job.after:
                self._line_up((job.tenant, job.id), job.due_at)

    def _keep_new(self, job: Job) -> None:
        key, now = (job.tenant, job.id), self._clock.now()
        if job.after:
            self._waiting.add(key, job.after)
        entry = JobEntry(
            job.id,
            job.tenant,
            job.tool,
            job.kind,
            "waiting" if job.after else "queued",
            0,
            now,
            now,
            job.due_at,
            fingerprint=job.fingerprint,
            task=job.task,
        )
        self._jobs[key] = (job, entry)

    async def cancel(self, call_id: str, tenant: str, reason: str, /) -> bool:
        entry = await self.get(call_id, tenant)
        if entry is None or entry.state in FINAL:
            return False
        key = (tenant, call_id)
        if key not in self._skipped:
            self._stops[key] = reason
        if entry.state != "running":
            self._waiting.forget(key)
            self._put(replace(self._jobs[key][1], state="queued"))
            await perform(tenant, call_id, self._work(), self)
            return True
        runtime = self._work().runtime
        while self._jobs[key][1].state == "running":
            if (running := runtime.running.get(key)) is not None:
                running.interrupt("cancelled", reason)
                return await running.over(runtime.execution.grace * 2)
            await asyncio.sleep(0.01)
        return True

    async def get(self, call_id: str, tenant: str, /) -> JobEntry | None:
        stored = self._jobs.get((tenant, call_id))
        return None if stored is None else self._shown(stored[1])

    async def caller(self, call_id: str, tenant: str, /) -> Principal | None:
        stored = self._jobs.get((tenant, call_id))
        return None if stored is None or stored[1].state in FINAL else stored[0].call.principal

    def _shown(self, entry: JobEntry) -> JobEntry:
        if entry.state != "waiting":
            return entry
        return replace(entry, after=self._waiting.of((entry.tenant, entry.id)))

    async def list(self, tenant: str, /, *, state: JobState | None = None) -> builtins.list[JobEntry]:
        entries = [entry for (owner, _), (_, entry) in self._jobs.items() if owner == tenant]
        return [self._shown(entry) for entry in entries if state is None or entry.state == state]

    async def unblock(self, call_id: str, tenant: str, /) -> bool:
        entry = await self.get(call_id, tenant)
        if entry is None or entry.state != "blocked":
            return False
        self._enqueue((tenant, call_id))
        return True

    async def take(self, tenant: str, call_id: str, /) -> ClaimedJob | Busy | None:
        key = (tenant, call_id)
        stored = self._jobs.get(key)
        if stored is None or stored[1].state in FINAL or stored[1].state in ("blocked", "waiting"):
            return None
        job, entry = stored
        if entry.state == "running":
            return "busy"
        self._put(replace(entry, state="running", attempts=entry.attempts + 1))
        return ClaimedJob(job, entry.attempts + 1, self._stops.get(key), skipped=key in self._skipped)

    async def finish(self, tenant: str, call_id: str, state: JobState, reason: str | None, /) -> bool:
        key = (tenant, call_id)
        self._put(replace(self._jobs[key][1], state=state, reason=reason))
        if state in FINAL:
            self._stops.pop(key, None)
            self._skipped.discard(key)
            self._tell_children(self._jobs[key][1])
            self._over.append(key)
            while len(self._over) > self._keep:
                self._jobs.pop(self._over.popleft(), None)
        return True

    def _tell_children(self, entry: JobEntry) -> None:
        """A job is over: what waited for it may run, or never will."""
        key = (entry.tenant, entry.id)
        match lets_children(entry.state, entry.reason):
            case "run":
                for child in self._waiting.completed(key):
                    self._enqueue(child)
            case "skip":
                for child in self._waiting.below(key):
                    self._stops[child] = why_skipped(entry)
                    self._skipped.add(child)
                    self._enqueue(child)
            case "wait" if self._waiting.is_waited_for(key):
                tell = self._work().when_final
                tell(entry.tenant, entry.id, lambda outcome: self._answered(entry, outcome))

    def _answered(self, entry: JobEntry, outcome: Outcome) -> None:
        """A person answered, and the call is over."""
        key = (entry.tenant, entry.id)
        if key in self._jobs:
            self._put(replace(self._jobs[key][1], reason=outcome.status))
        self._tell_children(replace(entry, reason=outcome.status))

    def _enqueue(self, key: Key) -> None:
        """A job that waited or was blocked begins anew."""
        self._put(replace(self._jobs[key][1], state="queued", attempts=0, reason=None))
        self._line_up(key, None)

    async def holds(self, tenant: str, call_id: str, /) -> bool:
        return True

    async def leave(self, tenant: str, call_id: str, /) -> None:
        return

    async def whose(self, call_id: str, /) -> builtins.list[str]:
        return [tenant for tenant, job_id in self._jobs if job_id == call_id]

    async def start(self) -> None:
        return

    async def close(self) -> None:
        self._closing = True
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _put(self, entry: JobEntry) -> None:
        """Write down what became of a job."""
        key = (entry.tenant, entry.id)
        self._jobs[key] = (self._jobs[key][0], replace(entry, updated_at=self._clock.now()))

    def _line_up(self, key: Key, due_at: float | None) -> None:
        wait = 0.0 if due_at is None else due_at - self._clock.now()
        if wait > 0:
            self._call_later(wait, lambda: self._line_up(key, due_at))
            return
        self._lanes.setdefault(key[0], _Lane()).due.append(key[1])
        self._go(key[0])

    def _call_later(self, seconds: float, then: Callable[[], None]) -> None:
        def call() -> None:
            self._timers.discard(timer)
            then()

        timer = asyncio.get_running_loop().call_later(seconds, call)
        self._timers.add(timer)

    def _go(self, tenant: str) -> None:
        """Begin what may begin now."""
        lane = self._lanes[tenant]
        while lane.due and not self._closing:
            if lane.running >= self._limits.per_tenant or len(self._tasks) >= self._limits.at_once:
                return
            if (wait := self._wait(lane)) > 0:
                self._call_later(wait, lambda: self._go(tenant))
                return
            lane.running += 1
            task = asyncio.get_running_loop().create_task(self._run(tenant, lane.due.popleft()))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            task.add_done_callback(lambda _: self._next(tenant))

    def _wait(self, lane: _Lane) -> float:
        """Seconds until the rate allows one more; it is counted when that is now."""
        if self._limits.rate is None:
            return 0.0
        most, period = self._limits.rate
        now = self._clock.ticks()
        while lane.begun and lane.begun[0] <= now - period:
            lane.begun.popleft()
        if len(lane.begun) >= most:
            return lane.begun[0] + period - now
        lane.begun.append(now)
        return 0.0

    def _next(self, tenant: str) -> None:
        self._lanes[tenant].running -= 1
        for other in builtins.list(self._lanes):
            self._go(other)
            lane = self._lanes[other]
            if not lane.due and not lane.running and not lane.begun:
                del self._lanes[other]

    async def _run(self, tenant: str, call_id: str) -> None:
        try:
            await perform(tenant, call_id, self._work(), self)
        except Exception:
            _log.exception("job %s could not be performed", call_id)
            await self.finish(tenant, call_id, "dead", "something inside Handrail failed")
