"""Timeouts: per tool and for all, the tool's own before the other."""

import asyncio
import threading

import pytest

from handrail import Context, Handrail, Policy, define, tool
from handrail.core.tell.log import open_runs
from handrail.ext.errors import DefinitionError
from handrail.ext.ports import MemoryClaims
from handrail.ext.tools import Signal

WITHOUT_ASKING = Policy(approval_mode="policy")


async def much_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every timer of the loop go off that is still there."""
    loop = asyncio.get_running_loop()
    now = loop.time()
    with monkeypatch.context() as turned:
        turned.setattr(loop, "time", lambda: now + 1_000)
        for _ in range(3):
            await asyncio.sleep(0)


async def forever() -> None:
    """Wait forever."""
    await asyncio.Event().wait()


@pytest.mark.req("EX-24")
@pytest.mark.parametrize(
    ("own", "general", "said"),
    [
        (0.01, None, "wait.forever timed out after 0.01 s."),
        (None, 0.02, "wait.forever timed out after 0.02 s."),
        (0.01, 600, "wait.forever timed out after 0.01 s."),
    ],
    ids=["own", "general", "own before general"],
)
async def test_a_body_that_takes_too_long_is_stopped_and_has_failed(own, general, said) -> None:
    slow = tool("wait.forever", level="write", timeout=own, writes=lambda args: ["desk"])(forever)
    claims = MemoryClaims()
    async with Handrail([slow], policy=WITHOUT_ASKING, timeout=general, claims=claims) as hr:
        out = await hr.call("wait.forever", session="s")
        assert (out.status, out.code, out.result.error) == ("failed", "TIMEOUT", said)
        assert [event.type for event in hr.log.read("local", session="s")] == ["tool.started", "tool.failed"]
        assert not hr._runtime.running and len(claims) == 0
        task = asyncio.current_task()
        assert task is not None and task.cancelling() == 0
        await asyncio.sleep(0)


@pytest.mark.req("EX-24")
async def test_a_tool_may_take_longer_than_the_others() -> None:
    go_on = asyncio.Event()

    @tool("slow.read", level="read", timeout=600)
    async def slow() -> str:
        """Read slowly."""
        await go_on.wait()
        return "read"

    quick = tool("wait.forever", level="read")(forever)
    async with Handrail([slow, quick], timeout=0.01) as hr:
        call = asyncio.create_task(hr.call("slow.read"))
        assert (await hr.call("wait.forever")).code == "TIMEOUT"
        assert not call.done()
        go_on.set()
        assert (await call).ok


@pytest.mark.req("EX-24")
@pytest.mark.parametrize("general", [None, 0, 0.0])
async def test_without_a_timeout_or_with_zero_for_all_a_body_has_all_the_time(general) -> None:
    turns = 0

    @tool("turn.around", level="read")
    async def turn() -> str:
        """Take some turns."""
        nonlocal turns
        for _ in range(50):
            turns += 1
            await asyncio.sleep(0)
        return "done"

    async with Handrail([turn], timeout=general) as hr:
        assert (await hr.call("turn.around")).ok
    assert turns == 50


@pytest.mark.req("EX-24")
@pytest.mark.parametrize("timeout", [0, -1, float("inf"), float("nan"), True, "5"])
def test_a_tools_own_timeout_must_be_a_number_of_seconds(timeout) -> None:
    with pytest.raises(DefinitionError, match="is not a positive number of seconds"):
        define("bad.timeout", description="Wait.", timeout=timeout, execute=lambda args: None)


@pytest.mark.req("EX-24")
@pytest.mark.parametrize("ends", ["returns", "raises"])
async def test_the_timer_is_gone_after_a_quick_call(ends, monkeypatch) -> None:
    signals: list[Signal] = []

    @tool("quick.read", level="read", timeout=0.01)
    async def quick(*, ctx: Context) -> str:
        """Read quickly."""
        signals.append(ctx.signal)
        if ends == "raises":
            raise ValueError("nothing to read")
        return "read"

    async with Handrail([quick]) as hr:
        out = await hr.call("quick.read")
        assert out.status == ("completed" if ends == "returns" else "failed")
        await much_later(monkeypatch)
        assert not signals[0].aborted
        task = asyncio.current_task()
        assert task is not None and task.cancelling() == 0


@pytest.mark.req("EX-24", "CX-06")
async def test_a_sync_body_hears_that_its_time_is_over() -> None:
    heard = threading.Event()

    @tool("slow.read", level="read", timeout=0.01)
    def slow(*, ctx: Context) -> None:
        """Read slowly."""
        ctx.signal.on_abort(heard.set)
        assert heard.wait(20)
        assert ctx.signal.reason == "timed out after 0.01 s"

    async with Handrail([slow]) as hr:
        out = await hr.call("slow.read")
        assert (out.status, out.code, dict(out.result.metadata)) == ("failed", "TIMEOUT", {})
        assert not open_runs(hr.log.read("local"))


@pytest.mark.req("EX-24", "CX-06")
async def test_a_body_that_swallows_its_timeout_is_reported() -> None:
    @tool("deaf.read", level="read", timeout=0.01)
    async def deaf() -> str:
        """Read, whatever the time."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "read"
        return ""

    async with Handrail([deaf]) as hr:
        out = await hr.call("deaf.read")
        assert (out.status, out.code) == ("failed", "TIMEOUT")
        assert out.result.metadata["ignored"] is True
        assert "did not heed the interruption" in (out.result.error or "")
        task = asyncio.current_task()
        assert task is not None and task.cancelling() == 0


@pytest.mark.req("EX-24")
async def test_a_timeout_of_the_bodys_own_is_no_timeout_of_the_tool() -> None:
    @tool("own.timeout", level="read", timeout=600)
    async def own() -> str:
        """Give up by itself."""
        try:
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()
        except TimeoutError:
            return "gave up"
        return ""

    async with Handrail([own]) as hr:
        assert (await hr.call("own.timeout")).result.data == "gave up"


@pytest.mark.req("EX-24", "EX-09")
async def test_the_time_a_person_takes_to_answer_does_not_count(monkeypatch) -> None:
    async def approver(request):
        await much_later(monkeypatch)
        return True

    @tool("quick.write", level="write", timeout=0.02)
    async def quick() -> str:
        """Write quickly."""
        return "written"

    async with Handrail([quick], approver=approver) as hr:
        assert (await hr.call("quick.write")).ok


@pytest.mark.req("EX-24")
async def test_a_call_cancelled_after_its_time_was_over_has_timed_out() -> None:
    swallowed, go_on = asyncio.Event(), asyncio.Event()

    @tool("slow.read", level="read", timeout=0.01)
    async def slow() -> None:
        """Read slowly."""
        try:
            await asyncio.Event().wait()
        finally:
            swallowed.set()
            await go_on.wait()

    async with Handrail([slow]) as hr:
        call = asyncio.create_task(hr.call("slow.read", id="c1", session="s"))
        await swallowed.wait()
        cancelling = asyncio.create_task(hr.cancel("c1"))
        await asyncio.sleep(0)
        go_on.set()
        assert await cancelling
        out = await call
        assert (out.status, out.code) == ("failed", "TIMEOUT")
        assert [event.kind for event in hr.log.read("local", session="s")] == ["started", "failed"]
