"""/runs/{id}: one call as a story, live while it goes on; what it was given and yielded, on demand."""

from __future__ import annotations

from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.tool import Tool
from handrail.core.tell.events import Event
from handrail.doors.http.record import Record, Wanted, event_json
from handrail.doors.http.refusing import Refused
from handrail.doors.http.routing import source_of
from handrail.doors.http.whose import is_same, known_call
from handrail.doors.visible import exact, one_line, visible
from handrail.doors.web.answer import html
from handrail.doors.web.frame import page
from handrail.doors.web.icons import icon
from handrail.doors.web.live import topic
from handrail.doors.web.pages.runs.around import around, part_or_page
from handrail.doors.web.pages.runs.finding import Seen, seen, shown_tool
from handrail.doors.web.pages.runs.people import voice_of
from handrail.doors.web.pages.runs.result import result_part
from handrail.doors.web.pages.runs.story import PIECES, call_story, event_url, output
from handrail.doors.web.pages.runs.tail import tail
from handrail.doors.web.routing import NotThere, Pages, Reader, go
from handrail.doors.web.story.drawing import run_url, story, story_lines
from handrail.doors.web.story.sentences import progress_words
from handrail.doors.web.words import span, state, when

pages = Pages()
CANCEL = "jobs.cancel"


@pages.get("/runs/{id}")
async def show_run(reader: Reader) -> Response:
    found = await seen(reader, reader.part("id"))
    tool = await shown_tool(reader, found.tool)
    return page(
        reader,
        one_line(found.tool) or "Run",
        h.div(".head")[h.h1[_name(found, tool)], _links(found, tool)],
        await now_part(reader, found, tool),
        await _happened(reader, found) if found.whole else _kept_back(),
        await around(reader, found, tool) if found.whole else None,
        active="runs",
        crumbs=[("Runs", "/runs")],
        live=() if found.over else [topic("call", found.call_id)],
    )


@pages.get("/runs/{id}/part")
async def show_part(reader: Reader) -> Response:
    """How the call stands and what came of it; it asks for itself until the call is over."""
    found = await seen(reader, reader.part("id"))
    return html(await now_part(reader, found, await shown_tool(reader, found.tool)))


@pages.get("/runs/{id}/story")
async def show_story(reader: Reader) -> Response:
    """The lines after a number: what an open page adds at the end of its story."""
    found = await seen(reader, reader.part("id"))
    after = number_of(reader.query.get("after", "0"))
    lines, more = await call_story(reader, found, after)
    if more is not None:
        lines = [one for one in lines if one.event.seq <= more]
    drawn = story_lines(lines, reader.now, lambda event: event_url(found, event))
    last = more or max((one.event.seq for one in lines), default=after)
    headers = {"x-last": str(last), "x-more": "yes" if more else "no"}
    return html(h.fragment[drawn], headers=headers)


@pages.get("/runs/{id}/output")
async def show_output(reader: Reader) -> Response:
    """What the body wrote while it ran, from a number on; a page at a time."""
    found = await seen(reader, reader.part("id"))
    pieces = await output(reader, found, number_of(reader.query.get("after", "0")))
    if not pieces:
        raise NotThere
    text = "".join(str(getattr(one, "chunk", "")) for one in pieces)
    following = f"{run_url(found.call_id)}/output?after={pieces[-1].seq}"
    more = h.p[h.a(href=following)["More output"]] if len(pieces) == PIECES else None
    content = h.div[h.pre(tabindex="0")[visible(text)], more]
    return part_or_page(reader, found, "Output", content)


@pages.get("/runs/{id}/events/{seq}")
async def show_event(reader: Reader) -> Response:
    """One event, exactly as it is recorded."""
    found = await seen(reader, reader.part("id"))
    if not found.whole or found.session is None:
        raise NotThere
    which = Wanted(found.session, call_id=found.call_id)
    seq = number_of(reader.part("seq"))
    page_of = await Record(reader.platform).page(reader.who.tenant, which, seq=max(seq - 1, 0), limit=1)
    if not page_of or page_of[0].seq != seq:
        raise NotThere
    return exact_event(reader, page_of[0], [("Runs", "/runs"), ("Run", run_url(found.call_id))])


def exact_event(reader: Reader, event: Event, crumbs: list[tuple[str, str]]) -> Response:
    """An event in a fold, or without script on a page of its own."""
    drawn = h.pre(".run-exact", tabindex="0")[exact(event_json(event), indent=2)]
    if reader.by_htmx:
        return html(drawn)
    return page(reader, f"Event {event.seq}", h.h1[f"Event {event.seq}"], drawn, active="runs", crumbs=crumbs)


