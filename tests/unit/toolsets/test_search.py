"""search_tools and describe_tool: how an agent finds what its prompt has no room for."""

from __future__ import annotations

from typing import Any

import pytest
from inline_snapshot import snapshot

from handrail import Handrail, Policy, Principal, Rule, Tool, define, from_json_schema, tool
from handrail.conformance import check
from handrail.ext.guard import Step
from handrail.ext.toolsets import LazyToolset
from handrail.toolsets import search
from handrail.toolsets.search import describe_tool, search_tools

ANA = Principal(tenant="acme", user="ana")
BO = Principal(tenant="other", user="bo")


def named(tool_id: str, description: str = "Do it.", **options: Any) -> Tool:
    return define(tool_id, {"description": description, "level": "read", "execute": lambda a: 1, **options})


@tool("records.update", level="write", category="records", guidance="Read the record first.")
async def update(id: int, name: str = "") -> str:
    """Change a record."""
    return "done"


TOOLS = [
    search_tools,
    describe_tool,
    update,
    named("records.search", "Search records."),
    named("records.secret", "Secret records.", tenants=["other"]),
]


async def answer(name: str, args: dict[str, Any], tools: list[Any] = TOOLS, **options: Any) -> Any:
    principal = options.pop("principal", ANA)
    source = options.pop("source", "agent")
    async with Handrail(tools, **options) as hr:
        return await hr.call(name, args, principal=principal, source=source)


@pytest.mark.req("BY-17")
async def test_a_search_answers_with_names_levels_and_descriptions() -> None:
    out = await answer("search_tools", {"query": "records"})
    assert out.to_model() == snapshot("""\
records.search (read): Search records.
records.update (write): Change a record.\
""")
    assert out.result.summary == "Found 2 tools"
    assert out.result.data == {
        "tools": [
            {"name": "records.search", "level": "read", "description": "Search records."},
            {"name": "records.update", "level": "write", "description": "Change a record."},
        ]
    }


@pytest.mark.req("BY-17")
async def test_a_search_names_neither_itself_nor_more_than_was_asked_for() -> None:
    out = await answer("search_tools", {"query": "search records tools", "limit": 1})
    assert out.to_model() == "records.search (read): Search records."
    out = await answer("search_tools", {"query": "search_tools", "limit": 1})
    assert out.to_model() == "records.search (read): Search records."


@pytest.mark.req("BY-17")
@pytest.mark.parametrize("query", ["", "weather", "??"])
async def test_a_search_that_finds_nothing_says_what_to_do(query: str) -> None:
    out = await answer("search_tools", {"query": query})
    assert out.ok and "Try other words" in out.to_model() and out.result.data == {"tools": []}


@pytest.mark.req("BY-17", "IV-01")
async def test_a_limit_out_of_range_is_refused() -> None:
    assert (await answer("search_tools", {"query": "x", "limit": 0})).code == "INVALID_PARAM"
    assert (await answer("search_tools", {"query": "x", "limit": 51})).code == "INVALID_PARAM"


@pytest.mark.req("BY-17", "MT-02")
async def test_each_principal_finds_its_own() -> None:
    names = {
        principal.tenant: [
            one["name"]
            for one in (await answer("search_tools", {"query": "secret"}, principal=principal)).result.data[
                "tools"
            ]
        ]
        for principal in (ANA, BO)
    }
    assert names == {"acme": [], "other": ["records.secret"]}


@pytest.mark.req("BY-17")
async def test_a_description_has_all_that_a_call_needs() -> None:
    out = await answer("describe_tool", {"name": "records__update"})
    assert out.result.data == snapshot(
        {
            "name": "records.update",
            "title": "Update",
            "category": "records",
            "description": "Change a record.",
            "guidance": "Read the record first.",
            "level": "write",
            "danger": "moderate",
            "parameters": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "name": {"type": "string", "default": ""}},
                "additionalProperties": False,
                "required": ["id"],
            },
            "returns": {"type": "string"},
            "call": {
                "verdict": "ask",
                "reason": "Needs approval: it changes real data",
                "varies": False,
            },
        }
    )


@pytest.mark.req("BY-17")
@pytest.mark.parametrize(
    ("policy", "source", "verdict", "varies"),
    [
        (Policy(), "agent", "ask", False),
        (Policy(), "web", "allow", False),
        (Policy(approval_mode="policy"), "agent", "allow", False),
        (Policy(plan=True), "agent", "queue", False),
        (Policy(rules=[Rule(tool="records.*", when={"id": 1}, verdict="deny")]), "agent", "ask", True),
    ],
)
async def test_a_description_says_what_a_call_would_meet(
    policy: Policy, source: Any, verdict: str, varies: bool
) -> None:
    out = await answer("describe_tool", {"name": "records.update"}, policy=policy, source=source)
    assert (out.result.data["call"]["verdict"], out.result.data["call"]["varies"]) == (verdict, varies)


@pytest.mark.req("BY-17")
async def test_what_looks_at_arguments_can_change_what_a_call_meets() -> None:
    dynamic = named("shell.run", danger_fn=lambda args: "safe")
    out = await answer("describe_tool", {"name": "shell.run"}, [describe_tool, dynamic])
    assert out.result.data["call"]["varies"]

    def look(tool: Tool, args: Any, principal: Principal) -> Step | None:
        return None

    out = await answer("describe_tool", {"name": "records.search"}, safety=[look])
    assert out.result.data["call"]["varies"]


@pytest.mark.req("BY-17", "MT-02")
@pytest.mark.parametrize(
    "policy",
    [
        Policy(deny=["records.search"]),
        Policy(allow=["describe_tool"]),
        Policy(rules=[Rule(tool="records.search", verdict="deny")]),
    ],
    ids=["deny list", "allow list", "rule"],
)
async def test_a_refused_tool_is_described_like_an_unknown_one(policy: Policy) -> None:
    refused = await answer("describe_tool", {"name": "records.search"}, policy=policy)
    without = [one for one in TOOLS if one.id != "records.search"]
    unknown = await answer("describe_tool", {"name": "records.search"}, without, policy=policy)
    assert refused.code == unknown.code == "TOOL_NOT_FOUND"
    assert refused.to_model() == unknown.to_model()


@pytest.mark.req("BY-17", "MT-02")
async def test_a_hidden_tool_is_described_like_an_unknown_one_with_what_is_near() -> None:
    hidden = await answer("describe_tool", {"name": "records.secret"})
    unknown = await answer("describe_tool", {"name": "records.secret"}, TOOLS[:-1])
    assert hidden.to_model() == unknown.to_model()
    message = (await answer("describe_tool", {"name": "records.serach"})).to_model()
    assert "Did you mean: records.search" in message and "secret" not in message


@pytest.mark.req("BY-17")
async def test_a_tool_that_is_loaded_on_demand_is_described() -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    remote = from_json_schema("mcp.read", schema, execute=lambda args: 1, description="Read.", level="read")
    lazy = LazyToolset({"mcp.read": remote}.get, {"mcp.read": "Read."})
    out = await answer("describe_tool", {"name": "mcp.read"}, [describe_tool, lazy])
    assert out.result.data["parameters"]["properties"] == {"path": {"type": "string"}}


@pytest.mark.req("BY-17")
async def test_the_group_can_be_given_as_a_module_and_its_definitions_are_good() -> None:
    async with Handrail([search]) as hr:
        assert [one.id for one in await hr.tools(ANA)] == ["describe_tool", "search_tools"]
    for one in (search_tools, describe_tool):
        assert check([one]) == [] and one.level == "read" and one.guidance
