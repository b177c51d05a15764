"""Thousands of calls that end in every way and are cancelled at random: nothing is left over."""

import asyncio
import random
import threading

import pytest

from handrail import Context, Handrail, Outcome, Policy, Principal, ToolError, tool
from handrail.core.tell.log import open_runs
from handrail.ext.ports import MemoryClaims, MemoryLog

CALLS = 20_000
AT_ONCE = 200
STATUSES = {"completed", "failed", "refused", "pending", "cancelled", "duplicate"}


@tool("storm.wait", level="write", writes=lambda args: [f"key:{args.key}"], timeout=0.05)
async def wait(key: int, steps: int, ending: str, *, ctx: Context) -> int:
    """Take a number of steps, then end in one of several ways."""
    for step in range(steps):
        ctx.metadata(step=step)
        await asyncio.sleep(0)
    if ending == "fail":
        raise ToolError("as planned", code="PLANNED_FAILURE")
    if ending == "hang":
        await asyncio.Event().wait()
    if ending == "swallow":
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return -1
    if ending == "nest":
        inner = await ctx.call("storm.read", {"steps": steps})
        return 1 if inner.ok else 0
    return key


@tool("storm.read", level="read")
async def read(steps: int) -> int:
    """Take a number of steps."""
    for _ in range(steps):
        await asyncio.sleep(0)
    return steps


@tool("storm.thread", level="read")
def in_thread(steps: int, *, ctx: Context) -> int:
    """Count in a thread, as long as nobody minds."""
    for _ in range(steps * 100):
        ctx.signal.throw_if_aborted()
    return steps


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_nothing_is_left_of_a_storm_of_calls(seed: int) -> None:
    chance = random.Random(seed)
    claims, log = MemoryClaims(), MemoryLog(keep=5_000)
    policy = Policy(approval_mode="policy")
    slots = asyncio.Semaphore(AT_ONCE)
    async with Handrail([wait, read, in_thread], policy=policy, claims=claims, log=log) as hr:

        async def one(number: int) -> Outcome | None:
            async with slots:
                who = Principal(tenant=f"t{number % 3}", user="u", agent=f"a{number % 5}")
                name = chance.choice(["storm.wait", "storm.wait", "storm.read", "storm.thread"])
                args: dict[str, object] = {"steps": chance.randrange(6)}
                if name == "storm.wait":
                    ending = chance.choice(["done", "done", "fail", "hang", "swallow", "nest"])
                    args |= {"key": chance.randrange(50), "ending": ending}
                key = f"k{chance.randrange(300)}" if chance.random() < 0.1 else None
                session = f"s{number % 20}"
                call = hr.call(
                    name, args, principal=who, session=session, id=f"c{number}", idempotency_key=key
                )
                task = asyncio.create_task(call)
                fate = chance.random()
                for _ in range(chance.randrange(8) if fate < 0.3 else 0):
                    await asyncio.sleep(0)
                if fate < 0.15:
                    await hr.cancel(f"c{number}")
                elif fate < 0.3:
                    task.cancel()
                try:
                    return await task
                except asyncio.CancelledError:
                    return None

        outcomes = await asyncio.gather(*(one(number) for number in range(CALLS)))
        assert {out.status for out in outcomes if out is not None} <= STATUSES
        assert not [out for out in outcomes if out is not None and out.code == "INTERNAL_ERROR"]
        assert not hr._runtime.running
        assert len(claims) == 0
        assert len(log) <= 2 * log.limit  # as many notes again as events, before the next reading
        for tenant in ("t0", "t1", "t2"):
            recent = list(log.read(tenant))
            assert open_runs(iter(recent)) == set()
    for thread in threading.enumerate():
        if thread.name.startswith("handrail"):
            thread.join(20)
            assert not thread.is_alive()
