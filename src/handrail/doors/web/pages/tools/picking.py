"""Picking: what entity pickers of a form can choose from, for whoever fills it in."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response

from handrail.core.define.tool import Tool
from handrail.doors.web.forms.form import form_of
from handrail.doors.web.forms.options import NO_OPTIONS, Options, load_options
from handrail.doors.web.pages.tools.known import tool_here, url_of
from handrail.doors.web.routing import Pages, Reader

pages = Pages()
_LONGEST = 200
_MOST = 50


@pages.get("/tools/{slug}/options")
async def options(reader: Reader) -> Response:
    """Things of a type that the tool's form picks from, by what was typed so far."""
    tool = await tool_here(reader)
    type, text = reader.query.get("type", ""), reader.query.get("q", "").strip()[:_LONGEST]
    if type not in form_of(tool).types:
        return JSONResponse([])
    found = await reader.web.options(reader.who).search(type, text, _MOST)
    return JSONResponse([one.to_dict() for one in found[:_MOST]], headers={"cache-control": "no-store"})


async def options_of(reader: Reader, tool: Tool) -> Options:
    """The first things of each type that the form picks from, and where a page can look for more."""
    types = form_of(tool).types
    if not types:
        return NO_OPTIONS
    return await load_options(sorted(types), reader.web.options(reader.who), url_of(tool, "options"), _MOST)
