"""describe_tool: all that one needs to know to call a tool."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from handrail import Context, tool


@tool("describe_tool", level="read", category="handrail", icon="file-text", origin="system")
async def describe_tool(
    name: Annotated[str, Field(description="A tool's name, as search_tools or the menu gives it")],
    *,
    ctx: Context,
) -> dict[str, Any]:
    """Show a tool's parameters and guidance, and whether a call would run, wait for a person or be queued.

    Use it before you call a tool whose schema you have not been given.
    """
    return (await ctx.describe(name)).to_dict()
