"""An agent ends with the call that started it."""

from __future__ import annotations

import asyncio

import pytest

from handrail import Context, Handrail, Principal, Result, tool
from handrail.ext.guard import approve
from handrail.testing import ScriptedApprover
from handrail.toolsets.spawn_agent import Spawned, SpawnRequest, spawn_agent_tool

ANA = Principal(tenant="acme", user="ana")


@pytest.mark.req("BY-18", "AG-10")
async def test_who_cancels_the_call_ends_the_agent_and_what_it_was_doing() -> None:
    entered = asyncio.Event()
    ended: list[str | None] = []

    @tool("notes.wait", level="read", capabilities=["read"])
    async def wait_for_note() -> None:
        """Wait for a note."""
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("note")

    class Waiter:
        async def spawn(self, request: SpawnRequest, ctx: Context) -> Result:
            try:
                inner = await ctx.call("notes.wait")
            finally:
                ended.append(ctx.signal.reason)
            return Result(data=Spawned(answer=inner.to_model()))

    events: list[tuple[str, str]] = []
    async with Handrail(
        [spawn_agent_tool(Waiter()).tool, wait_for_note], approver=ScriptedApprover(always=approve())
    ) as hr:
        hr.subscribe(lambda event: events.append((event.tool, event.type)))
        calling = asyncio.ensure_future(hr.call("task", {"prompt": "Wait"}, principal=ANA, id="c1"))
        await entered.wait()
        assert await hr.cancel("c1", "enough", principal=ANA)
        assert (await calling).status == "cancelled"
    assert ended == ["note", "enough"]
    assert {("notes.wait", "tool.cancelled"), ("spawn_agent", "tool.cancelled")} <= set(events)
