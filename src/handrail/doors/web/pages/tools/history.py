"""History: the runs of a tool, newest first, a page at a time. Others see their own, or all if they may."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.tool import Tool
from handrail.core.errors import UsageError
from handrail.core.tell.runs import Run
from handrail.doors.http.paging import cut
from handrail.doors.web.answer import html
from handrail.doors.web.frame import page
from handrail.doors.web.live import topic
from handrail.doors.web.pages.runs.people import voice_of
from handrail.doors.web.pages.tools.column import CALL
from handrail.doors.web.pages.tools.inputs import KEY, new_key
from handrail.doors.web.pages.tools.known import tool_here, url_of
from handrail.doors.web.routing import NotThere, Pages, Reader
from handrail.doors.web.story.voice import Voice
from handrail.doors.web.words import span, state, when

pages = Pages()
_PAGE = 10


@pages.get("/tools/{slug}/history")
async def history(reader: Reader) -> Response:
    """A page of the runs; the first one asks for itself again when something happens."""
    tool = await tool_here(reader)
    drawn = await draw_history(reader, tool, reader.query.get("after") or None)
    if reader.by_htmx:
        return html(drawn)
    return page(
        reader,
        f"{tool.name}: history",
        h.h1[tool.name],
        drawn,
        active="tools",
        crumbs=[("Tools", "/tools"), (tool.name, url_of(tool))],
        live=[topic("tool", tool.id)],
    )


async def draw_history(reader: Reader, tool: Tool, after: str | None = None) -> h.Element | h.Fragment:
    """The section of the page, or with a place to go on from, the rows that follow."""
    runs, following = await _runs(reader, tool, after)
    voice = await voice_of(reader, [run.user for run in runs])
    rows = [
        *(_row(reader, tool, run, voice) for run in runs),
        _more(tool, following) if following is not None else None,
    ]
    if after is not None and reader.by_htmx:
        return h.fragment[rows]
    asks: Mapping[str, str] = {}
    if after is None:
        news = topic("tool", tool.id)
        asks = {
            "hx-get": url_of(tool, "history"),
            "hx-trigger": f"{news} from:body",
            "hx-swap": "outerMorph",
        }
    return h.section("#history", asks, aria_labelledby="history-title")[
        h.h2("#history-title")["History"],
        h.div(".table-container")[
            h.table(".table.tool-history")[
                h.thead[
                    h.tr[
                        h.th["When"],
                        h.th["How it went"],
                        h.th["Who"],
                        h.th(".num")["Took"],
                        h.th[h.span(".sr-only")["Next"]],
                    ]
                ],
                h.tbody[rows],
            ]
        ]
        if runs
        else h.p(".quiet")["Nobody ran it yet. Each run will stand here with its input and its result."],
    ]


async def _runs(reader: Reader, tool: Tool, after: str | None) -> tuple[list[Run], str | None]:
    who = reader.who
    everybody = reader.may("runs.read")
    if not everybody and who.user is None:
        return [], None
    try:
        found = await reader.hr.runs(
            who, tool=tool.id, user=None if everybody else who.user, after=after, limit=_PAGE + 1
        )
    except UsageError:
        raise NotThere from None
    shown, following = cut(found, _PAGE, lambda run: run.cursor)
    return list(shown), following


def _row(reader: Reader, tool: Tool, run: Run, voice: Voice) -> h.Element:
    took = None if run.ended_at is None else span(max(run.ended_at - run.began_at, 0.0))
    return h.tr(id=f"row-{run.id}")[
        h.td[when(run.began_at, reader.now)],
        h.td[state(run.status)],
        h.td[voice.caller(run.user, run.agent)],
        h.td(".num")[took],
        h.td(".tool-history-next")[_next(reader, tool, run)],
    ]


def _next(reader: Reader, tool: Tool, run: Run) -> h.Node:
    """What may be done with it; its content is for whoever made the call, or may read events."""
    mine = run.user == reader.who.user and run.agent == reader.who.agent and run.user is not None
    if not mine and not reader.may("events.read"):
        return None
    again = url_of(tool, "run")
    asks = {"hx-post": again, "hx-target": "#result", "hx-swap": "outerHTML"}
    small = {"data-variant": "ghost", "data-size": "sm"}
    return [
        h.a(".btn", small, href=f"{url_of(tool)}?call={quote(run.call_id, safe='')}")["Open and edit"],
        h.form(asks, method="post", action=again)[
            h.input(type="hidden", name=CALL, value=run.call_id),
            h.input(type="hidden", name=KEY, value=new_key()),
            h.button(".btn", small, type="submit")["Run again"],
        ],
    ]


def _more(tool: Tool, following: str) -> h.Element:
    url = f"{url_of(tool, 'history')}?after={quote(following, safe='')}"
    asks = {"hx-get": url, "hx-target": "closest tr", "hx-swap": "outerHTML"}
    return h.tr(".tool-history-more")[
        h.td(colspan="5")[h.a(".btn", asks, href=url, data_variant="ghost", data_size="sm")["Earlier runs"]]
    ]
