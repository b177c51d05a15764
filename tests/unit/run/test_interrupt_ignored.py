"""A body that does not heed its interruption may still have its effect: no replay comes beside it."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import Any

import pytest

from handrail import Context, Handrail, Policy, Principal, Tool, tool
from handrail.ext.guard import Conflict
from handrail.ext.ports import DeadLetter

ANA = Principal(tenant="acme", user="ana", permissions={"approvals.decide"})
OPS = Principal(tenant="acme", user="ana", agent="ops")
DEADLINE = 30
BEGUN = 0.5
"""Seconds after which a thread has certainly begun, also on a machine that is busy."""
pytestmark = pytest.mark.req("RT-02", "RT-06", "BY-12")


class Pen:
    """A tool whose thread goes on until somebody lets it end."""

    def __init__(self) -> None:
        self.broken = False
        self.bodies = 0
        self.entered, self.go_on = threading.Event(), threading.Event()

    def tool(self, **options: Any) -> Tool:
        @tool("pen.write", **{"level": "write", "timeout": BEGUN, **options})
        def write() -> None:
            """Write, whatever anybody says."""
            if self.broken:
                raise OSError("no ink")
            self.bodies += 1
            self.entered.set()
            assert self.go_on.wait(DEADLINE)

        return write


def desk(*tools: Tool, policy: Policy | None = None) -> Handrail:
    return Handrail(list(tools), policy=policy or Policy(approval_mode="policy"), cancel_grace=0.01)


async def letters_of(hr: Handrail) -> list[DeadLetter]:
    return await hr.dead_letters.list(ANA)


@pytest.mark.parametrize("level", ["write", "destructive"])
async def test_a_write_that_goes_on_after_its_timeout_cannot_be_replayed(level: str) -> None:
    pen = Pen()
    async with desk(pen.tool(level=level), policy=Policy()) as hr:
        try:
            asked = await hr.call("pen.write", principal=OPS, session="s1")
            await hr.approvals.approve(asked.approval_id or "", by=ANA)
            out = await hr.wait(asked.call_id)
            assert (out.status, out.code, out.result.metadata["ignored"]) == ("failed", "TIMEOUT", True)
            [letter] = await letters_of(hr)
            assert (letter.status, letter.code) == ("unknown", "TIMEOUT")
            with pytest.raises(Conflict, match="its effect may have happened"):
                await hr.dead_letters.replay(letter.id, by=OPS)
            assert await hr.dead_letters.replay_session("s1", by=OPS) == []
        finally:
            pen.go_on.set()
    assert pen.bodies == 1


async def test_so_it_is_with_one_that_swallows_its_timeout() -> None:
    @tool("pen.write", level="write", timeout=0.01)
    async def deaf() -> None:
        """Write, whatever the time."""
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()

    async with desk(deaf) as hr:
        assert (await hr.call("pen.write", principal=ANA)).code == "TIMEOUT"
        assert [one.status for one in await letters_of(hr)] == ["unknown"]


@pytest.mark.parametrize("harmless", [{"level": "read"}, {"idempotent": True}], ids=["read", "idempotent"])
async def test_what_may_run_twice_may_be_replayed(harmless: dict[str, Any]) -> None:
    pen = Pen()
    async with desk(pen.tool(**harmless)) as hr:
        try:
            assert (await hr.call("pen.write", principal=ANA)).result.metadata["ignored"] is True
            assert [one.status for one in await letters_of(hr)] == ["open"]
        finally:
            pen.go_on.set()


@pytest.mark.parametrize("how", ["timeout", "cancelled", "task cancelled"])
async def test_a_replay_that_goes_on_closes_its_whole_chain(how: str) -> None:
    pen = Pen()
    async with desk(pen.tool(timeout=BEGUN if how == "timeout" else None)) as hr:
        pen.broken = True
        await hr.call("pen.write", principal=ANA, session="s1")
        [first] = await letters_of(hr)
        await hr.dead_letters.replay(first.id, by=ANA)
        assert [one.status for one in await letters_of(hr)] == ["open", "open"]
        pen.broken = False
        try:
            task = asyncio.create_task(hr.dead_letters.replay(first.id, by=ANA))
            await asyncio.to_thread(pen.entered.wait, DEADLINE)
            if how == "cancelled":
                [first, _] = await letters_of(hr)
                await hr.cancel(first.replays[-1])
            elif how == "task cancelled":
                task.cancel()
            await asyncio.wait({task})
            statuses = {one.status for one in await letters_of(hr)}
            assert statuses == {"unknown"}
            assert await hr.dead_letters.replay_session("s1", by=ANA) == []
        finally:
            pen.go_on.set()
    assert pen.bodies == 1


async def test_a_replay_that_was_approved_and_goes_on_closes_its_letter() -> None:
    pen = Pen()
    async with desk(pen.tool(), policy=Policy()) as hr:
        pen.broken = True
        waiting = await hr.call("pen.write", principal=OPS)
        await hr.approvals.approve(waiting.approval_id or "", by=ANA)
        await hr.wait(waiting.call_id)
        [letter] = await letters_of(hr)
        pen.broken = False
        again = await hr.dead_letters.replay(letter.id, by=ANA)
        await hr.approvals.approve(again.approval_id or "", by=ANA)
        try:
            assert (await hr.wait(again.call_id)).code == "TIMEOUT"
            assert [one.status for one in await letters_of(hr)] == ["unknown", "unknown"]
        finally:
            pen.go_on.set()


@pytest.mark.parametrize("copes", [False, True])
async def test_a_call_around_it_cannot_be_replayed_either_unless_it_copes(copes: bool) -> None:
    pen = Pen()

    @tool("desk.work", level="write")
    async def work(*, ctx: Context) -> Any:
        """Write something."""
        out = await ctx.call("pen.write")
        return "coped" if copes else out.result

    async with desk(pen.tool(), work) as hr:
        try:
            out = await hr.call("desk.work", principal=ANA)
            assert out.ok is copes
            assert [one.status for one in await letters_of(hr)] == ([] if copes else ["unknown"])
        finally:
            pen.go_on.set()


async def test_a_write_whose_thread_returns_just_after_its_timeout_may_be_done() -> None:
    late = threading.Event()

    @tool("pen.write", level="write", timeout=BEGUN)
    def write(*, ctx: Context) -> str:
        """Write, and notice too late that nobody waits any more."""
        ctx.signal.on_abort(late.set)
        assert late.wait(DEADLINE)
        return "written"

    async with Handrail([write], policy=Policy(approval_mode="policy")) as hr:
        out = await hr.call("pen.write", principal=OPS)
        [letter] = await letters_of(hr)
    assert (out.code, letter.status) == ("TIMEOUT", "unknown")
