"""Cancelling the caller's own task: the end is told, and the cancellation passes through."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from handrail import Handrail, Policy, tool
from handrail.core.tell.log import open_runs

WITHOUT_ASKING = Policy(approval_mode="policy")
WRITE = {"level": "write", "description": "Write.", "writes": lambda args: ["desk"]}


def handrail(body: Callable, **options) -> Handrail:
    """A Handrail whose one tool writes on the desk."""
    return Handrail([tool("desk.write", **WRITE)(body)], policy=WITHOUT_ASKING, **options)


def left_nothing(hr: Handrail, call_id: str = "c1") -> None:
    """Check what must hold after every cancelled call."""
    ends = [event.type for event in hr.log.read("local", call_id=call_id) if event.kind != "started"]
    assert ends == ["tool.cancelled"]
    assert not open_runs(hr.log.read("local"))
    assert not hr._runtime.running
    assert not len(hr._runtime.claims)  # type: ignore[arg-type]


@pytest.mark.req("CX-07", "CX-08", "EX-21")
async def test_a_cancelled_task_is_told_and_stays_cancelled() -> None:
    entered = asyncio.Event()

    async def body() -> None:
        entered.set()
        await asyncio.Event().wait()

    async with handrail(body) as hr:
        call = asyncio.create_task(hr.call("desk.write", id="c1"))
        await entered.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert call.cancelled()
        left_nothing(hr)
        [end] = hr.log.read("local", call_id="c1", status="cancelled")
        assert end.payload()["reason"] == "Cancelled: the caller was cancelled."


@pytest.mark.req("CX-07")
@pytest.mark.parametrize("first", ["id", "task"])
@pytest.mark.parametrize("does", ["heeds", "swallows", "fails"])
async def test_cancelled_by_id_and_by_task_at_the_same_moment_the_task_stays_cancelled(first, does) -> None:
    entered = asyncio.Event()

    async def body() -> None:
        entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if does == "fails":
                raise ValueError("could not tidy up") from None
            if does == "heeds":
                raise

    async with handrail(body) as hr:
        call = asyncio.create_task(hr.call("desk.write", id="c1"))
        await entered.wait()
        by_id = asyncio.create_task(hr.cancel("c1"))
        if first == "task":
            call.cancel()
        await asyncio.sleep(0)  # the request by id is made; the body has not run since
        if first == "id":
            call.cancel()
        await by_id
        with pytest.raises(asyncio.CancelledError):
            await call
        left_nothing(hr)


@pytest.mark.req("CX-07")
async def test_a_task_cancelled_while_a_body_ends_reluctantly_stays_cancelled() -> None:
    entered, swallowed, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def body() -> None:
        entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            swallowed.set()
            await go_on.wait()

    async with handrail(body) as hr:
        call = asyncio.create_task(hr.call("desk.write", id="c1"))
        await entered.wait()
        by_id = asyncio.create_task(hr.cancel("c1"))
        await swallowed.wait()
        call.cancel()
        assert await by_id
        with pytest.raises(asyncio.CancelledError):
            await call
        left_nothing(hr)


@pytest.mark.req("CX-07")
async def test_a_timeout_around_a_call_ends_it_and_only_it() -> None:
    async def body() -> None:
        await asyncio.Event().wait()

    async with handrail(body) as hr:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await hr.call("desk.write", id="c1")
        task = asyncio.current_task()
        assert task is not None and task.cancelling() == 0
        left_nothing(hr)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(hr.call("desk.write", id="c2"), 0.01)
        left_nothing(hr, "c2")


@pytest.mark.req("CX-07")
async def test_a_timeout_around_a_call_is_not_set_off_by_cancelling_the_call() -> None:
    entered = asyncio.Event()

    async def body() -> None:
        entered.set()
        await asyncio.Event().wait()

    async def cancel() -> None:
        await entered.wait()
        await hr.cancel("c1")

    async with handrail(body) as hr:
        canceller = asyncio.create_task(cancel())
        async with asyncio.timeout(60) as limit:
            out = await hr.call("desk.write", id="c1")
        assert out.status == "cancelled" and not limit.expired()
        await canceller
        left_nothing(hr)


@pytest.mark.req("CX-07", "CX-08")
async def test_a_task_group_that_fails_cancels_the_calls_in_it() -> None:
    entered = asyncio.Semaphore(0)

    @tool("group.read", level="read")
    async def body() -> None:
        """Read."""
        entered.release()
        await asyncio.Event().wait()

    async def fail() -> None:
        for _ in range(3):
            await entered.acquire()
        raise ValueError("no more")

    async def group_of_calls() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(3):
                group.create_task(hr.call("group.read", id=f"c{number}"))
            group.create_task(fail())

    async with Handrail([body]) as hr:
        with pytest.raises(ExceptionGroup) as caught:
            await group_of_calls()
        assert [type(error) for error in caught.value.exceptions] == [ValueError]
        for number in range(3):
            left_nothing(hr, f"c{number}")


@pytest.mark.req("CX-07")
async def test_a_call_cancelled_by_id_does_not_end_the_task_group_around_it() -> None:
    entered, go_on = asyncio.Event(), asyncio.Event()

    @tool("group.read", level="read")
    async def body(wait: bool) -> str:
        """Read."""
        if wait:
            entered.set()
            await asyncio.Event().wait()
        await go_on.wait()
        return "read"

    async with Handrail([body]) as hr:
        async with asyncio.TaskGroup() as group:
            first = group.create_task(hr.call("group.read", {"wait": True}, id="c1"))
            second = group.create_task(hr.call("group.read", {"wait": False}))
            await entered.wait()
            assert await hr.cancel("c1")
            go_on.set()
        assert (first.result().status, second.result().status) == ("cancelled", "completed")
        left_nothing(hr)


@pytest.mark.req("CX-07", "EX-12")
async def test_a_body_whose_inner_task_was_cancelled_has_failed_and_the_caller_goes_on() -> None:
    async def body() -> None:
        inner = asyncio.create_task(asyncio.Event().wait())
        inner.cancel()
        await inner

    async with handrail(body) as hr:
        out = await hr.call("desk.write", id="c1")
        assert (out.status, out.code) == ("failed", "TOOL_FAILED")
        assert not open_runs(hr.log.read("local"))


@pytest.mark.req("CX-07")
async def test_a_task_cancelled_before_it_ran_leaves_no_trace() -> None:
    async def body() -> str:
        return "written"

    async with handrail(body) as hr:
        call = asyncio.create_task(hr.call("desk.write", id="c1"))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert list(hr.log.read("local")) == []
        assert not hr._runtime.running


@pytest.mark.req("CX-07", "EX-21")
async def test_a_call_whose_coroutine_is_closed_is_told_as_cancelled() -> None:
    async def body() -> None:
        await asyncio.Event().wait()

    async with handrail(body) as hr:
        coroutine = hr.call("desk.write", id="c1")
        coroutine.send(None)
        coroutine.close()
        left_nothing(hr)


@pytest.mark.req("CX-07")
async def test_a_call_belongs_to_the_loop_that_began_it_while_another_thread_runs_one() -> None:
    held, go_on = threading.Event(), threading.Event()

    async def hold() -> str:
        held.set()
        go_on.wait(30)
        return "held"

    async def wait() -> None:
        await asyncio.Event().wait()

    hr = Handrail(
        [
            tool("loop.hold", level="read", description="Hold up the loop.")(hold),
            tool("loop.wait", level="read", description="Wait.")(wait),
        ]
    )
    with ThreadPoolExecutor(1) as threads:
        other = threads.submit(asyncio.run, hr.call("loop.hold"))
        try:
            assert await asyncio.to_thread(held.wait, 30)
            call = asyncio.create_task(hr.call("loop.wait", id="c1"))
            await asyncio.sleep(0)
            assert await asyncio.wait_for(hr.cancel("c1"), 30)
            assert (await call).status == "cancelled"
        finally:
            go_on.set()
        assert other.result().status == "completed"
