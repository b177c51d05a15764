"""The whole page of a tool, put together: what it is, its input, its result, its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.found import Described
from handrail.core.define.tool import Tool
from handrail.doors.web.frame import page
from handrail.doors.web.icons import icon
from handrail.doors.web.live import topic
from handrail.doors.web.pages.tools.column import draw_column
from handrail.doors.web.pages.tools.history import draw_history
from handrail.doors.web.pages.tools.inputs import Input
from handrail.doors.web.pages.tools.keeping import draw_linker, draw_saved
from handrail.doors.web.pages.tools.known import url_of
from handrail.doors.web.pages.tools.panel import draw_panel
from handrail.doors.web.pages.tools.picking import options_of
from handrail.doors.web.pages.tools.standing import Standing, last_of
from handrail.doors.web.pages.tools.star import draw_star, favourites_of, keeps
from handrail.doors.web.routing import Reader
from handrail.doors.web.words import level_mark
from handrail.store.keepsakes import SavedInput


@dataclass(frozen=True, slots=True)
class Shown:
    """What stands on the page beside the input."""

    stands: Standing | None = None
    column: h.Element | None = None
    """In the place of how a call stands."""
    note: h.Node = None
    saved: h.Element | None = None
    linker: h.Element | None = None
    status: int = 200


async def whole(reader: Reader, known: Described, given: Input, shown: Shown | None = None) -> Response:
    """The page. Where nothing else is to be shown, the result is that of this reader's last run."""
    tool, shown = known.tool, shown or Shown()
    column = shown.column
    if column is None:
        column = draw_column(reader, tool, shown.stands or await last_of(reader, tool))
    kept = shown.saved
    if kept is None and keeps(reader):
        kept = draw_saved(tool, await saved_of(reader, tool))
    tools = h.div(".tool-keep")[kept, shown.linker or draw_linker(tool)]
    return page(
        reader,
        tool.name,
        await _head(reader, known),
        h.div(".tool-columns")[
            draw_panel(tool, given, note=shown.note, tools=tools, options=await options_of(reader, tool)),
            column,
        ],
        await draw_history(reader, tool),
        active="tools",
        crumbs=[("Tools", "/tools")],
        live=[topic("tool", tool.id)],
        status=shown.status,
    )


async def saved_of(reader: Reader, tool: Tool) -> Sequence[SavedInput]:
    return await reader.offices.keepsakes.saved(reader.who, tool.id) if keeps(reader) else ()


async def _head(reader: Reader, known: Described) -> h.Element:
    tool = known.tool
    starred = tool.id in await favourites_of(reader)
    return h.header(".tool-head")[
        h.div(".head")[
            h.h1[h.span(".tool-head-icon")[icon(tool.icon)], tool.name],
            h.div(".row")[
                level_mark(tool.level, tool.danger),
                draw_star(tool, starred) if keeps(reader) else None,
                _menu(reader, tool),
            ],
        ],
        h.p(".tool-about")[tool.description] if tool.description else None,
        h.p(".quiet")[_meets(known)] if _meets(known) else None,
        h.details(".tool-guidance")[h.summary["When to use it"], h.p[tool.guidance]]
        if tool.guidance
        else None,
    ]


def _meets(known: Described) -> str | None:
    """What a call will meet, where that is worth knowing beforehand."""
    decision = known.decision
    if decision.verdict == "ask":
        return (
            "Asks you to confirm before it runs."
            if decision.by == "caller"
            else "Needs approval before it runs."
        )
    return "Is planned first, and runs when the plan is run." if decision.verdict == "queue" else None


def _menu(reader: Reader, tool: Tool) -> h.Element:
    """What else there is to a tool."""
    return h.details(".menu")[
        h.summary(aria_label=f"More about {tool.name}")[icon("ellipsis")],
        h.div(".menu-list")[
            h.a(href=url_of(tool, "session"))["Fill it in together"]
            if keeps(reader) and tool.collaborative and reader.may("tool_sessions.read")
            else None,
            h.a(href=f"/settings/embeds/new?tool={quote(tool.slug, safe='')}")["Publish it on a site"]
            if keeps(reader) and tool.level == "read" and reader.may("embeds.manage")
            else None,
            h.a(href=f"/runs?tool={quote(tool.id, safe='')}")["All its runs"],
            h.a(href=f"/api{url_of(tool)}")["Its definition (JSON)"],
        ],
    ]