@pages.post("/runs/{id}/cancel")
async def cancel(reader: Reader) -> Response:
    """Stop a call that runs, is queued or waits for a person."""
    found = await seen(reader, reader.part("id"))
    who = reader.who
    try:
        await known_call(reader.platform, found.call_id, who, CANCEL, source_of(reader.request))
    except Refused:
        raise NotThere from None
    await reader.hr.cancel(found.call_id, f"{who.user or who.agent or 'a key'} cancelled it", principal=who)
    return go(run_url(found.call_id))


async def now_part(reader: Reader, found: Seen, tool: Tool | None) -> h.Element:
    """Who, what, through what and how it stands, in one sentence; then the result."""
    asks = {}
    if not found.over:
        news = f"{topic('call', found.call_id)} from:body, hello from:body"
        asks = {"hx-get": f"{run_url(found.call_id)}/part", "hx-trigger": news, "hx-swap": "outerMorph"}
    return h.section("#run-now.run-now", asks, aria_label="How it stands")[
        h.div(".run-sentence")[
            _mark(found), h.p[await _sentence(reader, found)], _cancel_form(reader, found)
        ],
        _current(reader, found),
        _waiting(found),
        result_part(reader, found, tool) if found.whole else None,
    ]


def _mark(found: Seen) -> h.Element:
    if found.status == "waiting":
        return h.span(".mark")[icon("clock"), "waiting to start"]
    return state(found.status)


async def _sentence(reader: Reader, found: Seen) -> h.Node:
    maker, run = found.maker, found.run
    user, agent = (maker.user, maker.agent) if maker else (run.user, run.agent) if run else (None, None)
    voice = await voice_of(reader, [user])
    source = found.events[0].call.source if found.events else run.source if run else None
    caller = voice.caller(user, agent) if maker or run else "Somebody"
    parts: list[h.Node] = [f"{caller[:1].upper()}{caller[1:]} called ", h.b[one_line(found.tool)]]
    parts += [f" {voice.through(source)}, " if source else ", ", when(found.began_at, reader.now)]
    outcome = found.outcome
    took = outcome.duration_ms / 1000 if outcome is not None and outcome.run_id is not None else None
    if took is None and run is not None and run.ended_at is not None:
        took = run.ended_at - run.began_at
    return [*parts, f"; it took {span(took)}." if took is not None else "."]


def _current(reader: Reader, found: Seen) -> h.Node:
    """What the body says that it is doing; the summary takes its place afterwards."""
    if found.status != "running":
        return None
    told = reader.web.live.progress.get(found.call_id) if found.whole else None
    words = progress_words(told) if told is not None and told.tenant == reader.who.tenant else "Running"
    return h.p(".run-current", role="status")[icon("loader"), words]


def _waiting(found: Seen) -> h.Node:
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


def _cancel_form(reader: Reader, found: Seen) -> h.Node:
    mine = found.maker is not None and is_same(reader.who, found.maker)
    if found.over or not (reader.may(CANCEL) or mine):
        return None
    return h.form(method="post", action=f"{run_url(found.call_id)}/cancel")[
        h.button(".btn", type="submit", data_variant="outline", data_size="sm")[icon("circle-stop"), "Cancel"]
    ]


def _name(found: Seen, tool: Tool | None) -> str:
    return one_line(tool.name if tool is not None else found.tool) or "Run"


def _links(found: Seen, tool: Tool | None) -> h.Element:
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


async def _happened(reader: Reader, found: Seen) -> h.Element:
    lines, more = await call_story(reader, found)
    address = run_url(found.call_id)
    last = max((one.event.seq for one in lines), default=0)
    return h.section(".run-happened", aria_labelledby="run-happened")[
        h.h2("#run-happened")["What happened"],
        story(lines, reader.now, lambda event: event_url(found, event))
        if lines
        else h.p(".quiet")["Nothing yet: it waits for a worker."],
        h.p[h.a(href=f"{address}/output?after={more}")["There is more output"]] if more else None,
        None if found.over else tail(f"{address}/story", [topic("call", found.call_id)], last),
    ]


def _kept_back() -> h.Element:
    said = "What it was given and what it yielded can be seen by whoever made the call."
    return h.p(".run-note")[icon("lock"), " ", said]


def number_of(text: str) -> int:
    """A number of an event; 0 for what is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0
