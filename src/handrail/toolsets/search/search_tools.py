"""search_tools: the tools there are for a task, in few tokens."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from handrail import Context, Result, tool

_SEARCH_TOOLS = {"search_tools", "describe_tool"}
"""Whoever searches has these."""
_NO_MATCH = "No tool that you may use fits these words. Try other words for the same thing."


class ToolFound(BaseModel):
    """A tool as a list shows it."""

    name: str
    level: str
    description: str


class ToolsFound(BaseModel):
    """The tools that fit, the best first."""

    tools: list[ToolFound]


@tool("search_tools", level="read", category="handrail", icon="search", origin="system", output=ToolsFound)
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
    found = [
        one.tool
        for one in await ctx.search(query, limit + len(_SEARCH_TOOLS))
        if one.tool.id not in _SEARCH_TOOLS
    ]
    named = [ToolFound(name=one.id, level=one.level, description=one.description) for one in found[:limit]]
    lines = [f"{one.name} ({one.level}): {one.description}" for one in named]
    return Result(
        data=ToolsFound(tools=named),
        summary="Found 1 tool" if len(named) == 1 else f"Found {len(named)} tools",
        output="\n".join(lines) or _NO_MATCH,
    )
