"""Cancelling a call by its id: it ends, is told once, and leaves nothing behind."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from handrail import Context, Handrail, Outcome, Policy, Principal, tool
from handrail.core.tell.log import open_runs
from handrail.ext.events import Event
from handrail.ext.ports import MemoryClaims

WITHOUT_ASKING = Policy(approval_mode="policy")
WRITE = {"level": "write", "description": "Write.", "writes": lambda args: ["desk"]}


def handrail(body: Callable, **options) -> Handrail:
    """A Handrail whose one tool writes on the desk."""
    return Handrail([tool("desk.write", **WRITE)(body)], policy=WITHOUT_ASKING, **options)


async def left_nothing(hr: Handrail, out: Outcome | None, call_id: str = "c1") -> None:
    """Check what must hold after every cancelled call."""
    ends = [event for event in hr.log.read("local", call_id=call_id) if event.kind != "started"]
    assert [event.type for event in ends] == ["tool.cancelled"]
    if out is not None:
        assert (out.status, out.code, out.ok) == ("cancelled", "CANCELLED", False)
        assert ends[0].payload()["reason"] == out.result.error
    assert not open_runs(hr.log.read("local"))
    assert not hr._runtime.running
    assert not len(hr._runtime.claims)  # type: ignore[arg-type]
    task = asyncio.current_task()
    assert task is not None and task.cancelling() == 0
    await asyncio.sleep(0)


@pytest.mark.req("CX-07", "CX-08", "EX-21")
async def test_a_body_that_awaits_is_cancelled_by_its_call_id() -> None:
    entered, ended = asyncio.Event(), []

    async def body(*, ctx: Context) -> None:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(ctx.signal.reason)

    async with handrail(body) as hr:
        call = asyncio.create_task(hr.call("desk.write", id="c1"))
        await entered.wait()
        assert await hr.cancel("c1", "the user left")
        assert call.done()
        out = await call
        assert out.result.error == "Cancelled: the user left."
        assert ended == ["the user left"]
        assert out.run_id is not None and not call.cancelled()
        await left_nothing(hr, out)


@pytest.mark.req("CX-07")
async def test_the_caller_goes_on_as_if_nothing_had_happened() -> None:
    async def body(*, ctx: Context) -> None:
        await asyncio.Event().wait()

    async with handrail(body) as hr:
        cancelling: list[asyncio.Task[bool]] = []

        def hear(event: Event) -> None:
            if event.kind == "started":
                cancelling.append(asyncio.create_task(hr.cancel("c1")))

        hr.subscribe(hear)
        async with asyncio.timeout(60):
            out = await hr.call("desk.write", id="c1")
            await left_nothing(hr, out)
            await asyncio.sleep(0)
        again = asyncio.create_task(asyncio.sleep(0, "slept"))
        assert await again == "slept"


@pytest.mark.req("CX-07")
async def test_a_call_that_is_not_there_cannot_be_cancelled() -> None:
    async def body() -> str:
        return "written"

    async with handrail(body) as hr:
        assert not await hr.cancel("c1")
        assert (await hr.call("desk.write", id="c1")).ok
        assert not await hr.cancel("c1")


@pytest.mark.req("CX-07")
async def test_a_call_cancelled_twice_is_told_once_and_keeps_the_first_reason() -> None:
    entered = asyncio.Event()

    async def body() -> None:
        entered.set()
        await asyncio.Event().wait()

    async with handrail(body) as hr:
        call = asyncio.create_task(hr.call("desk.write", id="c1"))
        await entered.wait()
        assert all(await asyncio.gather(hr.cancel("c1", "first"), hr.cancel("c1", "second")))
        out = await call
        assert out.result.error == "Cancelled: first."
        await left_nothing(hr, out)


@pytest.mark.req("CX-07")
@pytest.mark.parametrize("where", ["thread", "loop"])
async def test_a_call_can_be_cancelled_from_elsewhere(where) -> None:
    entered = asyncio.Event()

    async def body() -> None:
        entered.set()
        await asyncio.Event().wait()

    async with handrail(body) as hr:
        loop = asyncio.get_running_loop()
        call = asyncio.create_task(hr.call("desk.write", id="c1"))
        await entered.wait()

        def from_thread() -> bool:
            if where == "loop":
                return asyncio.run(hr.cancel("c1"))
            return asyncio.run_coroutine_threadsafe(hr.cancel("c1"), loop).result(20)

        assert await asyncio.to_thread(from_thread)
        await left_nothing(hr, await call)


@pytest.mark.req("CX-06", "CX-07")
async def test_a_body_that_swallows_its_cancellation_and_returns_is_reported() -> None:
    entered = asyncio.Event()

    async def body() -> str:
        entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "written all the same"
        return ""

    async with handrail(body) as hr:
        call = asyncio.create_task(hr.call("desk.write", id="c1"))
        await entered.wait()
        assert await hr.cancel("c1", "enough")
        out = await call
        assert out.result.metadata["ignored"] is True
        assert (out.result.error or "").startswith("Cancelled: enough. It did not heed the interruption")
        assert out.result.data is None
        await left_nothing(hr, out)


@pytest.mark.req("CX-06", "CX-07", "EX-21")
async def test_a_body_that_goes_on_is_waited_for_no_longer_than_the_grace() -> None:
    entered, swallowed, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def body() -> str:
        entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            swallowed.set()
            await go_on.wait()
        return "written"

    async with handrail(body, cancel_grace=0.01) as hr:
        call = asyncio.create_task(hr.call("desk.write", id="c1"))
        await entered.wait()
        assert not await hr.cancel("c1")
        assert swallowed.is_set() and not call.done()
        assert len(hr._runtime.claims) == 1  # type: ignore[arg-type]
        go_on.set()
        out = await call
        assert out.result.metadata["ignored"] is True
        await left_nothing(hr, out)


@pytest.mark.req("CX-07")
async def test_a_body_that_fails_while_it_is_cancelled_is_cancelled() -> None:
    entered = asyncio.Event()

    async def body() -> None:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("could not tidy up")

    async with handrail(body) as hr:
        call = asyncio.create_task(hr.call("desk.write", id="c1"))
        await entered.wait()
        assert await hr.cancel("c1")
        out = await call
        assert not out.result.metadata
        await left_nothing(hr, out)


@pytest.mark.req("CX-07")
async def test_a_body_may_cancel_its_own_call() -> None:
    async def body(*, ctx: Context) -> None:
        await hr.cancel(ctx.call_id, "I changed my mind")

    async with handrail(body) as hr:
        out = await hr.call("desk.write", id="c1")
        assert out.result.error == "Cancelled: I changed my mind."
        await left_nothing(hr, out)


@pytest.mark.req("CX-07")
@pytest.mark.parametrize("then", ["return", "raise"])
async def test_a_body_that_cancels_itself_and_never_awaits_again_is_cancelled(then) -> None:
    async def body(*, ctx: Context) -> str:
        cancelling = hr.cancel(ctx.call_id)
        cancelling.send(None)  # as far as it gets without awaiting
        cancelling.close()
        if then == "raise":
            raise ValueError("and failed")
        return "written"

    async with handrail(body) as hr:
        out = await hr.call("desk.write", id="c1")
        assert out.result.metadata == ({"ignored": True} if then == "return" else {})
        await left_nothing(hr, out)


@pytest.mark.req("CX-07", "CX-08")
async def test_many_calls_are_cancelled_one_by_one_and_the_others_go_on() -> None:
    entered, go_on = threading.Semaphore(0), asyncio.Event()

    @tool("many.read", level="read")
    async def body(number: int) -> int:
        """Read a number."""
        entered.release()
        await go_on.wait()
        return number

    async with Handrail([body]) as hr:
        calls = [asyncio.create_task(hr.call("many.read", {"number": n}, id=f"c{n}")) for n in range(50)]
        while len(hr._runtime.running) < 50:  # noqa: ASYNC110
            await asyncio.sleep(0)
        stopped = await asyncio.gather(*(hr.cancel(f"c{n}") for n in range(0, 50, 2)))
        assert all(stopped)
        go_on.set()
        outs = await asyncio.gather(*calls)
        assert [out.status for out in outs] == ["cancelled", "completed"] * 25
        assert not open_runs(hr.log.read("local"))
        assert not hr._runtime.running


@pytest.mark.req("CX-07", "EX-21")
async def test_a_cancelled_call_frees_what_it_claimed_for_others() -> None:
    entered = asyncio.Event()

    async def body(stay: bool) -> str:
        if stay:
            entered.set()
            await asyncio.Event().wait()
        return "written"

    claims = MemoryClaims()
    other = Principal(tenant="local", user="bo")
    async with handrail(body, claims=claims) as hr:
        call = asyncio.create_task(hr.call("desk.write", {"stay": True}, id="c1", session="s1"))
        await entered.wait()
        refused = await hr.call("desk.write", {"stay": False}, principal=other, session="s2")
        assert refused.code == "RESOURCE_BUSY"
        assert await hr.cancel("c1")
        assert (await hr.call("desk.write", {"stay": False}, principal=other, session="s2")).ok
        await left_nothing(hr, await call)


@pytest.mark.req("CX-07", "BY-12")
async def test_a_key_whose_call_was_cancelled_stands_for_the_cancelled_call() -> None:
    entered, ran = asyncio.Event(), []

    async def body() -> None:
        ran.append(1)
        entered.set()
        await asyncio.Event().wait()

    async with handrail(body) as hr:
        call = asyncio.create_task(hr.call("desk.write", id="c1", idempotency_key="k"))
        await entered.wait()
        await hr.cancel("c1")
        await left_nothing(hr, await call)
        again = await hr.call("desk.write", idempotency_key="k")
        assert (again.status, again.code, again.ok) == ("duplicate", "CANCELLED", False)
    assert ran == [1]


@pytest.mark.req("CX-07")
async def test_leaving_a_stream_cancels_its_call() -> None:
    async def body(*, ctx: Context) -> None:
        ctx.metadata(title="Half")
        await asyncio.Event().wait()

    async with handrail(body) as hr:
        events = hr.stream("desk.write", id="c1")
        async for event in events:
            if event.kind == "progress":
                break
        await events.aclose()
        await left_nothing(hr, None)
