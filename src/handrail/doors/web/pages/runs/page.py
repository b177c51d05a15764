"""/runs/{id}: the timeline of one call, live while it goes on; its output and its exact events on demand."""

from __future__ import annotations

from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.tool import Tool
from handrail.core.tell.events import Event, OutputAppended, ToolCancelled
from handrail.core.tell.log import EventFilter
from handrail.doors.web import controls as c
from handrail.doors.web.humanize import capitalize, duration, status_badge, time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import Crumb, page
from handrail.doors.web.live import parse_number, topic
from handrail.doors.web.pages.runs.details import part_or_page, render_details
from handrail.doors.web.pages.runs.result import render_result_part
from handrail.doors.web.pages.runs.run_view import RunView, display_names_for, find_run
from handrail.doors.web.responses import html
from handrail.doors.web.router import PageContext, PageNotFound, PageRouter, redirect, require
from handrail.doors.web.timeline.entries import TimelineEntry
from handrail.doors.web.timeline.render import render_entries, render_timeline, run_url
from handrail.doors.web.timeline.sentences import build_timeline, progress_words, users_in
from handrail.doors.web.tool_lookup import tool_url, visible_tool
from handrail.platform.access import find_call, may_see_approval
from handrail.platform.display_text import one_line, visible, visible_json
from handrail.platform.events import event_json


def timeline_tail(source: str, live_topic: str, last: int) -> h.Element:
    """Adds the entries after `last` to the timeline before it, whenever the topic is told."""
    return h.Element("run-tail")(data_src=source, data_topics=f"{live_topic} hello", data_last=last)


MAX_PIECES = 200
"""Pieces of output that are read at once."""


async def call_timeline(
    ctx: PageContext, view: RunView, after: int = 0
) -> tuple[list[TimelineEntry], int | None]:
    """The entries after a number of the session; and from which number on there is more output, if any."""
    pieces = await output_events(ctx, view, after)
    events = sorted((*view.events, *pieces), key=lambda event: event.seq)
    display_names = await display_names_for(ctx, users_in(events), await _deciders(ctx, view))
    entries = [entry for entry in build_timeline(events, display_names) if entry.event.seq > after]
    return entries, pieces[-1].seq if len(pieces) == MAX_PIECES else None


async def output_events(ctx: PageContext, view: RunView, after: int = 0) -> list[Event]:
    """The next pieces of output."""
    if not view.is_readable or view.run is None:
        return []
    which = EventFilter(view.session, call_id=view.call_id, status="chunk")
    return await ctx.platform.events.page(ctx.who.tenant, which, seq=after, limit=MAX_PIECES)


async def _deciders(ctx: PageContext, view: RunView) -> dict[str, str]:
    """Who rejected what was asked, where the reader may see the question."""
    endings = (event.result.code for event in view.events if isinstance(event, ToolCancelled))
    if "REJECTED" not in endings:
        return {}
    deciders: dict[str, str] = {}
    for question in view.questions:
        request = await ctx.hr.approvals.get(question.approval_id, ctx.who)
        if request is not None and request.decided_by and may_see_approval(ctx.who, request):
            deciders[question.approval_id] = request.decided_by
    return deciders


def event_url(view: RunView, event: Event) -> str:
    return f"{run_url(view.call_id)}/events/{event.seq}"


router = PageRouter()
CANCEL = "jobs.cancel"


@router.get("/runs/{id}")
async def show_run(ctx: PageContext) -> Response:
    view = await find_run(ctx)
    tool = await visible_tool(ctx, view.tool)
    return page(
        ctx,
        one_line(view.tool) or "Run",
        h.div(".head")[h.h1[one_line(tool.name if tool else view.tool) or "Run"], _links(view, tool)],
        await status_part(ctx, view, tool),
        await _timeline_section(ctx, view) if view.is_readable else _restricted_note(),
        await render_details(ctx, view) if view.is_readable else None,
        active="runs",
        crumbs=[("Runs", "/runs")],
        live=() if view.is_over else [topic("call", view.call_id)],
    )


