"""spawn_agent, with a spawner and until there is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from handrail import ApprovalRequest, Call, Context, Handrail, Policy, Principal, Result, tool
from handrail.ext.guard import Reply, approve
from handrail.testing import ConformanceCase, conformance_cases
from handrail.toolsets.spawn_agent import Spawned, SpawnRequest, spawn_agent_tool
from handrail.toolsets.workspace import WorkspaceToolset

ANA = Principal(tenant="acme", user="ana")


@tool("notes.read", level="read", capabilities=["read"])
async def read_note() -> str:
    """Read the note."""
    return "milk"


@tool("notes.write", level="write", capabilities=["write"])
async def write_note() -> str:
    """Write the note."""
    return "written"


async def agree(request: ApprovalRequest) -> Reply:
    return approve()


class Reader:
    """A spawner whose agents call two tools and answer with what became of it."""

    def __init__(self) -> None:
        self.asked: list[SpawnRequest] = []

    async def spawn(self, request: SpawnRequest, ctx: Context) -> Result:
        self.asked.append(request)
        ends = [await ctx.call(name) for name in ("notes.read", "notes.write")]
        answer = "; ".join(f"{one.tool}: {one.code or one.result.data}" for one in ends)
        return Result(data=Spawned(answer=answer, agent=request.agent), output=answer)


async def spawned(
    args: dict[str, Any], name: str = "spawn_agent", spawner: Any = None, **options: Any
) -> Any:
    tools = [spawn_agent_tool(spawner).tool, read_note, write_note]
    async with Handrail(tools, policy=Policy(**options), approver=agree) as hr:
        return await hr.call(name, args, principal=ANA, source="agent")


@pytest.mark.parametrize("case", conformance_cases([spawn_agent_tool().tool], strict=True))
def test_it_is_conformant(case: ConformanceCase) -> None:
    case()


@pytest.mark.req("AG-11")
@pytest.mark.parametrize("name", ["task", "spawn_agent"])
async def test_without_a_spawner_the_agent_layer_is_asked_for_help(name: str) -> None:
    out = await spawned({"prompt": "Find the bug", "description": "Find it", "tools": ["grep"]}, name)
    assert (out.status, out.code) == ("failed", "LLM_ASSIST_REQUIRED")
    assert out.result.metadata["error"] == "LLM_ASSIST_REQUIRED"
    assert out.result.metadata["request"] == snapshot(
        {"prompt": "Find the bug", "description": "Find it", "agent": None, "tools": ["grep"]}
    )
    assert out.result.error == snapshot(
        "No agent can be started from here. Nothing was done. Do this work yourself with the tools you have, "
        "or let the program that runs you start an agent with this prompt."
    )


@pytest.mark.req("AG-11")
async def test_an_answer_that_hands_the_work_back_is_no_dead_letter() -> None:
    place = spawn_agent_tool()

    class Broken:
        async def spawn(self, request: SpawnRequest, ctx: Context) -> Result:
            return Result.fail("no room", code="NO_ROOM")

    async with Handrail([place.tool], approver=agree) as hr:
        for name in ("task", "spawn_agent"):
            assert (await hr.call(name, {"prompt": "Read"}, principal=ANA)).code == "LLM_ASSIST_REQUIRED"
        assert await hr.dead_letters.list(ANA) == []
        place.attach(Broken())
        await hr.call("task", {"prompt": "Read"}, principal=ANA)
        assert [letter.code for letter in await hr.dead_letters.list(ANA)] == ["NO_ROOM"]


@pytest.mark.req("AG-11", "NM-07")
async def test_with_a_spawner_task_is_spawn_agent_and_one_name_is_recorded() -> None:
    reader = Reader()
    out = await spawned({"prompt": "Read", "subagent_type": "reader"}, "task", reader)
    assert out.ok and out.tool == "spawn_agent"
    assert reader.asked == [SpawnRequest("Read", "", "reader", None)]
    assert out.result.data["agent"] == "reader"


async def test_a_spawner_may_come_later() -> None:
    place = spawn_agent_tool()
    async with Handrail([place.tool, read_note, write_note], approver=agree) as hr:
        before = await hr.call("task", {"prompt": "Read"}, principal=ANA)
        place.attach(Reader())
        after = await hr.call("task", {"prompt": "Read"}, principal=ANA)
    assert (before.code, after.ok) == ("LLM_ASSIST_REQUIRED", True)


@pytest.mark.req("AG-11")
async def test_the_tool_of_a_workspace_gets_a_spawner_too(tmp_path: Path) -> None:
    for tenant in ("acme", "other"):
        (tmp_path / tenant).mkdir()
    work = WorkspaceToolset(tmp_path / "{tenant}")
    bo = Principal(tenant="other", user="bo")
    async with Handrail([work, read_note, write_note], approver=agree) as hr:
        before = await hr.call("task", {"prompt": "Read"}, principal=ANA)
        work.spawn_with(Reader())
        after = [await hr.call("task", {"prompt": "Read"}, principal=who) for who in (ANA, bo)]
        work.spawn_with(None)
        again = await hr.call("task", {"prompt": "Read"}, principal=bo)
    assert [one.ok for one in after] == [True, True]
    assert (before.code, again.code) == ("LLM_ASSIST_REQUIRED", "LLM_ASSIST_REQUIRED")


@pytest.mark.req("AG-15")
@pytest.mark.parametrize("name", ["task", "spawn_agent"])
async def test_whoever_may_not_execute_starts_no_agent(name: str) -> None:
    reader = Reader()
    refused = await spawned({"prompt": "Read"}, name, reader, capabilities=["read", "write", "network"])
    assert refused.code == "NOT_PERMITTED" and reader.asked == []
    assert spawn_agent_tool().tool.capabilities == {"execute"}


@pytest.mark.req("AG-10", "AG-15")
async def test_an_agent_gets_no_more_than_its_caller_has() -> None:
    out = await spawned({"prompt": "Write"}, spawner=Reader(), capabilities=["read", "execute"])
    assert out.result.output == "notes.read: milk; notes.write: NOT_PERMITTED"
    assert (spawn_agent_tool().tool.level, spawn_agent_tool().tool.danger) == ("write", "moderate")


@pytest.mark.req("BP-07")
async def test_agents_are_started_one_after_the_other() -> None:
    calls = [Call(name, {"prompt": "Read"}, principal=ANA) for name in ("task", "spawn_agent", "task")]
    async with Handrail([spawn_agent_tool().tool]) as hr:
        groups = await hr.batches(calls)
    assert [group.kind for group in groups] == ["sequential"] * 3


async def test_an_empty_prompt_is_refused() -> None:
    assert (await spawned({"prompt": "  "})).code == "INVALID_PARAM"
