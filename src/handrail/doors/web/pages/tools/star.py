"""The star: favourite tools, which a person keeps for themself."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.core.define.tool import Tool
from handrail.doors.web.answer import html
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.tools.known import tool_here, url_of
from handrail.doors.web.routing import Pages, Reader, go

pages = Pages()


def keeps(reader: Reader) -> bool:
    """Whether this reader can keep things: that takes a database, and a person."""
    return reader.platform.offices is not None and reader.who.user is not None and reader.who.agent is None


async def favourites_of(reader: Reader) -> list[str]:
    """The ids of this reader's favourite tools."""
    return await reader.offices.keepsakes.favourites(reader.who) if keeps(reader) else []


@pages.post("/tools/{slug}/star")
async def star(reader: Reader) -> Response:
    """Make it a favourite, or none any more."""
    tool = await tool_here(reader)
    given = await reader.form()
    on = given.get("on") == "1"
    await reader.offices.keepsakes.favour(reader.who, tool.id, on)
    if reader.by_htmx:
        return html(draw_star(tool, on))
    return go("/tools" if given.get("back") == "library" else url_of(tool))


def draw_star(tool: Tool, on: bool, back: str | None = None) -> h.Element:
    """A button that says how it stands, and changes it."""
    url = url_of(tool, "star")
    label = f"{tool.name}: a favourite" if on else f"{tool.name}: make it a favourite"
    return h.form(".tool-star", {"hx-post": url, "hx-swap": "outerHTML"}, method="post", action=url)[
        h.input(type="hidden", name="on", value="0" if on else "1"),
        h.input(type="hidden", name="back", value=back) if back else None,
        h.button(
            type="submit",
            class_="tool-star-on" if on else "",
            aria_pressed="true" if on else "false",
            aria_label=label,
            title="A favourite" if on else "Make it a favourite",
        )[icon("star")],
    ]
