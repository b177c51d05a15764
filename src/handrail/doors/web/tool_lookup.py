"""The tool that an address or a record names, for whoever may use it. For others there is none."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from handrail.core.define.levels import Source
from handrail.core.define.lookup import ToolDetails
from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError
from handrail.core.find.visibility import row_slug
from handrail.doors.web.router import PageContext, PageNotFound


async def described_tool(ctx: PageContext) -> ToolDetails:
    """The tool of the page, and what the guard says to a call of this reader's."""
    try:
        return await ctx.hr.describe(ctx.part("slug"), ctx.who, source=ctx.source)
    except ToolError as error:
        if error.code != "TOOL_NOT_FOUND":
            raise
        raise PageNotFound from None


async def requested_tool(ctx: PageContext) -> Tool:
    return (await described_tool(ctx)).tool


async def visible_tool(ctx: PageContext, name: str, source: Source = "web") -> Tool | None:
    """The tool of a name, if there is one and it is shown to the reader."""
    if not name:
        return None
    try:
        return (await ctx.hr.describe(name, ctx.who, source=source)).tool
    except ToolError:
        return None


async def visible_tools(ctx: PageContext, names: Iterable[str], limit: int) -> list[Tool]:
    """The first tools of these names that are shown to the reader."""
    tools: list[Tool] = []
    for name in names:
        if len(tools) == limit:
            break
        tool = await visible_tool(ctx, name, ctx.source)
        if tool is not None:
            tools.append(tool)
    return tools


def tool_url(tool: Tool, *more: str) -> str:
    """The address of a tool, or of something below it."""
    return "/".join(["/tools", *(quote(part, safe="") for part in (row_slug(tool), *more))])
