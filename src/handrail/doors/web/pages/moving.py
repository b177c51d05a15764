"""Moving about: the stream of an open page, and the palette that finds pages and tools by a few letters."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.doors.web.answer import html
from handrail.doors.web.frame import places_of
from handrail.doors.web.icons import icon
from handrail.doors.web.routing import Pages, Reader

pages = Pages()
_MOST = 8


@pages.get("/live")
async def live(reader: Reader) -> Response:
    """What has changed, as it changes."""
    return reader.web.live.answer(reader.request, reader.who.tenant, reader.query.getlist("on"), reader.who)


@pages.get("/palette")
async def palette(reader: Reader) -> Response:
    """Pages and tools that fit what was typed; all pages and some tools before anything is."""
    words = reader.query.get("q", "").strip()[:200]
    places = [one for one in places_of(reader) if words.casefold() in one.label.casefold()]
    if words:
        found = await reader.hr.search(words, reader.who, limit=_MOST, source="web")
        tools = [one.tool for one in found]
    else:
        tools = await reader.hr.tools(reader.who, source="web", limit=_MOST)
    rows = [_row(one.path, one.icon, one.label, "Page") for one in places]
    rows += [_row(f"/tools/{one.slug}", one.icon or "wrench", one.name, one.description) for one in tools]
    return html(h.fragment[rows or h.p(".palette-none")["Nothing fits. Try fewer letters."]])


def _row(path: str, sign: str, label: str, about: str) -> h.Element:
    return h.a(".palette-row", href=path, role="option", tabindex="-1")[icon(sign), h.b[label], h.span[about]]
