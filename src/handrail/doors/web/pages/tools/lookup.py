"""The tool that an address names, for whoever may use it. For others there is none."""

from __future__ import annotations

from urllib.parse import quote

from handrail.core.define.lookup import ToolDetails
from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError
from handrail.core.find.visibility import row_slug
from handrail.doors.web.routing import PageContext, PageNotFound


async def described_tool(ctx: PageContext) -> ToolDetails:
    """The tool of the page, and what the guard says to a call of this reader's."""
    slug = ctx.part("slug")
    try:
        return await ctx.hr.describe(slug, ctx.who, source=ctx.source)
    except ToolError as error:
        if error.code != "TOOL_NOT_FOUND":
            raise
        raise PageNotFound from None


async def requested_tool(ctx: PageContext) -> Tool:
    return (await described_tool(ctx)).tool


def tool_url(tool: Tool, *more: str) -> str:
    """The address of a tool, or of something below it."""
    return "/".join(["/tools", *(quote(part, safe="") for part in (row_slug(tool), *more))])
