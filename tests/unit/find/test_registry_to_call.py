"""From the registry straight into a call, or into functions a framework can call."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import Handrail, Policy, Registry, Result, Tool, define, tool


@tool("greet", level="read")
def greet(name: str, ctx: Any = None) -> str:
    """Greet somebody."""
    return f"Hello {name}, {ctx.extra.get('mood', 'as ever')}"


@pytest.mark.req("RG-06", "RG-10")
async def test_a_tool_runs_straight_from_a_registry() -> None:
    registry = Registry([greet])

    async with Handrail(registry=registry) as hr:
        out = await hr.call("greet", {"name": "Ann"})

    assert out.result.data == "Hello Ann, as ever"


@pytest.mark.req("RG-07")
async def test_only_tools_whose_capabilities_are_granted_are_there() -> None:
    registry = Registry([greet])
    registry.register(
        define("shell", description="Run.", level="read", execute=lambda args: "ran"),
        permissions={"required": ["execute"]},
    )

    async with Handrail(registry=registry, policy=Policy(capabilities=["read"])) as hr:
        assert [one.id for one in await hr.tools()] == ["greet"]
        assert (await hr.call("shell")).code == "NOT_PERMITTED"


@pytest.mark.req("RG-08", "RG-09")
async def test_framework_tools_are_ready_to_call_with_context_and_report_results() -> None:
    initialised: list[str] = []
    asked: list[tuple[str, bool]] = []
    results: list[Result] = []

    def initialise(init: Any) -> dict[str, Any]:
        initialised.append(init.working_dir)
        return {"description": "Count.", "level": "read", "execute": lambda args: len(initialised)}

    def create_context(tool_id: str, call_id: str) -> dict[str, Any]:
        asked.append((tool_id, bool(call_id)))
        return {"mood": "my dear"}

    async with Handrail(
        [greet, define("count", initialise)],
        working_dir="/srv/work",
        create_context=create_context,
        on_result=results.append,
    ) as hr:
        ready = await hr.export("ai_sdk")
        said = await ready["greet"]["execute"]({"name": "Ann"})
        counts = [await ready["count"]["execute"]({}) for _ in range(2)]
        refused = await ready["greet"]["execute"]({})

    assert said == "Hello Ann, my dear"
    assert counts == [1, 1] and initialised == ["/srv/work"]
    assert asked == [("greet", True), ("count", True), ("count", True)]
    assert [result.data for result in results][:3] == ["Hello Ann, my dear", 1, 1]
    assert "name" in refused["error"]
    assert ready["greet"]["inputSchema"]["required"] == ["name"]


@pytest.mark.req("RG-04", "RG-05")
async def test_a_listing_belongs_to_whoever_asked_for_it() -> None:
    async with Handrail([greet]) as hr:
        first = await hr.tools()
        first.clear()

        listed: list[Tool] = await hr.tools()
        assert listed == [greet]
