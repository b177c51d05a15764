"""The tool that an address names, for whoever may use it. For others there is none."""

from __future__ import annotations

from urllib.parse import quote

from handrail.core.define.found import Described
from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError
from handrail.core.find.visibility import row_slug
from handrail.doors.http.routing import source_of
from handrail.doors.web.routing import NotThere, Reader


async def described(reader: Reader) -> Described:
    """The tool of the page, and what the guard says to a call of this reader's."""
    slug = reader.part("slug")
    try:
        return await reader.hr.describe(slug, reader.who, source=source_of(reader.request))
    except ToolError as error:
        if error.code != "TOOL_NOT_FOUND":
            raise
        raise NotThere from None


async def tool_here(reader: Reader) -> Tool:
    return (await described(reader)).tool


def url_of(tool: Tool, *more: str) -> str:
    """The address of a tool, or of something below it."""
    return "/".join(["/tools", *(quote(part, safe="") for part in (row_slug(tool), *more))])
