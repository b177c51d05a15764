"""Nested calls: the same guard, the same principal, and an end that goes down but not up."""

import asyncio
import threading

import pytest

from handrail import Context, Handrail, Policy, Principal, Result, tool
from handrail.core.tell.log import open_runs
from handrail.ext.ports import MemoryClaims

WITHOUT_ASKING = Policy(approval_mode="policy")


@tool("outer.ask", level="read")
async def outer(name: str = "inner.answer", *, ctx: Context) -> dict:
    """Ask another tool."""
    found = await ctx.call(name, {})
    return {"status": found.status, "code": found.code, "data": found.result.data, "call": found.call_id}


@tool("inner.answer", level="read")
async def answer(*, ctx: Context) -> str:
    """Answer."""
    return f"{ctx.tenant_id} {ctx.user_id} {ctx.source} {ctx.session_id} {ctx.turn}"


@pytest.mark.req("EX-12")
async def test_a_nested_call_has_the_identity_of_the_outer_one() -> None:
    ana = Principal(tenant="acme", user="ana")
    async with Handrail([outer, answer]) as hr:
        out = await hr.call("outer.ask", principal=ana, source="job", session="s", turn=3, id="c1")
        assert out.result.data["data"] == "acme ana job s 3"
        [started, *_] = hr.log.read("acme", call_id=out.result.data["call"])
        assert (started.call.parent, started.call.depth) == ("c1", 1)


@pytest.mark.req("EV-01")
@pytest.mark.parametrize("session", [None, "s"])
async def test_the_events_of_a_nested_call_are_numbered_with_those_of_the_outer_one(session) -> None:
    async with Handrail([outer, answer]) as hr:
        await hr.call("outer.ask", session=session, id="c1")
        events = list(hr.log.read("local"))
        assert {event.session for event in events} == {session or "call:c1"}
        assert [event.seq for event in events] == [1, 2, 3, 4]


@pytest.mark.req("EX-09")
async def test_a_nested_call_passes_the_same_guard() -> None:
    @tool("inner.write", level="write")
    async def write() -> str:
        """Write."""
        return "written"

    async with Handrail([outer, write]) as hr:
        out = await hr.call("outer.ask", {"name": "inner.write"})
        assert (out.result.data["status"], out.result.data["code"]) == ("pending", "NEEDS_APPROVAL")


@pytest.mark.req("EX-21")
async def test_a_nested_call_may_write_what_the_outer_one_claimed() -> None:
    @tool("outer.write", level="write", writes=lambda args: ["desk"])
    async def write(*, ctx: Context) -> str:
        """Write, with the help of another tool."""
        return (await ctx.call("inner.write")).status

    @tool("inner.write", level="write", writes=lambda args: ["desk"])
    async def help_writing() -> str:
        """Help."""
        return "helped"

    claims = MemoryClaims()
    async with Handrail([write, help_writing], policy=WITHOUT_ASKING, claims=claims) as hr:
        assert (await hr.call("outer.write", session="s")).result.data == "completed"
        assert (await hr.call("outer.write")).result.data == "completed"
    assert len(claims) == 0


@tool("outer.deep", level="read")
async def deep(depth: int = 0, *, ctx: Context) -> Result:
    """Call itself."""
    found = await ctx.call("outer.deep", {"depth": depth + 1})
    return found.result if found.ok else Result(False, depth, error=found.result.error, code=found.code)


@pytest.mark.req("EX-12")
async def test_tools_that_call_each_other_without_end_fail_sixteen_deep() -> None:
    async with Handrail([deep]) as hr:
        out = await hr.call("outer.deep", session="s")
        assert (out.status, out.code) == ("failed", "TOO_DEEP")
        assert "more than 16 deep" in (out.result.error or "")
        assert len(list(hr.log.read("local", status="started"))) == 17
        assert not open_runs(hr.log.read("local"))


def stuck(entered: asyncio.Event):
    @tool("inner.answer", level="read")
    async def body() -> None:
        """Never answer."""
        entered.set()
        await asyncio.Event().wait()

    return body


@pytest.mark.req("CX-08", "CX-07")
@pytest.mark.parametrize("by", ["id", "task"])
async def test_cancelling_the_outer_call_cancels_the_nested_one_and_both_are_told(by) -> None:
    entered = asyncio.Event()
    async with Handrail([outer, stuck(entered)]) as hr:
        call = asyncio.create_task(hr.call("outer.ask", id="c1", session="s"))
        await entered.wait()
        if by == "id":
            assert await hr.cancel("c1", "enough")
            assert (await call).status == "cancelled"
        else:
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        told = [(event.kind, event.tool) for event in hr.log.read("local", session="s")]
        assert told == [
            ("started", "outer.ask"),
            ("started", "inner.answer"),
            ("cancelled", "inner.answer"),
            ("cancelled", "outer.ask"),
        ]
        assert not hr._runtime.running


