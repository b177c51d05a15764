"""`/tools/{slug}/session`: the sessions of a tool, and how a new one begins."""

from __future__ import annotations

from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.tool import Tool
from handrail.core.errors import HandrailError
from handrail.doors.web import controls as c
from handrail.doors.web.frame import empty, page
from handrail.doors.web.pages.shared.drawing import status_mark
from handrail.doors.web.pages.shared.seat import READ, url_of
from handrail.doors.web.pages.tools.known import tool_here
from handrail.doors.web.routing import NotThere, Pages, Reader, go
from handrail.doors.web.words import when
from handrail.store.tool_sessions import ToolSession

pages = Pages()
CREATE = "tool_sessions.create"
_PAGE = 50


def launcher(tool: Tool, *, title: str = "", error: str | None = None) -> h.Element:
    """What begins a session of a tool; it can stand on any page of whoever may begin one."""
    return h.form(
        ".stack.shared-launch", method="post", action=f"/tools/{quote(tool.slug, safe='')}/session"
    )[
        c.field(
            "title",
            "What is it about?",
            value=title,
            error=error,
            maxlength="200",
            placeholder=tool.name,
            autocomplete="off",
        ),
        h.div[c.submit("Begin a session")],
    ]


@pages.get("/tools/{slug}/session", need=READ)
async def show(reader: Reader) -> Response:
    return await _shown(reader, await _tool(reader))


@pages.post("/tools/{slug}/session", need=CREATE)
async def begin(reader: Reader) -> Response:
    tool = await _tool(reader)
    title = c.text(await reader.form(), "title")
    try:
        made = await reader.offices.tool_sessions.create(reader.who, tool, title)
    except HandrailError as refused:
        return await _shown(reader, tool, title, str(refused))
    return go(url_of(made))


async def _tool(reader: Reader) -> Tool:
    tool = await tool_here(reader)
    if not tool.collaborative:
        raise NotThere
    return tool


async def _shown(reader: Reader, tool: Tool, title: str = "", error: str | None = None) -> Response:
    found = await reader.offices.tool_sessions.list(reader.who, tool=tool.slug, limit=_PAGE)
    names = await reader.offices.people.names(reader.who.tenant, [one.created_by for one in found])
    return page(
        reader,
        "Fill it in together",
        h.header(".head")[h.h1[f"{tool.name}, together"]],
        h.p(".quiet")[
            "Each person answers for themselves; everybody sees the answers and what they come to. "
            "People without an account join by a link."
        ],
        h.section(".panel.shared-narrow")[launcher(tool, title=title, error=error)]
        if reader.may(CREATE)
        else None,
        h.section(".stack", aria_labelledby="sessions-title")[
            h.h2("#sessions-title")["Sessions"],
            _table(reader, found, names)
            if found
            else empty("No sessions yet", "The first one that somebody begins stands here."),
        ],
        active="tools",
        crumbs=[("Tools", "/tools"), (tool.name, f"/tools/{quote(tool.slug, safe='')}")],
        status=422 if error else 200,
    )


def _table(reader: Reader, found: list[ToolSession], names: dict[str, str]) -> h.Element:
    return h.div(".table-container", tabindex="0", role="region", aria_label="Table of sessions")[
        h.table(".table")[
            h.thead[h.tr[(h.th(scope="col")[word] for word in ("About", "Stands", "Begun by", "Begun"))]],
            h.tbody[
                (
                    h.tr[
                        h.th(scope="row")[h.a(href=url_of(one))[one.title]],
                        h.td[status_mark(one.status)],
                        h.td[names.get(one.created_by, one.created_by)],
                        h.td[when(one.created_at, reader.now)],
                    ]
                    for one in found
                )
            ],
        ]
    ]
