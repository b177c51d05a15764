"""search_tools and describe_tool: with them an agent finds the tools that its prompt has no room for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field, JsonValue
from typing_extensions import TypedDict

from handrail import Context, Result, tool

__all__ = ["describe_tool", "search_tools"]

_SEARCH_TOOLS = {"search_tools", "describe_tool"}
"""Whoever searches has these."""
_TOOL: Mapping[str, Any] = {"level": "read", "category": "handrail", "origin": "system"}
_NO_MATCH = "No tool that you may use fits these words. Try other words for the same thing."


class ToolFound(BaseModel):
    """A tool as a list shows it."""

    name: str
    level: str
    description: str


class ToolsFound(BaseModel):
    """The tools that fit, the best first."""

    tools: list[ToolFound]


@tool("search_tools", **_TOOL, icon="search", output=ToolsFound)
async def search_tools(
    query: Annotated[str, Field(description="What is to be done, in a few words, or a name")],
    limit: Annotated[int, Field(description="How many tools to name at most", ge=1, le=50)] = 10,
    *,
    ctx: Context,
) -> Result:
    """Find tools by what they do or are called, the best first.

    Use it when none of the tools you have does what is needed. Read the one you choose with describe_tool,
    then call it by its name. If nothing fits, search once more with other words for the same thing.
    """
    matches = await ctx.search(query, limit + len(_SEARCH_TOOLS))
    tools = [match.tool for match in matches if match.tool.id not in _SEARCH_TOOLS][:limit]
    rows = [ToolFound(name=it.id, level=it.level, description=it.description) for it in tools]
    lines = [f"{row.name} ({row.level}): {row.description}" for row in rows]
    return Result(
        data=ToolsFound(tools=rows),
        summary="Found 1 tool" if len(rows) == 1 else f"Found {len(rows)} tools",
        output="\n".join(lines) or _NO_MATCH,
    )


class CallPreview(TypedDict):
    """What the guard says to a call."""

    verdict: str
    reason: str
    varies: bool


class ToolDescription(TypedDict, total=False):
    """What there is to know of a tool."""

    name: str
    title: str
    category: str
    description: str
    guidance: str
    aliases: list[str]
    level: str
    danger: str
    parameters: JsonValue
    returns: JsonValue
    call: CallPreview


@tool("describe_tool", **_TOOL, icon="file-text", output=ToolDescription)
async def describe_tool(
    name: Annotated[str, Field(description="A tool's name, as search_tools or the menu gives it")],
    *,
    ctx: Context,
) -> Result:
    """Show a tool's parameters and guidance, and whether a call of it would run.

    Use it before you call a tool whose schema you have not been given.
    """
    return Result(data=(await ctx.describe(name)).to_dict())
