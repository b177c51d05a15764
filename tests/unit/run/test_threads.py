"""Sync bodies: in threads, so that the loop goes on; asked to stop, since a thread cannot be made to."""

import asyncio
import threading
from contextvars import ContextVar

import pytest

from handrail import Context, Handrail, Policy, Principal, ToolError, from_params, tool
from handrail.core.tell.log import open_runs
from handrail.ext.compat import get_tenant_id_for_tool
from handrail.ext.events import Event
from tests.unit.run.wait import DEADLINE, eventually, wait_for_event

WITHOUT_ASKING = Policy(approval_mode="policy")


@pytest.mark.req("TD-23")
async def test_a_sync_body_does_not_hold_up_the_loop() -> None:
    entered, go_on = threading.Event(), threading.Event()

    @tool("slow.read", level="read")
    def slow() -> str:
        """Read slowly."""
        entered.set()
        assert go_on.wait(DEADLINE)
        return "read"

    @tool("quick.read", level="read")
    async def quick() -> str:
        """Read quickly."""
        return "quick"

    async with Handrail([slow, quick]) as hr:
        waiting = asyncio.create_task(hr.call("slow.read"))
        await wait_for_event(entered)
        assert (await hr.call("quick.read")).result.data == "quick"
        assert not waiting.done()
        go_on.set()
        assert (await waiting).result.data == "read"


@pytest.mark.req("TD-23")
async def test_sync_bodies_run_side_by_side() -> None:
    all_there = threading.Barrier(8, timeout=DEADLINE)

    @tool("meet.up", level="read")
    def meet() -> int:
        """Wait for the others."""
        return all_there.wait()

    async with Handrail([meet]) as hr:
        outs = await asyncio.gather(*(hr.call("meet.up") for _ in range(8)))
    assert sorted(out.result.data for out in outs) == list(range(8))


@pytest.mark.req("TD-23")
async def test_a_hundred_sync_calls_at_once_all_end_and_leave_no_thread() -> None:
    @tool("numbers.double", level="read")
    def double(number: int, *, ctx: Context) -> int:
        """Double a number."""
        ctx.metadata(number=number)
        return number * 2

    before = threading.active_count()
    async with Handrail([double]) as hr:
        heard: list[int] = []

        def hear(event: Event) -> None:
            if event.kind == "progress":
                heard.append(event.payload()["told"]["number"])

        hr.subscribe(hear)
        outs = await asyncio.gather(*(hr.call("numbers.double", {"number": n}) for n in range(100)))
        assert [out.result.data for out in outs] == [n * 2 for n in range(100)]
        assert sorted(heard) == list(range(100))
        assert not open_runs(hr.log.read("local"))
    assert await eventually(lambda: threading.active_count() <= before)


COLOUR: ContextVar[str] = ContextVar("colour")


@pytest.mark.req("TD-23", "EX-01")
async def test_context_variables_and_the_tenant_reach_the_thread() -> None:
    @tool("who.am_i", level="read")
    def who(*, ctx: Context) -> list[str]:
        """Say who calls."""
        return [threading.current_thread().name, COLOUR.get(), get_tenant_id_for_tool(), ctx.tenant_id]

    COLOUR.set("blue")
    async with Handrail([who]) as hr:
        out = await hr.call("who.am_i", principal=Principal(tenant="acme"))
    thread, *rest = out.result.data
    assert thread != threading.current_thread().name
    assert rest == ["blue", "acme", "acme"]


@pytest.mark.req("TD-22", "TD-23")
async def test_a_body_may_take_arguments_only_or_the_context_too() -> None:
    one = from_params("one.arg", lambda args: args.a, description="One.", level="read", paramSchema=PARAMS)
    two = from_params(
        "two.args",
        lambda args, ctx: f"{args.a} {ctx.tenant_id}",
        description="Two.",
        level="read",
        paramSchema=PARAMS,
    )

    async def later(args, ctx):
        return f"{args.a} {ctx.tenant_id}"

    three = from_params("three.args", later, description="Three.", level="read", paramSchema=PARAMS)
    async with Handrail([one, two, three]) as hr:
        outs = [await hr.call(name, {"a": "x"}) for name in ("one.arg", "two.args", "three.args")]
    assert [out.result.data for out in outs] == ["x", "x local", "x local"]


