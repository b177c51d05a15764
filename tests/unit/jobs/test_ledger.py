"""Who holds a job, and what a process may still say of one that it holds no more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from handrail import Handrail, Outcome, Policy, Principal, tool
from handrail.core.run.jobs.perform import JobContext, perform
from handrail.databases import upgrade
from handrail.jobs.durable_jobs import DurableJobs
from handrail.store.database import Database
from handrail.store.encryption import Seal
from handrail.store.events.log import StoreLog
from handrail.store.leases import end_lease, is_alive, renew_lease
from tests.acceptance.worker_processes import eventually

ANA = Principal(tenant="acme", user="ana", permissions=["*"])


class Process:
    """What one worker process has, without a queue: the test says when it performs what."""

    def __init__(self, url: str, *tools: object) -> None:
        self.db = Database(url)
        self.log = StoreLog(self.db)
        self.jobs = DurableJobs(self.db, Seal([b"k" * 32]), self.log, worker=False)
        self.hr = Handrail(tools, policy=Policy(approval_mode="danger"), log=self.log)
        self.hr._jobs = self.jobs
        self.ended: list[Outcome] = []
        self.work = JobContext(
            self.hr._runtime, self.hr.dead_letters.ended, lambda _, outcome: self.ended.append(outcome)
        )
        self.jobs.attach(lambda: self.work)
        self.live()

    def live(self) -> None:
        with self.db.system() as conn:
            renew_lease(conn, self.db.holder, "worker")

    def die(self) -> None:
        """Be dead to the others, as a frozen process is."""
        with self.db.system() as conn:
            end_lease(conn, self.db.holder)

    async def perform(self, out: Outcome) -> object:
        return await perform("acme", out.call_id, self.work, self.jobs.ledger)

    def kinds(self, out: Outcome) -> list[str]:
        return [event.kind for event in self.log.read("acme", call_id=out.call_id)]


@asynccontextmanager
async def two(url: str, *tools: object) -> AsyncIterator[tuple[Process, Process]]:
    upgrade(url)
    one, other = Process(url, *tools), Process(url, *tools)
    try:
        yield one, other
    finally:
        for process in (one, other):
            await process.jobs.close()
            process.db.close()


def waiting(level: str, gates: list[asyncio.Event], effects: list[str], idempotent: bool = False) -> object:
    @tool("notes.work", level=level, danger="safe", idempotent=idempotent)
    async def work() -> int:
        """Work until the gate of this attempt is open."""
        gate = gates[len(effects)]
        effects.append(level)
        await gate.wait()
        return len(effects)

    return work


@pytest.mark.fault("F07")
@pytest.mark.req("BY-12")
async def test_a_worker_that_froze_before_it_began_does_not_begin_any_more(database_url: str) -> None:
    gates, effects = [asyncio.Event(), asyncio.Event()], list[str]()
    async with two(database_url, waiting("write", gates, effects)) as (slow, quick):
        out = await slow.hr.submit("notes.work", principal=ANA)
        taken = await slow.jobs.ledger.take("acme", out.call_id)
        assert taken is not None and taken != "busy"
        slow.die()
        gates[0].set()
        ended = await quick.perform(out)
        assert isinstance(ended, Outcome) and ended.status == "completed"

        async def take_again(tenant: str, call_id: str) -> object:
            return taken  # what it had in its hands when it froze

        slow.jobs.ledger.take = take_again  # type: ignore[method-assign, assignment]
        assert await slow.perform(out) is None
        assert effects == ["write"] and slow.ended == []
        assert quick.kinds(out) == ["started", "completed"]


@pytest.mark.fault("F07")
@pytest.mark.parametrize(("level", "idempotent"), [("write", False), ("write", True), ("read", False)])
async def test_what_a_worker_says_after_another_took_over_is_dropped(
    database_url: str, level: str, idempotent: bool
) -> None:
    gates, effects = [asyncio.Event(), asyncio.Event()], list[str]()
    async with two(database_url, waiting(level, gates, effects, idempotent)) as (slow, quick):
        out = await slow.hr.submit("notes.work", principal=ANA)
        at_it = asyncio.ensure_future(slow.perform(out))
        await eventually(lambda: effects)
        await slow.db.flushed()
        assert await quick.perform(out) == "busy"
        slow.die()
        gates[1].set()
        ended = await quick.perform(out)
        assert isinstance(ended, Outcome)
        repeats = idempotent or level == "read"
        assert ended.status == ("completed" if repeats else "needs_review")
        before = quick.kinds(out)
        slow.live()
        gates[0].set()
        assert await at_it is None and slow.ended == []
        assert quick.kinds(out) == before == ["started", "completed" if repeats else "failed"]
        assert len(effects) == (2 if repeats else 1)
        runs = {getattr(event, "run_id", None) for event in quick.log.read("acme", call_id=out.call_id)}
        assert len(runs) == 1
        assert await slow.hr.dead_letters.list(ANA) == []


async def test_a_body_that_fails_after_another_took_over_leaves_no_dead_letter(database_url: str) -> None:
    gate, begun = asyncio.Event(), asyncio.Event()

    @tool("notes.work", level="write", danger="safe")
    async def work() -> None:
        """Fail when the gate is open."""
        begun.set()
        await gate.wait()
        raise RuntimeError("too late")

    async with two(database_url, work) as (slow, quick):
        out = await slow.hr.submit("notes.work", principal=ANA, idempotency_key="k")
        at_it = asyncio.ensure_future(slow.perform(out))
        await begun.wait()
        slow.die()
        ended = await quick.perform(out)
        assert isinstance(ended, Outcome) and ended.status == "needs_review"
        gate.set()
        assert await at_it is None
        assert await slow.hr.dead_letters.list(ANA) == []


async def test_a_job_is_performed_by_one_of_many_who_want_it(database_url: str) -> None:
    gates, effects = [asyncio.Event() for _ in range(9)], list[str]()
    for gate in gates:
        gate.set()
    async with two(database_url, waiting("write", gates, effects)) as (one, other):
        out = await one.hr.submit("notes.work", principal=ANA)
        await asyncio.gather(*(process.perform(out) for process in (one, other) * 4))
        assert effects == ["write"]
        assert one.kinds(out) == ["started", "completed"]


async def test_a_lease_ends_by_itself_and_by_the_death_of_its_process(database_url: str) -> None:
    upgrade(database_url)
    db = Database(database_url)
    try:
        with db.system() as conn:
            renew_lease(conn, "here", "worker", 60)
            renew_lease(conn, "over", "worker", -1)
            renew_lease(conn, "gone", "worker", 60, pid=2**22 + 1)
            assert [is_alive(conn, name) for name in ("here", "over", "gone", "unknown")] == [
                True,
                False,
                False,
                False,
            ]
    finally:
        db.close()


@pytest.mark.fault("F12")
async def test_a_job_that_is_begun_too_often_is_given_up(database_url: str) -> None:
    gates, effects = [asyncio.Event() for _ in range(9)], list[str]()
    async with two(database_url, waiting("read", gates, effects)) as (one, other):
        out = await one.hr.submit("notes.work", principal=ANA)
        for _ in range(3):
            taken = await one.jobs.ledger.take("acme", out.call_id)
            assert taken is not None and taken != "busy"
            await one.jobs.ledger.leave("acme", out.call_id)  # as if the process had died over it
        ended = await other_after(one, other, out)
        assert (ended.status, ended.code) == ("failed", "POISONED")
        [letter] = await other.hr.dead_letters.list(ANA)
        assert (letter.code, letter.attempts) == ("POISONED", 3)
        entry = await one.jobs.get(out.call_id, "acme")
        assert entry is not None and entry.state == "dead"
        assert effects == []


async def other_after(one: Process, other: Process, out: Outcome) -> Outcome:
    one.die()
    ended = await other.perform(out)
    assert isinstance(ended, Outcome)
    return ended


async def test_a_second_engine_in_a_process_is_refused_and_the_first_can_be_closed_and_opened_again(
    tmp_path: Path,
) -> None:
    from handrail.core.errors import UsageError

    first, second = (f"sqlite:///{tmp_path / name}.db" for name in ("first", "second"))
    for _ in range(2):
        async with Handrail([], database=first):
            clashing = Handrail([], database=second)
            with pytest.raises(UsageError, match=r"already works on the jobs of .*first.db.*worker=False"):
                await clashing.open()
            await clashing.close()
            async with Handrail([], database=second, worker=False):
                pass
