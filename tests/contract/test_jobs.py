"""One suite for every engine of jobs: in memory, and over the databases."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from handrail import Context, Handrail, Outcome, Policy, Principal, tool
from handrail.core.define.call import BoundCall
from handrail.core.ids import new_id
from handrail.core.run.jobs.job import JobLimits, Jobs
from handrail.core.run.jobs.memory import MemoryJobs
from handrail.core.run.jobs.perform import JobContext
from handrail.core.run.jobs.submit import submit
from handrail.core.run.outcomes import Outcomes
from handrail.ext.compat import get_tenant_id_for_tool
from handrail.jobs.durable_jobs import DurableJobs
from handrail.jobs.migrate import upgrade as upgrade_engine
from handrail.store.database import Database
from handrail.store.encryption import Seal
from handrail.store.events.log import StoreLog
from handrail.store.leases import Heartbeat
from handrail.store.migrate import upgrade

ANA = Principal(tenant="acme", user="ana", permissions=["*"])
BO = Principal(tenant="other", user="bo", permissions=["*"])
FREE = Policy(approval_mode="danger")


class JobSetup:
    """One Handrail with an engine of jobs behind it."""

    def __init__(self, hr: Handrail, jobs: Jobs, outcomes: Outcomes) -> None:
        self.hr, self.jobs, self.outcomes = hr, jobs, outcomes

    async def submit(
        self,
        name: str,
        args: Any = None,
        who: Principal = ANA,
        *,
        delay: float | None = None,
        key: str | None = None,
        session: str | None = None,
    ) -> Outcome:
        call = BoundCall(name, who, new_id("call"), source="agent", session=session, idempotency_key=key)
        return await submit(call, args or {}, self.hr._runtime, self.jobs, delay=delay)

    async def wait(self, out: Outcome) -> Outcome:
        return await self.outcomes.wait(out.call_id, 20)

    def kinds(self, out: Outcome, tenant: str = "acme") -> list[str]:
        return [event.kind for event in self.hr.log.read(tenant, call_id=out.call_id)]


Opener = Callable[..., AbstractAsyncContextManager[JobSetup]]


@asynccontextmanager
async def in_memory(where: Path, *tools: Any, limits: JobLimits | None = None) -> AsyncIterator[JobSetup]:
    async with Handrail(tools, policy=FREE) as hr:
        outcomes = Outcomes()
        work = JobContext(hr._runtime, hr.dead_letters.ended, outcomes.put)
        jobs = MemoryJobs(lambda: work, hr._runtime.clock, limits)
        try:
            yield JobSetup(hr, jobs, outcomes)
        finally:
            await jobs.close()


def on_database(url: str) -> Opener:
    @asynccontextmanager
    async def opened(where: Path, *tools: Any, limits: JobLimits | None = None) -> AsyncIterator[JobSetup]:
        database = Database(url)
        log = StoreLog(database)
        jobs = DurableJobs(database, Seal([b"k" * 32]), log, limits=limits)
        heartbeat = Heartbeat(database, "worker")
        heartbeat.start()
        async with Handrail(tools, policy=FREE, log=log) as hr:
            outcomes = Outcomes()
            work = JobContext(hr._runtime, hr.dead_letters.ended, outcomes.put)
            try:
                jobs.attach(lambda: work)
                await jobs.start()
                yield JobSetup(hr, jobs, outcomes)
            finally:
                await jobs.close()
                heartbeat.stop()
                database.close()

    return opened


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def opener(request: pytest.FixtureRequest) -> Opener:
    if request.param == "memory":
        return in_memory
    name = "sqlite_url" if request.param == "sqlite" else "postgres_url"
    url = str(request.getfixturevalue(name))
    upgrade(url)
    upgrade_engine(url)
    return on_database(url)


@tool("notes.echo", level="read")
async def echo(text: str) -> str:
    """Give back a text."""
    return text


@tool("notes.tenant", level="read")
async def tenant_of() -> list[str]:
    """Say for which tenant this runs, here and in parallel."""

    async def ask() -> str:
        await asyncio.sleep(0)
        return get_tenant_id_for_tool()

    return [get_tenant_id_for_tool(), *await asyncio.gather(ask(), ask())]


@tool("notes.forbidden", level="read", requires="notes.secret")
async def forbidden() -> str:
    """Give what needs a permission."""
    return "secret"


@tool("notes.wipe", level="destructive", danger="dangerous")
async def wipe() -> str:
    """Remove all notes."""
    return "gone"


async def test_a_submitted_call_is_queued_at_once_and_runs_by_itself(opener: Opener, tmp_path: Path) -> None:
    async with opener(tmp_path, echo) as bench:
        out = await bench.submit("notes.echo", {"text": "hi"})
        assert (out.status, out.code) == ("queued", "SUBMITTED")
        ended = await bench.wait(out)
        assert (ended.status, ended.result.data, ended.call_id) == ("completed", "hi", out.call_id)
        assert bench.kinds(out) == ["started", "completed"]
        entry = await bench.jobs.get(out.call_id, "acme")
        assert entry is not None and entry.state == "done"


@pytest.mark.req("BJ-04")
async def test_a_job_runs_as_its_tenant_also_in_parallel(opener: Opener, tmp_path: Path) -> None:
    async with opener(tmp_path, tenant_of) as bench:
        outs = [await bench.submit("notes.tenant", who=who) for who in (ANA, BO, ANA, BO)]
        said = [(await bench.wait(out)).result.data for out in outs]
    assert said == [[name] * 3 for name in ("acme", "other", "acme", "other")]


async def test_what_the_guard_would_refuse_is_refused_at_once(opener: Opener, tmp_path: Path) -> None:
    nobody = Principal(tenant="acme", user="cy")
    async with opener(tmp_path, echo, forbidden) as bench:
        assert (await bench.submit("notes.forbidden", who=nobody)).code == "NOT_PERMITTED"
        assert (await bench.submit("notes.unknown")).code == "TOOL_NOT_FOUND"
        assert (await bench.submit("notes.echo", {"txt": 1})).code in ("MISSING_PARAM", "INVALID_PARAM")
        assert await bench.jobs.list("acme") == []


async def test_what_needs_a_person_waits_for_one_instead_of_a_worker(opener: Opener, tmp_path: Path) -> None:
    async with opener(tmp_path, wipe) as bench:
        out = await bench.submit("notes.wipe")
        assert out.status == "pending"
        assert await bench.jobs.list("acme") == []


async def test_the_same_key_finds_the_same_job_and_refuses_another_body(
    opener: Opener, tmp_path: Path
) -> None:
    async with opener(tmp_path, echo) as bench:
        one = await bench.submit("notes.echo", {"text": "a"}, key="k1")
        two = await bench.submit("notes.echo", {"text": "a"}, key="k1")
        other = await bench.submit("notes.echo", {"text": "b"}, key="k1")
        assert two.call_id == one.call_id and two.status == "queued"
        assert other.code == "KEY_REUSED" and other.call_id != one.call_id
        assert (await bench.wait(one)).result.data == "a"
        assert len(await bench.jobs.list("acme")) == 1
        assert bench.kinds(one) == ["started", "completed"]


async def test_a_delayed_job_waits_for_its_time(opener: Opener, tmp_path: Path) -> None:
    async with opener(tmp_path, echo) as bench:
        late = await bench.submit("notes.echo", {"text": "late"}, delay=2.5)
        soon = await bench.submit("notes.echo", {"text": "soon"})
        await bench.wait(soon)
        assert bench.kinds(late) == []
        assert (await bench.wait(late)).result.data == "late"
        [began] = [e.at for e in bench.hr.log.read("acme", call_id=late.call_id, status="started")]
        [before] = [e.at for e in bench.hr.log.read("acme", call_id=soon.call_id, status="started")]
        assert began > before


@pytest.mark.fault("F11")
@pytest.mark.req("BY-18")
async def test_a_job_that_is_queued_or_delayed_can_be_cancelled(opener: Opener, tmp_path: Path) -> None:
    ran: list[str] = []

    @tool("notes.mark", level="read")
    async def mark() -> str:
        """Note that this ran."""
        ran.append("x")
        return "x"

    async with opener(tmp_path, mark) as bench:
        out = await bench.submit("notes.mark", delay=3600)
        assert await bench.jobs.cancel(out.call_id, "acme", "nobody needs it") is True
        ended = await bench.wait(out)
        assert (ended.status, ended.code) == ("cancelled", "CANCELLED")
        assert bench.kinds(out) == ["cancelled"]
        entry = await bench.jobs.get(out.call_id, "acme")
        assert entry is not None and (entry.state, entry.reason) == ("cancelled", "nobody needs it")
        assert await bench.jobs.cancel(out.call_id, "acme", "again") is False
    assert ran == []


@pytest.mark.fault("F11")
@pytest.mark.req("BY-18")
async def test_a_job_that_runs_can_be_cancelled_and_frees_its_slot(opener: Opener, tmp_path: Path) -> None:
    began, stopped = asyncio.Event(), asyncio.Event()

    @tool("notes.hang", level="read")
    async def hang() -> str:
        """Wait for ever."""
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return "never"

    async with opener(tmp_path, hang, echo, limits=JobLimits(per_tenant=1)) as bench:
        out = await bench.submit("notes.hang")
        await asyncio.wait_for(began.wait(), 20)
        behind = await bench.submit("notes.echo", {"text": "next"})
        assert await bench.jobs.cancel(out.call_id, "acme", "enough") is True
        await asyncio.wait_for(stopped.wait(), 20)
        assert (await bench.wait(out)).status == "cancelled"
        assert (await bench.wait(behind)).result.data == "next"
        assert bench.kinds(out) == ["started", "cancelled"]


async def test_a_foreign_tenant_neither_sees_nor_cancels_a_job(opener: Opener, tmp_path: Path) -> None:
    async with opener(tmp_path, echo) as bench:
        out = await bench.submit("notes.echo", {"text": "mine"}, delay=3600)
        assert await bench.jobs.get(out.call_id, "other") is None
        assert await bench.jobs.list("other") == []
        assert await bench.jobs.cancel(out.call_id, "other", "mischief") is False
        assert await bench.jobs.unblock(out.call_id, "other") is False
        entry = await bench.jobs.get(out.call_id, "acme")
        assert entry is not None and entry.state == "queued"


async def test_no_more_of_a_tenant_run_at_once_than_its_limit(opener: Opener, tmp_path: Path) -> None:
    now: dict[str, int] = {}
    most: dict[str, int] = {}

    @tool("notes.count", level="read")
    async def count(*, ctx: Context) -> str:
        """Count how many of these run at once."""
        who = ctx.tenant_id
        now[who] = now.get(who, 0) + 1
        most[who] = max(most.get(who, 0), now[who])
        await asyncio.sleep(0.02)
        now[who] -= 1
        return "ok"

    async with opener(tmp_path, count, limits=JobLimits(per_tenant=2)) as bench:
        outs = [await bench.submit("notes.count", who=who) for who in (ANA, BO) * 5]
        for out in outs:
            assert (await bench.wait(out)).status == "completed"
    assert most["acme"] <= 2 and most["other"] <= 2


async def test_a_rate_holds_back_what_comes_too_fast(opener: Opener, tmp_path: Path) -> None:
    begun: list[int] = []

    @tool("notes.when", level="read")
    async def when(number: int) -> int:
        """Note that this ran."""
        begun.append(number)
        return number

    async with opener(tmp_path, when, limits=JobLimits(rate=(2, 3600.0))) as bench:
        outs = [await bench.submit("notes.when", {"number": number}) for number in range(4)]

        async def two_are_over() -> bool:
            return len(await bench.jobs.list("acme", state="done")) == 2

        await _soon(two_are_over)
        held_back = await bench.jobs.list("acme", state="queued")
        assert len(held_back) == 2 and {entry.id for entry in held_back} < {out.call_id for out in outs}
    assert len(begun) == 2


@pytest.mark.fault("F13")
async def test_a_job_whose_tool_is_gone_is_blocked_with_the_reason_until_it_is_back(
    opener: Opener, tmp_path: Path
) -> None:
    async with opener(tmp_path, echo) as bench:
        out = await bench.submit("notes.echo", {"text": "kept"}, delay=0.3)
        bench.hr.registry.unregister("notes.echo")
        [blocked] = await _soon(lambda: bench.jobs.list("acme", state="blocked"))
        assert blocked.id == out.call_id and "notes.echo" in (blocked.reason or "")
        assert bench.kinds(out) == []
        bench.hr.registry.register(echo)
        assert await bench.jobs.unblock(out.call_id, "acme") is True
        assert (await bench.wait(out)).result.data == "kept"


@pytest.mark.fault("F13")
async def test_a_job_whose_arguments_no_longer_fit_is_blocked(opener: Opener, tmp_path: Path) -> None:
    @tool("notes.echo", level="read")
    async def changed(number: int) -> int:
        """Give back a number."""
        return number

    async with opener(tmp_path, echo) as bench:
        await bench.submit("notes.echo", {"text": "kept"}, delay=0.3)
        bench.hr.registry.unregister("notes.echo")
        bench.hr.registry.register(changed)
        [blocked] = await _soon(lambda: bench.jobs.list("acme", state="blocked"))
        assert "no longer fit" in (blocked.reason or "")
        assert await bench.jobs.cancel(blocked.id, "acme", "not wanted") is True
        assert (await bench.jobs.list("acme"))[0].state == "cancelled"


@pytest.mark.req("RT-03")
async def test_what_failed_in_a_session_is_retried_as_a_whole(opener: Opener, tmp_path: Path) -> None:
    broken = [True]

    @tool("notes.shaky", level="read")
    async def shaky(number: int) -> int:
        """Fail until somebody has mended it."""
        if broken[0]:
            raise RuntimeError("not yet")
        return number

    async with opener(tmp_path, shaky) as bench:
        outs = [await bench.submit("notes.shaky", {"number": n}, session="s1") for n in (1, 2)]
        assert [(await bench.wait(out)).status for out in outs] == ["failed", "failed"]
        broken[0] = False
        again = await bench.hr.dead_letters.replay_session("s1", by=ANA)
        assert sorted(out.result.data for out in again) == [1, 2]
        parents = {e.call.parent for e in bench.hr.log.read("acme", session="s1", status="completed")}
        assert parents == {out.call_id for out in outs}
        assert await bench.hr.dead_letters.replay_session("s1", by=ANA) == []


async def _soon(look: Callable[[], Any]) -> Any:
    """What comes of looking until there is something."""
    deadline = asyncio.get_running_loop().time() + 20
    while asyncio.get_running_loop().time() < deadline:
        if found := await look():
            return found
        await asyncio.sleep(0.02)
    raise AssertionError("nothing came")