PARAMS = {"a": {"type": "string"}}


@pytest.mark.req("TD-23")
async def test_a_sync_body_may_return_something_to_await() -> None:
    async def answer() -> str:
        return threading.current_thread().name

    @tool("later.read", level="read")
    def later():
        """Read later."""
        return answer()

    async with Handrail([later]) as hr:
        out = await hr.call("later.read")
    assert out.result.data == threading.current_thread().name


class Rude(BaseException):
    """Derives from BaseException, as pytest's own exceptions do."""


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.req("EX-12")
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ValueError("seven is no colour"), "TOOL_FAILED", "seven is no colour"),
        (ToolError("There is no such note.", code="NO_NOTE"), "NO_NOTE", "There is no such note."),
        (SystemExit(3), "TOOL_FAILED", "The body called exit (3)."),
        (StopIteration(7), "TOOL_FAILED", "StopIteration"),
        (StopAsyncIteration(7), "TOOL_FAILED", "7"),
        (RecursionError("too deep"), "TOOL_FAILED", "too deep"),
        (ValueError(), "TOOL_FAILED", "Unknown error"),
        (Unprintable(), "TOOL_FAILED", "Unknown error"),
        (asyncio.CancelledError(), "TOOL_FAILED", ""),
        (TimeoutError("the other side"), "TOOL_FAILED", "the other side"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
async def test_whatever_a_body_raises_is_a_failed_call(is_async, error, code, words) -> None:
    hr = failing_with(error, is_async)
    async with hr:
        out = await asyncio.wait_for(hr.call("bad.write", session="s"), DEADLINE)
        assert (out.status, out.code) == ("failed", code)
        assert words in (out.result.error or "")
        assert [event.kind for event in hr.log.read("local", session="s")] == ["started", "failed"]
        assert not hr._runtime.running and not len(hr._runtime.claims)  # type: ignore[arg-type]


@pytest.mark.req("EX-12", "EX-21")
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
async def test_what_is_no_exception_passes_through_but_leaves_nothing_open(is_async) -> None:
    async with failing_with(Rude(), is_async) as hr:
        with pytest.raises(Rude):
            await hr.call("bad.write", session="s")
        kinds = [event.kind for event in hr.log.read("local", session="s")]
        assert kinds == ["started", "cancelled"]
        assert not hr._runtime.running and not len(hr._runtime.claims)  # type: ignore[arg-type]


def failing_with(error: BaseException, is_async: bool) -> Handrail:
    """A Handrail whose only tool raises."""

    def sync_body() -> None:
        raise error

    async def async_body() -> None:
        raise error

    body = async_body if is_async else sync_body
    options = {"level": "write", "description": "Fail.", "writes": lambda args: ["desk"]}
    return Handrail([tool("bad.write", **options)(body)], policy=WITHOUT_ASKING)


@pytest.mark.req("TD-23")
async def test_an_async_body_leaves_what_waits_to_a_thread_with_its_context() -> None:
    @tool("slow.read", level="read")
    async def slow(fails: bool = False, *, ctx: Context) -> list[object]:
        """Read slowly."""

        def work() -> list[object]:
            if fails:
                raise ToolError("It is gone.", code="GONE")
            return [threading.current_thread() is threading.main_thread(), get_tenant_id_for_tool()]

        return await ctx.in_thread(work)

    async with Handrail([slow]) as hr:
        assert (await hr.call("slow.read", principal=Principal("acme"))).result.data == [False, "acme"]
        assert (await hr.call("slow.read", {"fails": True})).code == "GONE"
