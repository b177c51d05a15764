"""Cancelling a call wherever it waits: for an initialiser, a twin, a person, a hook or the log."""

import asyncio

import pytest

from handrail import Handrail, Outcome, Policy, Principal, define, tool
from handrail.core.tell.log import open_runs
from handrail.ext.ports import MemoryClaims, MemoryIdempotencyKeys, MemoryLog
from handrail.ext.toolsets import StaticToolset

WITHOUT_ASKING = Policy(approval_mode="policy")


@tool("desk.write", level="write", writes=lambda args: ["desk"])
async def write() -> str:
    """Write on the desk."""
    RAN.append("ran")
    return "written"


RAN: list[str] = []
HOW = [("id", "heeds"), ("id", "swallows"), ("id", "fails"), ("task", "heeds")]
"""Who cancels, and what the port that is waited for does about it."""


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


class Stop:
    """Somewhere a call waits; what it does when it is cancelled there differs."""

    def __init__(self, does: str = "heeds") -> None:
        self.entered = asyncio.Event()
        self._does = does

    async def wait(self) -> None:
        self.entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if self._does == "fails":
                raise ValueError("could not tidy up") from None
            if self._does == "heeds":
                raise


def left_nothing(hr: Handrail, out: Outcome | None, call_id: str = "c1") -> None:
    """Check what must hold after a call that was cancelled before its body ran."""
    told = [event.type for event in hr.log.read("local", call_id=call_id)]
    assert told.count("tool.cancelled") == 1
    assert not {"tool.started", "tool.completed", "tool.failed"} & set(told)
    if out is not None:
        assert (out.status, out.code, out.run_id) == ("cancelled", "CANCELLED", None)
    assert not open_runs(hr.log.read("local"))
    assert not hr._runtime.running
    assert not len(hr._runtime.claims)  # type: ignore[arg-type]
    task = asyncio.current_task()
    assert task is not None and task.cancelling() == 0
    assert RAN == []


async def cancelled(hr: Handrail, stop: Stop, by: str, name: str = "desk.write", **options) -> None:
    """Make a call, cancel it where it stops, and check that it left nothing."""
    ended: list[int] = []

    async def caller() -> Outcome:
        out = await hr.call(name, id="c1", **options)
        task = asyncio.current_task()
        assert task is not None
        ended.append(task.cancelling())
        await asyncio.sleep(0)
        return out

    call = asyncio.create_task(caller())
    await asyncio.wait_for(stop.entered.wait(), 20)
    if by == "id":
        assert await hr.cancel("c1", "enough")
        out = await call
        assert ended == [0]
        assert out.result.error == "Cancelled: enough."
        left_nothing(hr, out)
    else:
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        left_nothing(hr, None)


@pytest.mark.req("CX-07", "CX-08")
@pytest.mark.parametrize(("by", "does"), HOW)
async def test_while_it_waits_for_the_approver(by, does) -> None:
    stop = Stop(does)

    async def approver(request):
        await stop.wait()
        return True

    async with Handrail([write], approver=approver) as hr:
        await cancelled(hr, stop, by)


@pytest.mark.req("CX-07", "CX-08", "EX-21")
@pytest.mark.parametrize(("by", "does"), HOW)
async def test_while_it_waits_in_a_hook_before_the_body(by, does) -> None:
    stop = Stop(does)

    class Hook:
        async def before(self, tool, values, ctx, /):
            await stop.wait()

        async def after(self, tool, values, ctx, result, /):
            return result

    async with Handrail([write], policy=WITHOUT_ASKING, hooks=[Hook()]) as hr:
        await cancelled(hr, stop, by)


@pytest.mark.req("CX-07", "CX-08", "RG-10")
@pytest.mark.parametrize("by", ["id", "task"])
async def test_while_it_waits_for_its_tools_initialiser(by) -> None:
    stop = Stop()

    async def initialise(init):
        await stop.wait()

    async with Handrail([define("late.write", initialise)]) as hr:
        await cancelled(hr, stop, by, "late.write")


@pytest.mark.req("CX-07", "CX-08")
@pytest.mark.parametrize("by", ["id", "task"])
async def test_while_it_waits_for_a_toolset(by) -> None:
    stop = Stop()

    class Slow(StaticToolset):
        async def find(self, name: str, principal: Principal, /):
            await stop.wait()
            return await super().find(name, principal)

    async with Handrail([Slow([write])]) as hr:
        await cancelled(hr, stop, by)


