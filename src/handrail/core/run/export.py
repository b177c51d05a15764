"""export: the listed tools in the formats of providers, protocols and prompts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal

from handrail.core.define.names import wire_name
from handrail.core.define.schema import provider_schema
from handrail.core.define.tool import Tool
from handrail.core.run.menu import prompt_menu
from handrail.core.run.normalise import is_described

Format = Literal["openai", "anthropic", "mcp", "ai_sdk", "prompt_menu"]
Execute = Callable[[Tool, Mapping[str, Any]], Awaitable[Any]]


def export(tools: Iterable[Tool], how: Format, execute: Execute) -> Any:
    """The tools, in the order given, as the format wants them."""
    listed = list(tools)
    if how == "openai":
        return [to_openai(tool) for tool in listed]
    if how == "anthropic":
        return [to_anthropic(tool) for tool in listed]
    if how == "mcp":
        return [to_mcp(tool) for tool in listed]
    if how == "ai_sdk":
        return {tool.slug: to_ai_sdk(tool, execute) for tool in listed}
    if how == "prompt_menu":
        return prompt_menu((tool.id, tool.category, tool.description) for tool in listed)
    raise ValueError(f"{how!r} is not a format; use openai, anthropic, mcp, ai_sdk or prompt_menu")


def told(tool: Tool) -> str:
    """The description with its guidance, as it goes with the full schema."""
    return f"{tool.description}\n\n{tool.guidance}" if tool.guidance else tool.description


def to_openai(tool: Tool) -> dict[str, Any]:
    function = {
        "name": wire_name(tool.id),
        "description": told(tool),
        "parameters": provider_schema(tool.input_schema),
    }
    return {"type": "function", "function": function}


def to_anthropic(tool: Tool) -> dict[str, Any]:
    return {
        "name": wire_name(tool.id),
        "description": told(tool),
        "input_schema": provider_schema(tool.input_schema),
    }


def to_mcp(tool: Tool) -> dict[str, Any]:
    exported: dict[str, Any] = {
        "name": wire_name(tool.id),
        "title": tool.name,
        "description": told(tool),
        "inputSchema": {**tool.input_schema, "type": "object"},
        "annotations": {
            "title": tool.name,
            "readOnlyHint": tool.level in ("read", "draft"),
            "destructiveHint": tool.level == "destructive" or tool.danger == "dangerous",
            "idempotentHint": tool.idempotent or tool.level in ("read", "draft"),
            "openWorldHint": "network" in tool.capabilities | tool.optional_capabilities,
        },
    }
    if is_described(tool):
        exported["outputSchema"] = tool.output_schema
    return exported


def to_ai_sdk(tool: Tool, execute: Execute) -> dict[str, Any]:
    async def run(args: Mapping[str, Any]) -> Any:
        return await execute(tool, args)

    schema = provider_schema(tool.input_schema)
    return {"description": told(tool), "inputSchema": schema, "execute": run}
