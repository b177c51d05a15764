"""A sync body calls other tools from its thread, and stops waiting when its own call has to stop."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from handrail import Context, Handrail, Policy, Principal, tool
from handrail import sync as blocking
from handrail.core.define.signal import Aborted, Signal
from handrail.core.tell.log import open_runs

ANA = Principal(tenant="acme", user="ana")


@tool("outer.ask", level="read")
def outer(name: str = "inner.answer", *, ctx: Context) -> dict[str, Any]:
    """Ask another tool."""
    found = ctx.call_and_wait(name, {})
    return {"status": found.status, "code": found.code, "data": found.result.data, "call": found.call_id}


@tool("inner.answer", level="read")
async def answer(*, ctx: Context) -> str:
    """Answer."""
    return f"{ctx.tenant_id} {ctx.user_id} {ctx.source} {ctx.session_id} {ctx.turn}"


def stuck(entered: asyncio.Event) -> Any:
    @tool("inner.answer", level="read")
    async def body() -> None:
        """Never answer."""
        entered.set()
        await asyncio.Event().wait()

    return body


@pytest.mark.req("EX-12")
async def test_a_sync_body_calls_another_tool_with_the_identity_of_its_own_call() -> None:
    async with Handrail([outer, answer]) as hr:
        out = await hr.call("outer.ask", principal=ANA, source="job", session="s", turn=3, id="c1")
        assert out.result.data["data"] == "acme ana job s 3"
        [started, *_] = hr.log.read("acme", call_id=out.result.data["call"])
        assert (started.call.parent, started.call.depth) == ("c1", 1)


@pytest.mark.req("EX-09")
async def test_it_passes_the_same_guard() -> None:
    async with Handrail([outer, answer], policy=Policy(deny=["inner.*"])) as hr:
        out = await hr.call("outer.ask")
        assert (out.result.data["status"], out.result.data["code"]) == ("refused", "NOT_PERMITTED")


@pytest.mark.req("EX-12")
def test_it_works_behind_the_blocking_facade() -> None:
    with blocking.Handrail([outer, answer]) as hr:
        assert hr.call("outer.ask", principal=ANA).result.data["status"] == "completed"


@pytest.mark.req("EX-12")
async def test_sync_bodies_that_all_wait_for_sync_bodies_do_not_wait_for_ever() -> None:
    """As many as there are threads, each waiting for one more."""
    everybody = threading.Barrier(64)

    @tool("inner.answer", level="read")
    def inner() -> str:
        """Answer once everybody has asked."""
        everybody.wait(30)
        return "here"

    async with Handrail([outer, inner]) as hr:
        outs = await asyncio.gather(*(hr.call("outer.ask") for _ in range(64)))
        assert [out.result.data["data"] for out in outs] == ["here"] * 64


@pytest.mark.req("EX-12")
async def test_on_the_loops_own_thread_it_says_what_to_use_instead() -> None:
    @tool("outer.ask", level="read")
    async def wrong(*, ctx: Context) -> str:
        """Wait in the loop."""
        return ctx.call_and_wait("inner.answer").status

    async with Handrail([wrong, answer]) as hr:
        out = await hr.call("outer.ask")
        assert out.status == "failed" and "await ctx.call(...)" in (out.result.error or "")


@pytest.mark.req("CX-07")
async def test_cancelling_the_outer_call_cancels_the_nested_one_first() -> None:
    entered = asyncio.Event()
    async with Handrail([outer, stuck(entered)], cancel_grace=30) as hr:
        call = asyncio.create_task(hr.call("outer.ask", id="c1", session="s"))
        await entered.wait()
        assert await hr.cancel("c1")
        out = await call
        told = [(event.kind, event.tool) for event in hr.log.read("local", session="s")]

    assert (out.status, out.result.metadata.get("ignored")) == ("cancelled", None)
    assert told[-2:] == [("cancelled", "inner.answer"), ("cancelled", "outer.ask")]
    assert not open_runs(hr.log.read("local"))


@pytest.mark.req("CX-07")
async def test_a_caller_that_is_cancelled_takes_the_nested_call_along() -> None:
    entered = asyncio.Event()
    async with Handrail([outer, stuck(entered)], cancel_grace=30) as hr:
        call = asyncio.create_task(hr.call("outer.ask", session="s"))
        await entered.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert not open_runs(hr.log.read("local"))


@pytest.mark.req("EX-24")
async def test_the_outer_calls_time_is_the_nested_calls_time() -> None:
    said: list[str] = []

    @tool("outer.slow", level="read", timeout=0.5)
    def slow(*, ctx: Context) -> None:
        """Ask what never answers."""
        try:
            ctx.call_and_wait("inner.answer")
        except Aborted as error:
            said.append(str(error))
            raise

    async with Handrail([slow, stuck(asyncio.Event())], cancel_grace=30) as hr:
        out = await hr.call("outer.slow", session="s")
        told = [(event.kind, event.tool) for event in hr.log.read("local", session="s")]

    assert (out.status, out.code, out.result.metadata.get("ignored")) == ("failed", "TIMEOUT", None)
    assert said == ["timed out after 0.5 s"]
    assert told[-1] == ("failed", "outer.slow") and ("cancelled", "inner.answer") in told


@pytest.mark.req("EX-12")
async def test_calls_that_nest_without_end_fail() -> None:
    @tool("outer.ask", level="read")
    def again(*, ctx: Context) -> Any:
        """Call itself."""
        found = ctx.call_and_wait("outer.ask")
        return found.result

    async with Handrail([again]) as hr:
        assert (await hr.call("outer.ask")).code == "TOO_DEEP"


@pytest.mark.req("EX-12")
async def test_a_context_that_outlived_its_call_calls_nothing_any_more() -> None:
    kept: list[Context] = []

    @tool("outer.ask", level="read")
    def keep(*, ctx: Context) -> None:
        """Keep the context."""
        kept.append(ctx)

    async with Handrail([keep, answer]) as hr:
        await hr.call("outer.ask")
        with pytest.raises(Exception, match="The call is over"):
            await asyncio.to_thread(kept[0].call_and_wait, "inner.answer")


def test_a_listener_that_was_taken_off_hears_nothing() -> None:
    signal, heard = Signal(), list[str]()
    forget = signal.on_abort(lambda: heard.append("first"))
    signal.on_abort(lambda: heard.append("second"))
    forget()
    forget()
    signal.abort("enough")
    assert heard == ["second"]
    signal.on_abort(lambda: heard.append("late"))()
    assert heard == ["second", "late"]
