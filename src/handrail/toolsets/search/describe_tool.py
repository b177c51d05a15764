"""describe_tool: all that one needs to know to call a tool."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue
from typing_extensions import TypedDict

from handrail import Context, Result, tool


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


@tool(
    "describe_tool",
    level="read",
    category="handrail",
    icon="file-text",
    origin="system",
    output=ToolDescription,
)
async def describe_tool(
    name: Annotated[str, Field(description="A tool's name, as search_tools or the menu gives it")],
    *,
    ctx: Context,
) -> Result:
    """Show a tool's parameters and guidance, and whether a call of it would run.

    Use it before you call a tool whose schema you have not been given.
    """
    return Result(data=(await ctx.describe(name)).to_dict())