@pytest.mark.req("CX-08", "CX-07")
async def test_cancelling_the_outer_call_cancels_nested_ones_in_tasks_and_threads_too() -> None:
    entered, aborted = threading.Semaphore(0), threading.Event()

    @tool("outer.both", level="read")
    async def both(*, ctx: Context) -> None:
        """Call two at once."""
        async with asyncio.TaskGroup() as group:
            group.create_task(ctx.call("inner.loop"))
            group.create_task(ctx.call("inner.thread"))

    @tool("inner.loop", level="read")
    async def in_loop() -> None:
        """Wait in the loop."""
        entered.release()
        await asyncio.Event().wait()

    @tool("inner.thread", level="read")
    def in_thread(*, ctx: Context) -> None:
        """Wait in a thread."""
        ctx.signal.on_abort(aborted.set)
        entered.release()
        assert aborted.wait(20)

    async with Handrail([both, in_loop, in_thread]) as hr:
        call = asyncio.create_task(hr.call("outer.both", id="c1", session="s"))
        for _ in range(2):
            assert await asyncio.to_thread(entered.acquire, timeout=20)
        assert await hr.cancel("c1")
        assert (await call).status == "cancelled"
        assert aborted.is_set()
        kinds = [event.kind for event in hr.log.read("local", session="s")]
        assert sorted(kinds) == ["cancelled"] * 3 + ["started"] * 3
        assert not open_runs(hr.log.read("local"))


@pytest.mark.req("EX-24", "CX-07")
async def test_a_nested_call_that_runs_out_of_time_does_not_end_the_outer_one() -> None:
    @tool("inner.answer", level="read", timeout=0.01)
    async def body() -> None:
        """Never answer."""
        await asyncio.Event().wait()

    async with Handrail([outer, body], timeout=600) as hr:
        out = await hr.call("outer.ask", session="s")
        assert (out.status, out.result.data["code"]) == ("completed", "TIMEOUT")
        kinds = [(event.kind, event.tool) for event in hr.log.read("local", session="s")]
        assert kinds[-2:] == [("failed", "inner.answer"), ("completed", "outer.ask")]


@pytest.mark.req("CX-07")
async def test_cancelling_a_nested_call_does_not_end_the_outer_one() -> None:
    entered = asyncio.Event()
    async with Handrail([outer, stuck(entered)]) as hr:
        call = asyncio.create_task(hr.call("outer.ask", id="c1"))
        await entered.wait()
        [inner] = [one for _, one in hr._runtime.running if one != "c1"]
        assert await hr.cancel(inner)
        out = await call
        assert (out.status, out.result.data["status"]) == ("completed", "cancelled")


@pytest.mark.req("EX-24", "CX-08")
async def test_the_outer_calls_timeout_ends_the_nested_one() -> None:
    entered = asyncio.Event()
    slow = tool("outer.slow", level="read", timeout=0.01)(outer.body.fn)  # type: ignore[union-attr]
    async with Handrail([slow, stuck(entered)]) as hr:
        out = await hr.call("outer.slow", session="s")
        assert (out.status, out.code) == ("failed", "TIMEOUT")
        told = [(event.kind, event.tool) for event in hr.log.read("local", session="s")]
        assert told[-2:] == [("cancelled", "inner.answer"), ("failed", "outer.slow")]
        assert not open_runs(hr.log.read("local"))


@pytest.mark.req("EX-24", "CX-07")
async def test_timeout_of_the_nested_and_cancel_of_the_outer_at_the_same_moment() -> None:
    entered, swallowed, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @tool("inner.answer", level="read", timeout=0.01)
    async def body() -> None:
        """Answer late."""
        entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            swallowed.set()
            await go_on.wait()

    async with Handrail([outer, body]) as hr:
        call = asyncio.create_task(hr.call("outer.ask", id="c1", session="s"))
        await swallowed.wait()
        assert await hr.cancel("c1")
        out = await call
        assert (out.status, out.code) == ("cancelled", "CANCELLED")
        assert not open_runs(hr.log.read("local"))
        kinds = [(event.kind, event.tool) for event in hr.log.read("local", session="s")]
        assert len(kinds) == 4 and kinds[-1] == ("cancelled", "outer.ask")


@pytest.mark.req("EX-12")
async def test_a_context_that_outlived_its_call_can_tell_nothing_any_more() -> None:
    kept: list[Context] = []

    @tool("keep.context", level="read")
    async def keep(*, ctx: Context) -> None:
        """Keep the context."""
        kept.append(ctx)

    async with Handrail([keep]) as hr:
        await hr.call("keep.context", session="s")
        with pytest.raises(Exception, match="The call is over"):
            kept[0].metadata(title="Still here")
        with pytest.raises(Exception, match="The call is over"):
            kept[0].append_output("still here")
        assert len(list(hr.log.read("local", session="s"))) == 2
