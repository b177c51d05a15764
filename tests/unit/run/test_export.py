"""The visible tools in the formats of providers, protocols and prompts: sorted, stable, and callable."""

import itertools
import json
from typing import Any

import jsonschema_rs
import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel

from handrail import Handrail, Policy, Principal, Result, Rule, Tool, tool

ANA = Principal(tenant="acme", user="ana")


class Found(BaseModel):
    total: int


@tool("data.searchRecords", level="read", category="data", guidance="Use it before data.get.")
async def search(query: str, limit: int = 10) -> Found:
    """Search records."""
    return Found(total=limit)


@tool("data.delete", level="destructive", category="data")
async def delete(id: int) -> str:
    """Delete a record."""
    return "gone"


@tool("web.fetch", capabilities=["network"], level="read")
async def fetch(url: str) -> dict[str, Any]:
    """Fetch a page."""
    return {"error": f"{url} does not answer"}


@tool("hello", level="draft", idempotent=True)
async def hello() -> Result:
    """Say hello."""
    return Result(output="Hello!")


TOOLS = [search, delete, fetch, hello]


async def exported(how: Any, tools: list[Tool] = TOOLS, **options: Any) -> Any:
    async with Handrail(tools, **options) as hr:
        return await hr.export(how, ANA)


@pytest.mark.req("TD-01", "NM-06")
async def test_openai_gets_functions() -> None:
    functions = await exported("openai")
    assert functions[1] == snapshot(
        {
            "type": "function",
            "function": {
                "name": "data__searchRecords",
                "description": """\
Search records.

Use it before data.get.\
""",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "query": {"type": "string"},
                        "limit": {"type": "integer", "default": 10},
                    },
                    "additionalProperties": False,
                    "required": ["query"],
                },
            },
        }
    )


@pytest.mark.req("TD-01", "NM-06")
async def test_anthropic_gets_tools_with_an_input_schema() -> None:
    tools = await exported("anthropic")
    assert tools[0] == snapshot(
        {
            "name": "data__delete",
            "description": "Delete a record.",
            "input_schema": {
                "type": "object",
                "properties": {"id": {"type": "integer"}},
                "additionalProperties": False,
                "required": ["id"],
            },
        }
    )


@pytest.mark.req("TD-01", "TR-15")
async def test_mcp_gets_titles_schemas_and_hints() -> None:
    delete, search, hello, fetch = await exported("mcp")
    assert search["outputSchema"] == snapshot(
        {"properties": {"total": {"type": "integer"}}, "required": ["total"], "type": "object"}
    )
    assert search["inputSchema"]["type"] == "object" and search["title"] == "Search Records"
    hints = {
        one["name"]: [key for key, value in one["annotations"].items() if value is True]
        for one in (delete, search, hello, fetch)
    }
    assert hints == snapshot(
        {
            "data__delete": ["destructiveHint"],
            "data__searchRecords": ["readOnlyHint", "idempotentHint"],
            "hello": ["readOnlyHint", "idempotentHint"],
            "web__fetch": ["readOnlyHint", "idempotentHint", "openWorldHint"],
        }
    )
    assert "outputSchema" not in hello and "outputSchema" not in fetch
    assert delete["outputSchema"] == {"type": "string"}


@pytest.mark.req("TD-01")
async def test_a_prompt_gets_a_menu_under_headings() -> None:
    assert await exported("prompt_menu") == snapshot(
        """\
## data
- data.delete: Delete a record.
- data.searchRecords: Search records.

## general
- hello: Say hello.

## web
- web.fetch: Fetch a page.\
"""
    )


@pytest.mark.req("TD-01", "EX-16")
async def test_the_ai_sdk_gets_functions_that_answer_with_output_or_error() -> None:
    async with Handrail(TOOLS, policy=Policy(capabilities=["read", "network"])) as hr:
        tools = await hr.export("ai_sdk", ANA)
        assert list(tools) == ["data-delete", "data-search-records", "hello", "web-fetch"]
        assert set(tools["hello"]) == {"description", "inputSchema", "execute"}
        assert await tools["data-search-records"]["execute"]({"query": "x", "limit": "3"}) == {"total": 3}
        assert await tools["hello"]["execute"]({}) == "Hello!"
        assert await tools["web-fetch"]["execute"]({"url": "a.b"}) == {"error": "a.b does not answer"}
        assert "query" in (await tools["data-search-records"]["execute"]({}))["error"]
        assert "waits for a person" in (await tools["data-delete"]["execute"]({"id": 1}))["error"]
        sources = {(event.call.source, event.tenant) for event in hr.log.read("acme")}
    assert sources == {("agent", "acme")}


@pytest.mark.req("TD-01", "RG-01")
@pytest.mark.parametrize("how", ["openai", "anthropic", "mcp", "prompt_menu"])
async def test_an_export_is_sorted_and_the_same_whatever_the_order_of_registration(how: Any) -> None:
    texts = {json.dumps(await exported(how, list(order))) for order in itertools.permutations(TOOLS)}
    assert len(texts) == 1
    if how != "prompt_menu":
        named = [one.get("name") or one["function"]["name"] for one in json.loads(texts.pop())]
        assert named == sorted(named)


@pytest.mark.req("TD-01")
async def test_what_is_exported_is_json_and_nobody_can_change_a_tool_through_it() -> None:
    async with Handrail(TOOLS) as hr:
        for how in ("openai", "anthropic", "mcp"):
            before = json.dumps(await hr.export(how, ANA))
            for one in await hr.export(how, ANA):
                schema = (
                    one.get("function", {}).get("parameters") or one.get("input_schema") or one["inputSchema"]
                )
                jsonschema_rs.validator_for(schema)
                one.clear()
            assert json.dumps(await hr.export(how, ANA)) == before


@pytest.mark.req("PM-17", "TD-01")
async def test_only_what_the_principal_may_see_is_exported() -> None:
    policy = Policy(deny=["data.*"], rules=[Rule(tool="hello", verdict="deny")], capabilities=["read"])
    assert await exported("prompt_menu", policy=policy) == ""
    assert await exported("ai_sdk", policy=policy) == {}


@pytest.mark.req("TD-01")
async def test_an_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="openai, anthropic, mcp, ai_sdk or prompt_menu"):
        await exported("gemini")