@router.get("/runs/{id}/part")
async def show_part(ctx: PageContext) -> Response:
    """How the call stands and what came of it; it asks for itself until the call is over."""
    view = await find_run(ctx)
    return html(await status_part(ctx, view, await visible_tool(ctx, view.tool)))


@router.get("/runs/{id}/story")
async def show_timeline(ctx: PageContext) -> Response:
    """The entries after a number: what an open page adds at the end of its timeline."""
    view = await find_run(ctx)
    after = parse_seq(ctx.query.get("after", "0"))
    entries, more = await call_timeline(ctx, view, after)
    if more is not None:
        entries = [entry for entry in entries if entry.event.seq <= more]
    rendered = render_entries(entries, ctx.now, lambda event: event_url(view, event))
    last = more or max((entry.event.seq for entry in entries), default=after)
    return timeline_part(rendered, last, has_more=more is not None)


def timeline_part(rendered: list[h.Element], last: int, *, has_more: bool) -> Response:
    headers = {"x-last": str(last), "x-more": "yes" if has_more else "no"}
    return html(h.fragment[rendered], headers=headers)


@router.get("/runs/{id}/output")
async def show_output(ctx: PageContext) -> Response:
    """What the body wrote while it ran, from a number on; a page at a time."""
    view = await find_run(ctx)
    pieces = await output_events(ctx, view, parse_seq(ctx.query.get("after", "0")))
    if not pieces:
        raise PageNotFound
    text = "".join(piece.chunk for piece in pieces if isinstance(piece, OutputAppended))
    following = f"{run_url(view.call_id)}/output?after={pieces[-1].seq}"
    more = h.p[h.a(href=following)["More output"]] if len(pieces) == MAX_PIECES else None
    content = h.div[h.pre(tabindex="0")[visible(text)], more]
    return part_or_page(ctx, view, "Output", content)


@router.get("/runs/{id}/events/{seq}")
async def show_event(ctx: PageContext) -> Response:
    """One event, exactly as it is recorded."""
    view = await find_run(ctx)
    if not view.is_readable or view.session is None:
        raise PageNotFound
    which = EventFilter(view.session, call_id=view.call_id)
    crumbs = [("Runs", "/runs"), ("Run", run_url(view.call_id))]
    return await event_page(ctx, which, ctx.part("seq"), crumbs)


async def event_page(ctx: PageContext, which: EventFilter, number: str, crumbs: list[Crumb]) -> Response:
    """An event in a fold, or without script on a page of its own."""
    seq = parse_seq(number)
    events = await ctx.platform.events.page(ctx.who.tenant, which, seq=max(seq - 1, 0), limit=1)
    if not events or events[0].seq != seq:
        raise PageNotFound
    title, text = f"Event {seq}", visible_json(event_json(events[0]), indent=2)
    content = h.pre(".run-exact", tabindex="0")[text]
    if ctx.by_htmx:
        return html(content)
    return page(ctx, title, h.h1[title], content, active="runs", crumbs=crumbs)


@router.post("/runs/{id}/cancel")
async def cancel(ctx: PageContext) -> Response:
    """Stop a call that runs, is queued or waits for a person."""
    view, who = await find_run(ctx), ctx.who
    require(await find_call(ctx.platform, view.call_id, who, CANCEL, ctx.source))
    await ctx.hr.cancel(view.call_id, f"{who.user or who.agent or 'a key'} cancelled it", principal=who)
    return redirect(run_url(view.call_id))


async def status_part(ctx: PageContext, view: RunView, tool: Tool | None) -> h.Element:
    """Who, what, through what and how it stands, in one sentence; then the result."""
    url = f"{run_url(view.call_id)}/part"
    asks = {} if view.is_over else c.refresh_on_news(url, topic("call", view.call_id))
    is_waiting = view.status == "waiting"
    badge = h.span(".mark")[icon("clock"), "waiting to start"] if is_waiting else status_badge(view.status)
    return h.section("#run-now.run-now", asks, aria_label="How it stands")[
        h.div(".run-sentence")[badge, h.p[await _sentence(ctx, view)], _cancel_form(ctx, view)],
        _progress(ctx, view),
        _waiting(view),
        render_result_part(ctx, view, tool) if view.is_readable else None,
    ]


