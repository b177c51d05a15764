"""around: what a run was given, why it was allowed, and what it belongs to. Most of it is read on demand."""

from __future__ import annotations

from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.tool import Tool
from handrail.core.tell.events import Event
from handrail.core.tell.letters import DeadLetter
from handrail.doors.http.record import Record, Wanted
from handrail.doors.visible import exact, one_line
from handrail.doors.web.answer import html
from handrail.doors.web.frame import page
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.runs.finding import Seen, seen
from handrail.doors.web.routing import NotThere, Pages, Reader
from handrail.doors.web.story.drawing import run_url, when_opened

pages = Pages()
_MOST = 300
"""Events of its session in which the calls are looked for that a call made."""


async def around(reader: Reader, found: Seen, tool: Tool | None) -> h.Element:
    """Folds and links beside the story."""
    address = run_url(found.call_id)
    return h.section(".run-around", aria_label="About this run")[
        on_demand("What it was given", f"{address}/input") if found.input is not None else None,
        on_demand(_question(found), f"{address}/why") if found.events else None,
        await _facts(reader, found),
    ]


def on_demand(words: str, address: str) -> h.Element:
    """A fold that asks for its content when it is opened; without script it is a page of its own."""
    return h.details(".run-fold", when_opened(address))[
        h.summary[words], h.div(".fold-body")[h.a(href=address)[words]]
    ]


def _question(found: Seen) -> str:
    if found.status == "refused":
        return "Why was this not allowed?"
    return "Why was a person asked?" if found.questions else "Why was this allowed?"


@pages.get("/runs/{id}/input")
async def show_input(reader: Reader) -> Response:
    """What the call was given, as the record has it: without secrets."""
    found = await seen(reader, reader.part("id"))
    if found.input is None:
        raise NotThere
    return part_or_page(reader, found, "What it was given", h.pre(tabindex="0")[exact(found.input, indent=2)])


def part_or_page(reader: Reader, found: Seen, title: str, content: h.Element) -> Response:
    """Content for a fold, or on a page of its own."""
    if reader.by_htmx:
        return html(content)
    crumbs = [("Runs", "/runs"), (one_line(found.tool) or "Run", run_url(found.call_id))]
    return page(reader, title, h.h1[title], content, active="runs", crumbs=crumbs)


async def _facts(reader: Reader, found: Seen) -> h.Element:
    call = found.events[0].call if found.events else None
    letter = await _letter(reader, found)
    children = await _children(reader, found)
    return h.dl(".run-facts")[
        _fact("Session", _session(reader, found)),
        _fact("Part of", h.a(href=run_url(call.parent))["the call that made it"])
        if call is not None and call.parent is not None and call.depth
        else None,
        _fact("Made again", h.a(href=run_url(call.parent))["the call that it repeats"])
        if call is not None and call.parent is not None and not call.depth
        else None,
        _fact("It called", _calls(children)) if children else None,
        _fact("Kept to try again", _dead(letter)) if letter is not None else None,
        _fact("Call", h.code[one_line(found.call_id)]),
        _fact("Run", h.code[one_line(found.run.id)]) if found.run is not None else None,
    ]


def _fact(word: str, said: h.Node) -> h.Node:
    return [h.dt[word], h.dd[said]]


def _session(reader: Reader, found: Seen) -> h.Node:
    if found.session is None or found.session == f"call:{found.call_id}":
        return "only this call"
    if not reader.may("events.read"):
        return one_line(found.session)
    return h.a(href=session_url(found.session))[one_line(found.session)]


def session_url(session: str) -> str:
    return f"/sessions/{quote(session, safe='')}"


def _calls(children: list[Event]) -> h.Element:
    return h.ul(".run-calls")[(h.li[h.a(href=run_url(one.call_id))[one_line(one.tool)]] for one in children)]


async def _children(reader: Reader, found: Seen) -> list[Event]:
    """The first events of calls that this one made. Numbers have no gaps: where none is missing, none is."""
    if found.run is None or found.session is None or not found.events:
        return []
    first, last = found.events[0].seq, found.events[-1].seq
    if found.over and last - first + 1 == len(found.events):
        return []
    which = Wanted(found.session)
    events = await Record(reader.platform).page(reader.who.tenant, which, seq=first, limit=_MOST)
    made: dict[str, Event] = {}
    for one in events:
        if one.call.parent == found.call_id and one.call.depth:
            made.setdefault(one.call_id, one)
    return list(made.values())


async def _letter(reader: Reader, found: Seen) -> DeadLetter | None:
    """What is kept of a call that failed, for whoever may see that."""
    if found.status not in ("failed", "needs_review") or not reader.may("dead_letters.read"):
        return None
    end = found.events[-1].at if found.events else found.began_at
    letters = await reader.hr.dead_letters.list(
        reader.who, found.tool, found.session, since=end - 5, before=end + 5
    )
    return next((one for one in letters if one.call.id == found.call_id), None)


def _dead(letter: DeadLetter) -> h.Node:
    words = {
        "open": "It can be made again.",
        "replaying": "It is being made again.",
        "replayed": "It was made again.",
        "unknown": "Its effect may have happened, so it is not made again.",
    }
    return [
        words[letter.status],
        " ",
        h.a(href=f"/settings/dead-letters/{quote(letter.id, safe='')}")[icon("inbox"), " Look at it"],
    ]
