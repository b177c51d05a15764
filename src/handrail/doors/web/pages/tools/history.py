"""History: the runs of a tool, newest first, a page at a time. Others see their own, or all if they may."""

from __future__ import annotations

from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.tool import Tool
from handrail.core.errors import UsageError
from handrail.core.tell.runs import Run
from handrail.doors.web import controls as c
from handrail.doors.web.humanize import duration, status_badge, time_ago
from handrail.doors.web.layout import page
from handrail.doors.web.live import topic
from handrail.doors.web.pages.runs.run_view import display_names_for
from handrail.doors.web.pages.tools.call_panel import run_again_form
from handrail.doors.web.responses import html
from handrail.doors.web.router import PageContext, PageNotFound, PageRouter
from handrail.doors.web.timeline.texts import DisplayNames
from handrail.doors.web.tool_lookup import requested_tool, tool_url
from handrail.platform.responses import page_and_cursor

router = PageRouter()
_PAGE_SIZE = 10


@router.get("/tools/{slug}/history")
async def history(ctx: PageContext) -> Response:
    """A page of the runs; the first one asks for itself again when something happens."""
    tool = await requested_tool(ctx)
    drawn = await render_history(ctx, tool, ctx.query.get("after") or None)
    if ctx.by_htmx:
        return html(drawn)
    return page(
        ctx,
        f"{tool.name}: history",
        h.h1[tool.name],
        drawn,
        active="tools",
        crumbs=[("Tools", "/tools"), (tool.name, tool_url(tool))],
        live=[topic("tool", tool.id)],
    )


async def render_history(ctx: PageContext, tool: Tool, after: str | None = None) -> h.Element | h.Fragment:
    """The section of the page, or with a cursor to go on from, the rows that follow."""
    runs, following = await _runs(ctx, tool, after)
    display_names = await display_names_for(ctx, [run.user for run in runs])
    rows = [
        *(_row(ctx, tool, run, display_names) for run in runs),
        _more(tool, following) if following is not None else None,
    ]
    if after is not None and ctx.by_htmx:
        return h.fragment[rows]
    asks = {}
    if after is None:
        asks = c.refresh_on(tool_url(tool, "history"), f"{topic('tool', tool.id)} from:body")
    next_head = h.th[h.span(".sr-only")["Next"]]
    return h.section("#history", asks, aria_labelledby="history-title")[
        h.h2("#history-title")["History"],
        h.div(".table-container")[
            h.table(".table.tool-history")[
                h.thead[
                    h.tr[h.th["When"], h.th["How it went"], h.th["Who"], h.th(".num")["Took"], next_head]
                ],
                h.tbody[rows],
            ]
        ]
        if runs
        else h.p(".quiet")["Nobody ran it yet. Each run will stand here with its input and its result."],
    ]


async def _runs(ctx: PageContext, tool: Tool, after: str | None) -> tuple[list[Run], str | None]:
    who = ctx.who
    may_see_all = ctx.may("runs.read")
    if not may_see_all and who.user is None:
        return [], None
    try:
        runs = await ctx.hr.runs(
            who, tool=tool.id, user=None if may_see_all else who.user, after=after, limit=_PAGE_SIZE + 1
        )
    except UsageError:
        raise PageNotFound from None
    shown, following = page_and_cursor(runs, _PAGE_SIZE, lambda run: run.cursor)
    return list(shown), following


def _row(ctx: PageContext, tool: Tool, run: Run, display_names: DisplayNames) -> h.Element:
    took = None if run.ended_at is None else duration(max(run.ended_at - run.began_at, 0.0))
    return h.tr(id=f"row-{run.id}")[
        h.td[time_ago(run.began_at, ctx.now)],
        h.td[status_badge(run.status)],
        h.td[display_names.caller(run.user, run.agent)],
        h.td(".num")[took],
        h.td(".tool-history-next")[_next(ctx, tool, run)],
    ]


def _next(ctx: PageContext, tool: Tool, run: Run) -> h.Node:
    """What may be done with it; its content is for whoever made the call, or may read events."""
    is_own = run.user == ctx.who.user and run.agent == ctx.who.agent and run.user is not None
    if not is_own and not ctx.may("events.read"):
        return None
    return [
        c.small_link(f"{tool_url(tool)}?call={quote(run.call_id, safe='')}", "Open and edit", "ghost"),
        run_again_form(tool, run.call_id, c.small_submit("Run again", "ghost")),
    ]


def _more(tool: Tool, following: str) -> h.Element:
    url = f"{tool_url(tool, 'history')}?after={quote(following, safe='')}"
    link = c.small_link(url, "Earlier runs", "ghost", c.get_into(url, "closest tr"))
    return h.tr(".tool-history-more")[h.td(colspan="5")[link]]
