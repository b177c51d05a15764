"""A client for the suite: Handrail with the suite's server as a toolset. It is started with an address.

It lists the tools and calls what the scenario wants called, through the guard as every call.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from handrail import Handrail, Principal, Tool
from handrail.bridges.mcp import McpToolset, Server

NAME = "suite"
CALLER = Principal(tenant="suite", user="conformance")
_LEAST: Mapping[str, Any] = {
    "string": "x",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "object": {},
    "array": [],
}

Calls = list[tuple[str, dict[str, Any]]]


def calls_of(scenario: str, tools: Mapping[str, Tool]) -> Calls:
    """What a scenario wants called: what its context says, what it is about, or every tool there is."""
    told = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}").get("toolCalls")
    if told is not None:
        return [(one["name"], one.get("arguments") or {}) for one in told if one["name"] in tools]
    if scenario in ("initialize", "request-metadata", "json-schema-ref-no-deref"):
        return []
    if scenario == "json-schema-2020-12-preservation":
        return [("json_schema_echo", {"schema": dict(tools["json_schema_2020_12_tool"].input_schema)})]
    if "add_numbers" in tools:
        return [("add_numbers", {"a": 5, "b": 3})]
    return [(name, _arguments(tool.input_schema)) for name, tool in tools.items()]


def _arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The least that a schema takes."""
    parts = schema.get("properties", {})
    return {name: _LEAST.get(parts.get(name, {}).get("type"), "x") for name in schema.get("required", ())}


async def main(address: str, scenario: str) -> int:
    failed = 0
    async with Handrail([McpToolset(Server(NAME, url=address, level="read", load="eager"))]) as hr:
        tools = {tool.id.removeprefix(f"{NAME}."): tool for tool in await hr.tools(CALLER)}
        for name, arguments in calls_of(scenario, tools):
            outcome = await hr.call(f"{NAME}.{name}", arguments, principal=CALLER)
            sys.stdout.write(f"{name}: {outcome.status} {outcome.result.to_model()}\n")
            failed += outcome.status != "completed"
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1], os.environ["MCP_CONFORMANCE_SCENARIO"])))
