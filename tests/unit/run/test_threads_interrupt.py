"""Bodies in threads are asked to stop, since a thread cannot be made to; what goes on is told."""

import asyncio
import threading
from concurrent.futures import Future
from typing import Any

import pytest

from handrail import Context, Handrail, Policy, Principal, tool
from handrail.core.run import invoke
from handrail.core.tell.log import open_runs
from handrail.ext.errors import Aborted
from handrail.ext.ports import MemoryClaims
from handrail.ext.tools import Signal
from tests.unit.run.wait import DEADLINE, eventually, wait_for_event

WITHOUT_ASKING = Policy(approval_mode="policy")


@pytest.mark.req("CX-06", "CX-07")
async def test_a_body_that_ends_while_it_is_told_to_stop_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entered, leave, landed = threading.Event(), threading.Event(), threading.Event()
    tell = invoke._Landing._tell

    def and_say_so(landing: invoke._Landing, work: Future[Any]) -> None:
        tell(landing, work)
        landed.set()

    def end_first() -> None:
        leave.set()
        assert landed.wait(DEADLINE)

    @tool("long.work", level="read")
    def work(*, ctx: Context) -> None:
        """Work long."""
        ctx.signal.on_abort(end_first)
        entered.set()
        assert leave.wait(DEADLINE)

    monkeypatch.setattr(invoke._Landing, "_tell", and_say_so)
    async with Handrail([work]) as hr:
        call = asyncio.create_task(hr.call("long.work", id="call_1"))
        await wait_for_event(entered)
        assert await hr.cancel("call_1")
        out = await call
    assert (out.status, "ignored" in out.result.metadata) == ("cancelled", False)


@pytest.mark.req("CX-06", "CX-07")
@pytest.mark.parametrize("how", ["throw", "poll", "listen", "wait"])
async def test_a_sync_body_hears_of_its_cancellation(how) -> None:
    entered, heard = threading.Event(), threading.Event()
    signals: list[Signal] = []

    @tool("long.work", level="read")
    def work(*, ctx: Context) -> str:
        """Work long."""
        signals.append(ctx.signal)
        if how == "listen":
            ctx.signal.on_abort(heard.set)
        if how == "wait":
            entered.set()
            asyncio.run(ctx.signal.wait())
            heard.set()
        entered.set()
        while not heard.wait(0.001):
            if how == "throw":
                try:
                    ctx.signal.throw_if_aborted()
                except Aborted:
                    heard.set()
                    raise
            elif how == "poll" and ctx.signal.aborted:
                heard.set()
        return "stopped"

    async with Handrail([work]) as hr:
        call = asyncio.create_task(hr.call("long.work", id="c1", session="s"))
        await wait_for_event(entered)
        assert await hr.cancel("c1", "enough")
        out = await call
        assert heard.is_set() and signals[0].reason == "enough"
        assert (out.status, out.result.error) == ("cancelled", "Cancelled: enough.")
        assert [event.kind for event in hr.log.read("local", session="s")] == ["started", "cancelled"]


@pytest.mark.req("CX-06", "CX-07")
async def test_a_sync_body_hears_that_its_callers_task_was_cancelled() -> None:
    entered, heard = threading.Event(), threading.Event()

    @tool("long.work", level="read")
    def work(*, ctx: Context) -> None:
        """Work long."""
        ctx.signal.on_abort(heard.set)
        entered.set()
        assert heard.wait(DEADLINE)

    async with Handrail([work], cancel_grace=DEADLINE) as hr:
        call = asyncio.create_task(hr.call("long.work", session="s"))
        await wait_for_event(entered)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert heard.is_set()
        [_, cancelled] = hr.log.read("local", session="s")
        assert (cancelled.kind, cancelled.payload()["metadata"]) == ("cancelled", {})


