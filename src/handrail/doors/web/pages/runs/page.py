"""/runs/{id}: the timeline of one call, live while it goes on; its output and its exact events on demand."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.tool import Tool
from handrail.core.tell.events import Event, ToolCancelled
from handrail.doors.web.humanize import duration, status_badge, time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import page
from handrail.doors.web.live import topic
from handrail.doors.web.pages.runs.details import part_or_page, render_details
from handrail.doors.web.pages.runs.result import render_result_part
from handrail.doors.web.pages.runs.run_view import RunView, display_names_for, find_run, visible_tool
from handrail.doors.web.responses import html
from handrail.doors.web.routing import PageContext, PageNotFound, PageRouter, redirect
from handrail.doors.web.timeline.entries import TimelineEntry
from handrail.doors.web.timeline.render import render_entries, render_timeline, run_url
from handrail.doors.web.timeline.sentences import build_timeline, progress_words, users_in
from handrail.platform.access import find_call, is_same_caller, may_see_approval
from handrail.platform.display_text import one_line, visible, visible_json
from handrail.platform.events import EventFilter, event_json


def timeline_tail(source: str, topics: Sequence[str], last: int) -> h.Element:
    """Adds the lines after `last` to the story before it, whenever one of the topics is told."""
    return h.Element("run-tail")(data_src=source, data_topics=" ".join((*topics, "hello")), data_last=last)


MAX_PIECES = 200
"""Pieces of output that are read at once."""


async def call_timeline(
    ctx: PageContext, found: RunView, after: int = 0
) -> tuple[list[TimelineEntry], int | None]:
    """The lines after a number of the session; and from which number on there is more output, if there is."""
    pieces = await output_events(ctx, found, after)
    events = merge_events(found.events, pieces)
    display_names = await display_names_for(ctx, users_in(events), await _deciders(ctx, found))
    entries = [one for one in build_timeline(events, display_names) if one.event.seq > after]
    return entries, pieces[-1].seq if len(pieces) == MAX_PIECES else None


async def output_events(ctx: PageContext, found: RunView, after: int = 0) -> list[Event]:
    """The next pieces of output."""
    if not found.whole or found.run is None:
        return []
    which = EventFilter(found.session, call_id=found.call_id, status="chunk")
    return await ctx.platform.events.page(ctx.who.tenant, which, seq=after, limit=MAX_PIECES)


def merge_events(events: Sequence[Event], pieces: Sequence[Event]) -> list[Event]:
    return sorted((*events, *pieces), key=lambda one: one.seq)


async def _deciders(ctx: PageContext, found: RunView) -> dict[str, str]:
    """Who rejected what was asked, where the reader may see the question."""
    if not any(isinstance(one, ToolCancelled) and one.result.code == "REJECTED" for one in found.events):
        return {}
    decided: dict[str, str] = {}
    for one in found.questions:
        request = await ctx.hr.approvals.get(one.approval_id, ctx.who)
        if request is not None and request.decided_by and may_see_approval(ctx.who, request):
            decided[one.approval_id] = request.decided_by
    return decided


def event_url(found: RunView, event: Event) -> str:
    return f"/runs/{quote(found.call_id, safe='')}/events/{event.seq}"


router = PageRouter()
CANCEL = "jobs.cancel"


@router.get("/runs/{id}")
async def show_run(ctx: PageContext) -> Response:
    found = await find_run(ctx, ctx.part("id"))
    tool = await visible_tool(ctx, found.tool)
    return page(
        ctx,
        one_line(found.tool) or "Run",
        h.div(".head")[h.h1[_name(found, tool)], _links(found, tool)],
        await status_part(ctx, found, tool),
        await _timeline_section(ctx, found) if found.whole else _restricted_note(),
        await render_details(ctx, found, tool) if found.whole else None,
        active="runs",
        crumbs=[("Runs", "/runs")],
        live=() if found.over else [topic("call", found.call_id)],
    )


@router.get("/runs/{id}/part")
async def show_part(ctx: PageContext) -> Response:
    """How the call stands and what came of it; it asks for itself until the call is over."""
    found = await find_run(ctx, ctx.part("id"))
    return html(await status_part(ctx, found, await visible_tool(ctx, found.tool)))


@router.get("/runs/{id}/story")
async def show_timeline(ctx: PageContext) -> Response:
    """The lines after a number: what an open page adds at the end of its story."""
    found = await find_run(ctx, ctx.part("id"))
    after = parse_seq(ctx.query.get("after", "0"))
    entries, more = await call_timeline(ctx, found, after)
    if more is not None:
        entries = [one for one in entries if one.event.seq <= more]
    drawn = render_entries(entries, ctx.now, lambda event: event_url(found, event))
    last = more or max((one.event.seq for one in entries), default=after)
    headers = {"x-last": str(last), "x-more": "yes" if more else "no"}
    return html(h.fragment[drawn], headers=headers)


@router.get("/runs/{id}/output")
async def show_output(ctx: PageContext) -> Response:
    """What the body wrote while it ran, from a number on; a page at a time."""
    found = await find_run(ctx, ctx.part("id"))
    pieces = await output_events(ctx, found, parse_seq(ctx.query.get("after", "0")))
    if not pieces:
        raise PageNotFound
    text = "".join(str(getattr(one, "chunk", "")) for one in pieces)
    following = f"{run_url(found.call_id)}/output?after={pieces[-1].seq}"
    more = h.p[h.a(href=following)["More output"]] if len(pieces) == MAX_PIECES else None
    content = h.div[h.pre(tabindex="0")[visible(text)], more]
    return part_or_page(ctx, found, "Output", content)


@router.get("/runs/{id}/events/{seq}")
async def show_event(ctx: PageContext) -> Response:
    """One event, exactly as it is recorded."""
    found = await find_run(ctx, ctx.part("id"))
    if not found.whole or found.session is None:
        raise PageNotFound
    which = EventFilter(found.session, call_id=found.call_id)
    seq = parse_seq(ctx.part("seq"))
    page_of = await ctx.platform.events.page(ctx.who.tenant, which, seq=max(seq - 1, 0), limit=1)
    if not page_of or page_of[0].seq != seq:
        raise PageNotFound
    return event_page(ctx, page_of[0], [("Runs", "/runs"), ("Run", run_url(found.call_id))])


def event_page(ctx: PageContext, event: Event, crumbs: list[tuple[str, str]]) -> Response:
    """An event in a fold, or without script on a page of its own."""
    drawn = h.pre(".run-exact", tabindex="0")[visible_json(event_json(event), indent=2)]
    if ctx.by_htmx:
        return html(drawn)
    return page(ctx, f"Event {event.seq}", h.h1[f"Event {event.seq}"], drawn, active="runs", crumbs=crumbs)


@router.post("/runs/{id}/cancel")
async def cancel(ctx: PageContext) -> Response:
    """Stop a call that runs, is queued or waits for a person."""
    found = await find_run(ctx, ctx.part("id"))
    who = ctx.who
    if await find_call(ctx.platform, found.call_id, who, CANCEL, ctx.source) is None:
        raise PageNotFound
    await ctx.hr.cancel(found.call_id, f"{who.user or who.agent or 'a key'} cancelled it", principal=who)
    return redirect(run_url(found.call_id))


async def status_part(ctx: PageContext, found: RunView, tool: Tool | None) -> h.Element:
    """Who, what, through what and how it stands, in one sentence; then the result."""
    asks = {}
    if not found.over:
        news = f"{topic('call', found.call_id)} from:body, hello from:body"
        asks = {"hx-get": f"{run_url(found.call_id)}/part", "hx-trigger": news, "hx-swap": "outerMorph"}
    return h.section("#run-now.run-now", asks, aria_label="How it stands")[
        h.div(".run-sentence")[_badge(found), h.p[await _sentence(ctx, found)], _cancel_form(ctx, found)],
        _progress(ctx, found),
        _waiting(found),
        render_result_part(ctx, found, tool) if found.whole else None,
    ]


def _badge(found: RunView) -> h.Element:
    if found.status == "waiting":
        return h.span(".mark")[icon("clock"), "waiting to start"]
    return status_badge(found.status)


async def _sentence(ctx: PageContext, found: RunView) -> h.Node:
    maker, run = found.maker, found.run
    user, agent = (maker.user, maker.agent) if maker else (run.user, run.agent) if run else (None, None)
    display_names = await display_names_for(ctx, [user])
    source = found.events[0].call.source if found.events else run.source if run else None
    caller = display_names.caller(user, agent) if maker or run else "Somebody"
    parts: list[h.Node] = [f"{caller[:1].upper()}{caller[1:]} called ", h.b[one_line(found.tool)]]
    parts += [f" {display_names.through(source)}, " if source else ", ", time_ago(found.began_at, ctx.now)]
    outcome = found.outcome
    took = outcome.duration_ms / 1000 if outcome is not None and outcome.run_id is not None else None
    if took is None and run is not None and run.ended_at is not None:
        took = run.ended_at - run.began_at
    return [*parts, f"; it took {duration(took)}." if took is not None else "."]


def _progress(ctx: PageContext, found: RunView) -> h.Node:
    """What the body says that it is doing; the summary takes its place afterwards."""
    if found.status != "running":
        return None
    told = ctx.web.live.progress.get(found.call_id) if found.whole else None
    words = progress_words(told) if told is not None and told.tenant == ctx.who.tenant else "Running"
    return h.p(".run-current", role="status")[icon("loader"), words]


def _waiting(found: RunView) -> h.Node:
    if found.status == "pending" and found.questions:
        url = f"/approvals/{quote(found.questions[-1].approval_id, safe='')}"
        return h.p(".run-note")[
            "It waits for a person to approve. ", h.a(href=url)["Look at what is asked"], "."
        ]
    if found.earlier is not None:
        return h.p(".run-note")[
            "The same call had run before, so its answer was given again. ",
            h.a(href=run_url(found.earlier))["Look at that run"],
            ".",
        ]
    return None


def _cancel_form(ctx: PageContext, found: RunView) -> h.Node:
    mine = found.maker is not None and is_same_caller(ctx.who, found.maker)
    if found.over or not (ctx.may(CANCEL) or mine):
        return None
    return h.form(method="post", action=f"{run_url(found.call_id)}/cancel")[
        h.button(".btn", type="submit", data_variant="outline", data_size="sm")[icon("circle-stop"), "Cancel"]
    ]


def _name(found: RunView, tool: Tool | None) -> str:
    return one_line(tool.name if tool is not None else found.tool) or "Run"


def _links(found: RunView, tool: Tool | None) -> h.Element:
    again = f"/tools/{quote(tool.slug, safe='')}" if tool is not None else None
    return h.div(".row")[
        h.a(
            ".btn",
            href=f"{again}?call={quote(found.call_id, safe='')}",
            data_variant="outline",
            data_size="sm",
        )[icon("rotate-cw"), "Run again"]
        if again and found.whole
        else None,
        h.a(".btn", href=again, data_variant="ghost", data_size="sm")[icon("wrench"), "Tool"]
        if again
        else None,
    ]


async def _timeline_section(ctx: PageContext, found: RunView) -> h.Element:
    entries, more = await call_timeline(ctx, found)
    address = run_url(found.call_id)
    last = max((one.event.seq for one in entries), default=0)
    return h.section(".run-happened", aria_labelledby="run-happened")[
        h.h2("#run-happened")["What happened"],
        render_timeline(entries, ctx.now, lambda event: event_url(found, event))
        if entries
        else h.p(".quiet")["Nothing yet: it waits for a worker."],
        h.p[h.a(href=f"{address}/output?after={more}")["There is more output"]] if more else None,
        None if found.over else timeline_tail(f"{address}/story", [topic("call", found.call_id)], last),
    ]


def _restricted_note() -> h.Element:
    said = "What it was given and what it yielded can be seen by whoever made the call."
    return h.p(".run-note")[icon("lock"), " ", said]


def parse_seq(text: str) -> int:
    """A number of an event; 0 for what is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0