async def _sentence(ctx: PageContext, view: RunView) -> h.Node:
    maker, run, outcome = view.maker, view.run, view.outcome
    caller, source = "Somebody", view.events[0].call.source if view.events else run.source if run else None
    by = maker or run
    display_names = await display_names_for(ctx, [by.user if by else None])
    if by is not None:
        caller = capitalize(display_names.caller(by.user, by.agent))
    took = outcome.duration_ms / 1000 if outcome is not None and outcome.run_id is not None else None
    if took is None and run is not None and run.ended_at is not None:
        took = run.ended_at - run.began_at
    return [
        f"{caller} called ",
        h.b[one_line(view.tool)],
        f" {display_names.through(source)}, " if source else ", ",
        time_ago(view.began_at, ctx.now),
        f"; it took {duration(took)}." if took is not None else ".",
    ]


def _progress(ctx: PageContext, view: RunView) -> h.Node:
    """What the body says that it is doing; the summary takes its place afterwards."""
    if view.status != "running":
        return None
    progress = ctx.web.live.progress.get(view.call_id) if view.is_readable else None
    is_ours = progress is not None and progress.tenant == ctx.who.tenant
    words = progress_words(progress) if progress is not None and is_ours else "Running"
    return h.p(".run-current", role="status")[icon("loader"), words]


def _waiting(view: RunView) -> h.Node:
    if view.status == "pending" and view.questions:
        link = h.a(href=f"/approvals/{quote(view.questions[-1].approval_id, safe='')}")
        return h.p(".run-note")["It waits for a person to approve. ", link["Look at what is asked"], "."]
    if view.earlier is not None:
        text = "The same call had run before, so its answer was given again. "
        return h.p(".run-note")[text, h.a(href=run_url(view.earlier))["Look at that run"], "."]
    return None


def _cancel_form(ctx: PageContext, view: RunView) -> h.Node:
    is_own = view.maker is not None and ctx.who.is_same_caller(view.maker)
    if view.is_over or not (ctx.may(CANCEL) or is_own):
        return None
    url = f"{run_url(view.call_id)}/cancel"
    return c.post_button(url, [icon("circle-stop"), "Cancel"], "outline", "sm")


def _links(view: RunView, tool: Tool | None) -> h.Element:
    if tool is None:
        return h.div(".row")
    url = tool_url(tool)
    again = f"{url}?call={quote(view.call_id, safe='')}"
    return h.div(".row")[
        c.small_link(again, [icon("rotate-cw"), "Run again"]) if view.is_readable else None,
        c.small_link(url, [icon("wrench"), "Tool"], "ghost"),
    ]


async def _timeline_section(ctx: PageContext, view: RunView) -> h.Element:
    entries, more = await call_timeline(ctx, view)
    url, live_topic = run_url(view.call_id), topic("call", view.call_id)
    last = max((entry.event.seq for entry in entries), default=0)
    return h.section(".run-happened", aria_labelledby="run-happened")[
        h.h2("#run-happened")["What happened"],
        render_timeline(entries, ctx.now, lambda event: event_url(view, event))
        if entries
        else h.p(".quiet")["Nothing yet: it waits for a worker."],
        h.p[h.a(href=f"{url}/output?after={more}")["There is more output"]] if more else None,
        None if view.is_over else timeline_tail(f"{url}/story", live_topic, last),
    ]


def _restricted_note() -> h.Element:
    text = "What it was given and what it yielded can be seen by whoever made the call."
    return h.p(".run-note")[icon("lock"), " ", text]


def parse_seq(text: str) -> int:
    """A number of an event; 0 for what is none."""
    return parse_number(text) or 0
