"""A process that was taken for dead, or a call whose caller went away: what others did meanwhile stands."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, update

from handrail import Handrail, Outcome, Policy, Principal, Tool, tool
from handrail.core.define.call import BoundCall
from handrail.core.define.schema import digest_of
from handrail.core.guard.approval_request import ApprovalRequest, Reply, approve
from handrail.core.guard.idempotency import KeyId, key_id
from handrail.core.guard.plans import PlannedCall, Taken
from handrail.core.tell.events import Event, ToolStarted
from handrail.core.tell.runs import Run
from handrail.store import leases
from handrail.store.approvals import StoreApprovals
from handrail.store.database import Database
from handrail.store.events.log import StoreLog
from handrail.store.plans import StorePlans
from handrail.store.tables.calls import idempotency_keys, jobs
from handrail.store.tables.event_log import open_runs

ANA = Principal("acme", "ana", permissions={"*"})
FREE = Policy(approval_mode="danger")


@pytest.fixture
def url(database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HANDRAIL_KEY", "5a" * 32)
    monkeypatch.setenv("HANDRAIL_LEASE", "3600")  # nobody renews it while a test runs
    return database_url


def paying(ran: list[str], who: str, **options: Any) -> Tool:
    @tool("pay.send", level="write", **options)
    async def send(amount: int) -> str:
        """Send money."""
        ran.append(who)
        return who

    return send


async def pay(hr: Handrail, key: str = "k1") -> Outcome:
    return await hr.call("pay.send", {"amount": 1}, principal=ANA, session="s1", idempotency_key=key)


def database_of(hr: Handrail) -> Database:
    book = hr._runtime.approvals
    assert isinstance(book, StoreApprovals)
    return book._db


def take_for_dead(hr: Handrail) -> None:
    """As others see it, the process of this Handrail is no more."""
    db = database_of(hr)
    with db.system() as conn:
        leases.end_lease(conn, db.holder)


@asynccontextmanager
async def guest(url: str, tools: list[Tool], **options: Any) -> AsyncGenerator[Handrail, None]:
    async with Handrail(tools, database=url, worker=False, **options) as hr:
        yield hr


@pytest.mark.req("BY-12")
@pytest.mark.fault("F05", "F07")
async def test_whoever_was_taken_for_dead_before_the_effect_does_not_make_it_too(url: str) -> None:
    ran: list[str] = []
    asked, awake = asyncio.Event(), asyncio.Event()

    async def slow(request: ApprovalRequest) -> Reply:
        asked.set()
        await awake.wait()
        return approve(by="bo")

    async def quick(request: ApprovalRequest) -> Reply:
        return approve(by="bo")

    async with (
        guest(url, [paying(ran, "frozen")], approver=slow) as frozen,
        guest(url, [paying(ran, "other")], approver=quick) as other,
    ):
        first = asyncio.ensure_future(pay(frozen))
        await asked.wait()
        take_for_dead(frozen)
        second = await pay(other)
        awake.set()
        late = await first
        again = await pay(frozen)
    assert ran == ["other"]
    assert (second.status, late.status, late.code) == ("completed", "refused", "INTERRUPTED")
    assert "'k1'" in (late.result.error or "")
    assert (again.status, again.result.data) == ("duplicate", "other")


@pytest.mark.req("BY-12", "EX-20")
@pytest.mark.fault("F07")
async def test_a_planned_call_that_went_on_elsewhere_is_not_run_by_who_took_it_first(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    taken, awake, take = asyncio.Event(), asyncio.Event(), StorePlans.take
    planning = Policy(plan=True, approval_mode="policy")

    async def frozen_after(plans: StorePlans, planned: PlannedCall, session: str | None = None) -> Taken:
        found = await take(plans, planned, session)
        if plans is frozen._runtime.plans:
            taken.set()
            await awake.wait()
        return found

    monkeypatch.setattr(StorePlans, "take", frozen_after)
    async with (
        guest(url, [paying(ran, "frozen")], policy=planning) as frozen,
        guest(url, [paying(ran, "other")], policy=planning) as other,
    ):
        await frozen.call("pay.send", {"amount": 1}, principal=ANA)
        first = asyncio.ensure_future(frozen.run_plan(ANA))
        await taken.wait()
        take_for_dead(frozen)
        [out] = await other.run_plan(ANA)
        awake.set()
        [late] = await first
    assert ran == ["other"]
    assert (out.status, late.status, late.result.data) == ("completed", "duplicate", "other")


@pytest.mark.req("BY-12")
@pytest.mark.fault("F07")
async def test_a_job_that_went_on_elsewhere_leaves_no_key_that_is_waited_for(url: str) -> None:
    began, awake = asyncio.Event(), asyncio.Event()

    @tool("pay.send", level="write", danger="safe")
    async def send(amount: int) -> int:
        """Send money."""
        began.set()
        await awake.wait()
        return amount

    async with Handrail([send], database=url, policy=FREE) as hr:
        out = await hr.submit("pay.send", {"amount": 1}, principal=ANA, idempotency_key="k1")
        await asyncio.wait_for(began.wait(), 20)
        with database_of(hr).transaction("acme") as conn:  # another worker took it over, and ended it
            conn.execute(update(jobs).values(holder="other#1", state="done"))
            conn.execute(delete(open_runs))
        awake.set()
        again = await asyncio.wait_for(pay(hr), 20)
    assert out.status == "queued"
    assert again.status == "needs_review"


@pytest.mark.req("AP-08")
@pytest.mark.fault("F11")
async def test_a_question_of_a_call_that_was_cancelled_meanwhile_is_not_left_behind(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    async with guest(url, [paying(ran, "ana")]) as hr:
        db, writing = database_of(hr), threading.Event()
        adding = asyncio.Event()
        add = StoreApprovals.add

        async def held_up(book: StoreApprovals, request: ApprovalRequest) -> None:
            db.post("acme", lambda conn: writing.wait(20))
            adding.set()
            await add(book, request)

        monkeypatch.setattr(StoreApprovals, "add", held_up)
        call = asyncio.ensure_future(pay(hr))
        await adding.wait()
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        writing.set()
        monkeypatch.undo()
        again = await pay(hr)
        assert again.status == "pending"
        assert [one.id for one in await hr.approvals.list(ANA)] == [again.approval_id]


@pytest.mark.fault("F08")
async def test_the_end_of_an_orphan_is_told_though_the_first_look_at_it_failed(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_LEASE", "1")
    ran: list[str] = []
    hr = Handrail([paying(ran, "ana")], database=url)
    try:
        call = BoundCall("pay.send", ANA, "call_1", source="agent", session="s1")
        started = ToolStarted(call, "pay.send", 1.0, "run_1", {"amount": 1}, (), False)
        hr.log.append(started)
        await hr.log.flush(started)
        with database_of(hr).transaction("acme") as conn:
            conn.execute(update(open_runs).values(holder="gone"))
        read, failures = StoreLog.read, [OSError("connection refused")]

        def failing(log: StoreLog, tenant: str, **filters: Any) -> Iterator[Event]:
            if failures:
                raise failures.pop()
            return read(log, tenant, **filters)

        monkeypatch.setattr(StoreLog, "read", failing)
        await hr.open()
        run = await _soon_over(hr, "run_1")
    finally:
        await hr.close()
    assert (run.status, failures, ran) == ("needs_review", [], [])


async def _soon_over(hr: Handrail, run_id: str) -> Run:
    log = hr.log
    assert isinstance(log, StoreLog)
    for _ in range(400):
        run = await log.run("acme", run_id)
        if run is not None and run.status != "running":
            return run
        await asyncio.sleep(0.05)
    raise AssertionError(f"{run_id} is still open")


@pytest.mark.fault("F01")
async def test_a_submission_that_was_refused_does_not_pass_for_the_end_of_the_next(url: str) -> None:
    ran: list[str] = []
    async with guest(url, [paying(ran, "ana", danger="safe")], policy=FREE) as hr:
        wrong = await hr.submit("pay.send", {"amount": "much"}, principal=ANA, idempotency_key="k1")
        right = await hr.submit("pay.send", {"amount": 1}, principal=ANA, idempotency_key="k1")
        assert (wrong.status, right.status) == ("refused", "queued")
        with database_of(hr).transaction("acme") as conn:  # a worker took it, and died before it began
            conn.execute(update(jobs).values(state="running", attempts=1, holder="gone#1"))
    async with Handrail([paying(ran, "ana", danger="safe")], database=url, policy=FREE) as hr:
        out = await hr.wait(right.call_id, 20)
    assert (out.status, ran) == ("completed", ["ana"])


@pytest.mark.req("BY-12")
@pytest.mark.fault("F05")
async def test_ending_what_a_dead_process_left_takes_no_key_from_whoever_went_on_with_it(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_LEASE", "1")
    ran: list[str] = []
    began, awake = asyncio.Event(), asyncio.Event()

    @tool("pay.send", level="write", danger="safe", idempotent=True)
    async def send(amount: int) -> str:
        """Send money."""
        ran.append("ana")
        began.set()
        await awake.wait()
        return "ana"

    hr = Handrail([send], database=url, policy=FREE)
    try:
        call = BoundCall("pay.send", ANA, "call_1", source="agent", session="s1", idempotency_key="k1")
        key = key_id(ANA, "k1")
        assert await _begun(hr, key)
        hr._runtime.keys.dispatched(key)
        started = ToolStarted(call, "pay.send", 1.0, "run_1", {"amount": 1}, (), True)
        hr.log.append(started)
        await hr.log.flush(started)
        await database_of(hr).flushed()
        hr._runtime.keys.forsake(key)
        with database_of(hr).transaction("acme") as conn:
            conn.execute(update(open_runs).values(holder="gone"))
            conn.execute(update(idempotency_keys).values(holder="gone"))
        first = asyncio.ensure_future(pay(hr))
        await asyncio.wait_for(began.wait(), 20)
        await hr.open()
        await _soon_over(hr, "run_1")
        second = asyncio.ensure_future(pay(hr))
        await database_of(hr).flushed()
        await asyncio.wait([second], timeout=0.3)
        awake.set()
        assert [(await one).status for one in (first, second)] == ["completed", "duplicate"]
    finally:
        await hr.close()
    assert ran == ["ana"]


async def _begun(hr: Handrail, key: KeyId) -> bool:
    fingerprint = digest_of(["pay.send", {"amount": 1}])
    return (await hr._runtime.keys.begin(key, fingerprint, "call_1"))[1]


@pytest.mark.req("BY-12")
@pytest.mark.fault("F01", "F05")
async def test_a_question_that_was_never_told_of_is_asked_anew_and_once(url: str) -> None:
    ran: list[str] = []
    code = (
        "import asyncio, os, sys; from handrail import Handrail; "
        "from handrail.core.run.approvals import gate; from tests.contract.test_fencing import pay, paying; "
        "gate._tell = lambda *_: os._exit(9); "
        "hr = Handrail([paying([], 'killed')], database=sys.argv[1], worker=False); asyncio.run(pay(hr))"
    )
    killed = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code, url), cwd=Path(__file__).parents[2]
    )
    assert await killed.wait() == 9
    async with guest(url, [paying(ran, "ana")]) as hr:
        out = await pay(hr)
        assert out.status == "pending"
        assert [one.id for one in await hr.approvals.list(ANA)] == [out.approval_id]
