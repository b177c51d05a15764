"""The tools that a bridge hands out: those that the principal may see, in one order, as the same bytes."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import RunContext
from pydantic_ai.usage import RunUsage

from handrail import Handrail, Principal, Tool, from_json_schema, tool
from handrail.bridges import anthropic, langchain, openai, pydantic_ai
from handrail.ext.tools import slug_of
from handrail.ext.toolsets import StaticToolset

ANA = Principal("acme", "ana", permissions={"stock.read"})


async def of_langchain(hr: Handrail, who: Principal) -> list[dict[str, Any]]:
    return [
        {"name": one.name, "description": one.description, "schema": one.tool_call_schema}
        for one in await langchain.tools(hr, who)
    ]


async def of_pydantic_ai(hr: Handrail, who: Principal) -> list[dict[str, Any]]:
    ctx = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    found = await pydantic_ai.GuardedToolset(hr, who).get_tools(ctx)
    return [
        {"name": name, "schema": one.tool_def.parameters_json_schema, "description": one.tool_def.description}
        for name, one in found.items()
    ]


LISTS: dict[str, Callable[[Handrail, Principal], Awaitable[list[dict[str, Any]]]]] = {
    "openai chat": openai.tools,
    "openai responses": openai.response_tools,
    "anthropic": anthropic.tools,
    "langchain": of_langchain,
    "pydantic-ai": of_pydantic_ai,
}


def names_of(listed: list[dict[str, Any]]) -> list[str]:
    return [one.get("name") or one["function"]["name"] for one in listed]


def made(name: str, **more: Any) -> Tool:
    schema = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "integer"}}}
    made: Tool = from_json_schema(
        name, schema, execute=lambda args: args, description=f"Do {name}.", level="read", **more
    )
    return made


spelled = st.from_regex(r"[a-zA-Z][a-zA-Z0-9]{0,3}([.\-_][a-zA-Z0-9]{1,3}){0,2}", fullmatch=True)


@pytest.mark.req("AB-04", "AB-01")
@settings(max_examples=25)
@given(
    ids=st.lists(spelled, min_size=1, max_size=8, unique_by=slug_of),
    shuffled=st.randoms(use_true_random=False),
)
async def test_a_list_is_the_same_bytes_in_whatever_order_tools_come(ids: list[str], shuffled: Any) -> None:
    other = list(ids)
    shuffled.shuffle(other)
    async with Handrail(list(map(made, ids))) as one, Handrail(list(map(made, other))) as two:
        for listing in LISTS.values():
            first = await listing(one, ANA)
            assert json.dumps(first) == json.dumps(await listing(two, ANA))
            assert names_of(first) == sorted(names_of(first))
            assert len(first) == len(ids)


@pytest.mark.req("AB-04")
@pytest.mark.parametrize("listing", LISTS)
async def test_the_order_is_that_of_the_names_on_the_wire(listing: str) -> None:
    async with Handrail(list(map(made, ["a.b", "aZ", "a0"]))) as hr:
        assert [tool.id for tool in await hr.tools(ANA)] == ["a.b", "a0", "aZ"]
        assert names_of(await LISTS[listing](hr, ANA)) == ["a0", "aZ", "a__b"]


@pytest.mark.req("AB-01", "AB-03", "AB-06")
@pytest.mark.parametrize("listing", LISTS)
async def test_a_list_has_what_the_principal_may_see_registered_and_of_toolsets(listing: str) -> None:
    tools = [
        made("stock.count", requires="stock.read"),
        made("stock.drop", requires="stock.write"),
        made("stock.other", tenants=["globex"]),
        StaticToolset([made("platform.search")]),
    ]
    async with Handrail(tools) as hr:
        assert names_of(await LISTS[listing](hr, ANA)) == ["platform__search", "stock__count"]
        nobody = Principal("acme", "eve")
        assert names_of(await LISTS[listing](hr, nobody)) == ["platform__search"]


@pytest.mark.req("AB-01", "AB-02", "AB-03")
async def test_the_set_by_slugs_is_filtered_and_answers_with_output_or_error() -> None:
    @tool("stock.count", level="read", requires="stock.read")
    async def count(item: str) -> int:
        """Count pieces."""
        if item == "none":
            raise ValueError("no such item")
        return 9

    async with Handrail([count, made("stock.other", tenants=["globex"])]) as hr:
        tools = await hr.export("ai_sdk", ANA)
        assert list(tools) == ["stock-count"]
        assert set(tools["stock-count"]) == {"description", "inputSchema", "execute"}
        assert await tools["stock-count"]["execute"]({"item": "bolt"}) == 9
        assert "no such item" in (await tools["stock-count"]["execute"]({"item": "none"}))["error"]
        assert {one.call.source for one in hr.log.read("acme")} == {"agent"}
        assert await hr.export("ai_sdk", Principal("acme", "eve")) == {}


@pytest.mark.req("AB-05", "AB-06", "AB-04")
async def test_the_cache_mark_stands_on_the_last_definition_that_does_not_change() -> None:
    tools = [made("z.last"), made("a.first"), made("mcp.one"), made("m.hidden", tenants=["globex"])]
    async with Handrail(tools) as hr:
        all_stable = await anthropic.tools(hr, ANA)
        assert names_of(all_stable) == ["a__first", "mcp__one", "z__last"]
        assert [one.get("cache_control") for one in all_stable] == [None, None, {"type": "ephemeral"}]

        some = await anthropic.tools(hr, ANA, changing=["mcp.*"], ttl="1h")
        assert names_of(some) == ["a__first", "z__last", "mcp__one"]
        marked = {"type": "ephemeral", "ttl": "1h"}
        assert [one.get("cache_control") for one in some] == [None, marked, None]

        none = await anthropic.tools(hr, ANA, changing=["*"])
        assert not any("cache_control" in one for one in none)


@pytest.mark.req("AB-05")
async def test_what_comes_and_goes_spoils_nothing_before_the_mark() -> None:
    async with (
        Handrail([made("a.first"), made("z.last")]) as few,
        Handrail([made("a.first"), made("z.last"), made("mcp.one"), made("mcp.two")]) as more,
    ):
        short = await anthropic.tools(few, ANA, changing=["mcp.*"])
        long = await anthropic.tools(more, ANA, changing=["mcp.*"])
        assert json.dumps(long[:2]) == json.dumps(short)