@pytest.mark.req("CX-06", "EX-21", "EX-24")
@pytest.mark.parametrize("timeout", [None, 0.5])
async def test_a_thread_that_ignores_its_end_is_reported_and_keeps_its_claim_until_it_ends(timeout) -> None:
    entered, go_on = threading.Event(), threading.Event()

    @tool("stubborn.write", level="write", writes=lambda args: ["desk"], timeout=timeout)
    def stubborn(*, ctx: Context) -> str:
        """Go on, whatever anybody says."""
        entered.set()
        assert go_on.wait(DEADLINE)
        return "written"

    claims = MemoryClaims()
    other = Principal(tenant="local", user="bo")
    async with Handrail([stubborn], policy=WITHOUT_ASKING, claims=claims, cancel_grace=0.01) as hr:
        call = asyncio.create_task(hr.call("stubborn.write", id="c1", session="s"))
        await wait_for_event(entered)
        if timeout is None:
            await hr.cancel("c1")
        out = await call
        expected = ("cancelled", "CANCELLED") if timeout is None else ("failed", "TIMEOUT")
        assert (out.status, out.code) == expected
        assert out.result.metadata["ignored"] is True
        assert "did not heed the interruption" in (out.result.error or "")
        assert not open_runs(hr.log.read("local"))

        refused = await hr.call("stubborn.write", principal=other, session="other")
        assert (refused.status, refused.code) == ("refused", "RESOURCE_BUSY")
        go_on.set()
        assert await eventually(lambda: len(claims) == 0)


@pytest.mark.req("CX-07", "TD-23")
async def test_a_call_that_waits_for_a_thread_can_be_cancelled_and_never_runs() -> None:
    entered, go_on = threading.Semaphore(0), threading.Event()
    ran: list[int] = []

    @tool("queue.up", level="read")
    def body(number: int) -> None:
        """Take a thread."""
        ran.append(number)
        entered.release()
        assert go_on.wait(DEADLINE)

    async with Handrail([body], cancel_grace=DEADLINE) as hr:
        first = [asyncio.create_task(hr.call("queue.up", {"number": n})) for n in range(64)]
        for _ in first:
            assert await asyncio.to_thread(entered.acquire, timeout=DEADLINE)
        last = asyncio.create_task(hr.call("queue.up", {"number": 64}, id="last"))
        assert await eventually(lambda: ("local", "last") in hr._runtime.running)
        assert await hr.cancel("last")
        assert (await last).status == "cancelled" and not (await last).result.metadata
        go_on.set()
        assert {(await call).status for call in first} == {"completed"}
    assert sorted(ran) == list(range(64))


@pytest.mark.req("TD-23")
async def test_a_call_that_waits_for_a_thread_when_handrail_is_closed_has_failed() -> None:
    entered, go_on = threading.Semaphore(0), threading.Event()

    @tool("queue.up", level="read")
    def body() -> str:
        """Take a thread."""
        entered.release()
        assert go_on.wait(DEADLINE)
        return "read"

    hr = Handrail([body])
    first = [asyncio.create_task(hr.call("queue.up")) for _ in range(64)]
    for _ in first:
        assert await asyncio.to_thread(entered.acquire, timeout=DEADLINE)
    last = asyncio.create_task(hr.call("queue.up", id="last"))
    assert await eventually(lambda: ("local", "last") in hr._runtime.running)
    closing = asyncio.create_task(hr.close())
    await asyncio.sleep(0)
    go_on.set()
    await closing
    assert {(await call).status for call in first} == {"completed"}
    assert (await last).status in ("completed", "failed")
    assert not open_runs(hr.log.read("local"))


@pytest.mark.req("TD-23", "CX-06")
@pytest.mark.parametrize("heeds", [True, False])
async def test_what_an_async_body_left_to_a_thread_is_told_to_stop(heeds: bool) -> None:
    entered, go_on = threading.Event(), threading.Event()

    @tool("slow.write", level="write")
    async def slow(*, ctx: Context) -> str:
        """Write slowly."""

        def work() -> str:
            entered.set()
            signal = ctx.signal if heeds else Signal()
            while not signal.aborted and not go_on.wait(0.001):
                pass
            return "written"

        return await ctx.in_thread(work)

    async with Handrail([slow], policy=WITHOUT_ASKING, cancel_grace=0.1) as hr:
        waiting = asyncio.create_task(hr.call("slow.write", id="c"))
        await wait_for_event(entered)
        assert await hr.cancel("c")
        out = await waiting
        go_on.set()
    assert out.status == "cancelled" and out.result.metadata.get("ignored", False) is not heeds