@pytest.mark.req("CX-07", "CX-08", "BY-12")
@pytest.mark.parametrize("by", ["id", "task"])
async def test_while_it_waits_for_a_twin_with_the_same_key(by) -> None:
    entered, go_on, asked = asyncio.Event(), asyncio.Event(), Stop()

    class Keys(MemoryIdempotencyKeys):
        async def begin(self, key, fingerprint, call_id, /):
            entry, ours = await super().begin(key, fingerprint, call_id)
            if not ours:
                asked.entered.set()
            return entry, ours

    @tool("pay.once", level="write")
    async def pay() -> str:
        """Pay."""
        entered.set()
        await go_on.wait()
        return "paid"

    async with Handrail([pay], policy=WITHOUT_ASKING, keys=Keys()) as hr:
        first = asyncio.create_task(hr.call("pay.once", idempotency_key="k", id="first"))
        await entered.wait()
        third = asyncio.create_task(hr.call("pay.once", idempotency_key="k", id="third"))
        second = asyncio.create_task(hr.call("pay.once", idempotency_key="k", id="second"))
        await asked.entered.wait()
        await asyncio.sleep(0)
        if by == "id":
            assert await hr.cancel("second")
            assert (await second).status == "cancelled"
        else:
            second.cancel()
            with pytest.raises(asyncio.CancelledError):
                await second
        kinds = [event.kind for event in hr.log.read("local", call_id="second")]
        assert kinds == ["cancelled"]
        go_on.set()
        assert (await first).status == "completed"
        assert (await third).status == "duplicate" and (await third).result.data == "paid"
        fourth = await hr.call("pay.once", idempotency_key="k")
        assert (fourth.status, fourth.result.data) == ("duplicate", "paid")


@pytest.mark.req("CX-07", "CX-08", "EX-21")
@pytest.mark.parametrize("by", ["id", "task"])
async def test_while_the_log_makes_its_beginning_durable(by) -> None:
    stop = Stop()

    class Slow(MemoryLog):
        async def flush(self, event, /) -> None:
            await stop.wait()

    async with Handrail([write], policy=WITHOUT_ASKING, log=Slow()) as hr:
        call = asyncio.create_task(hr.call("desk.write", id="c1"))
        await stop.entered.wait()
        if by == "id":
            assert await hr.cancel("c1")
            assert (await call).status == "cancelled"
        else:
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        assert [event.kind for event in hr.log.read("local")].count("cancelled") == 1
        assert not open_runs(hr.log.read("local"))
        assert not hr._runtime.running and not len(hr._runtime.claims)  # type: ignore[arg-type]
        assert RAN == []


@pytest.mark.req("CX-07", "EX-21")
@pytest.mark.parametrize("does", ["heeds", "swallows", "fails"])
async def test_a_call_cancelled_in_a_hook_after_the_body_is_cancelled(does) -> None:
    stop = Stop(does)

    class Hook:
        async def before(self, tool, values, ctx, /):
            return None

        async def after(self, tool, values, ctx, result, /):
            await stop.wait()
            return result

    claims = MemoryClaims()
    async with Handrail([write], policy=WITHOUT_ASKING, hooks=[Hook()], claims=claims) as hr:

        async def caller() -> tuple[Outcome, int]:
            out = await hr.call("desk.write", id="c1", session="s")
            task = asyncio.current_task()
            assert task is not None
            return out, task.cancelling()

        call = asyncio.create_task(caller())
        await stop.entered.wait()
        assert await hr.cancel("c1")
        out, cancelling = await call
        assert cancelling == 0
        assert len(claims) == 0
        if does == "heeds":
            assert (out.status, out.code) == ("cancelled", "CANCELLED")
            assert [event.kind for event in hr.log.read("local", session="s")] == ["started", "cancelled"]
        else:
            assert out.status in ("completed", "cancelled")
        assert not open_runs(hr.log.read("local"))


@pytest.mark.req("CX-07")
@pytest.mark.parametrize("by", ["id", "task"])
async def test_a_key_whose_call_was_cancelled_before_it_ran_is_free_again(by) -> None:
    stop = Stop()
    answers = [stop.wait]

    async def approver(request):
        if answers:
            await answers.pop()()
        return True

    async with Handrail([write], approver=approver) as hr:
        await cancelled(hr, stop, by, idempotency_key="k")
        again = await hr.call("desk.write", idempotency_key="k")
        assert (again.status, RAN) == ("completed", ["ran"])
