"""What a run was given, why it was allowed, and what it belongs to. Most of it is read on demand."""

from __future__ import annotations

from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.decision import Decision, Step
from handrail.core.define.tool import Tool
from handrail.core.tell.dead_letters import DeadLetter
from handrail.core.tell.events import Event, ToolFailed
from handrail.doors.web.humanize import time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import page
from handrail.doors.web.pages.runs.run_view import RunView, display_names_for, find_run
from handrail.doors.web.responses import html
from handrail.doors.web.routing import PageContext, PageNotFound, PageRouter
from handrail.doors.web.timeline.render import load_on_open, run_url
from handrail.platform.access import may_see_approval
from handrail.platform.decisions import LayerReason, layer_reasons
from handrail.platform.display_text import one_line, visible, visible_json
from handrail.platform.events import EventFilter

router = PageRouter()

_MOST = 300
"""Events of its session in which the calls are looked for that a call made."""


async def render_details(ctx: PageContext, found: RunView, tool: Tool | None) -> h.Element:
    """Folds and links beside the story."""
    address = run_url(found.call_id)
    return h.section(".run-around", aria_label="About this run")[
        lazy_details("What it was given", f"{address}/input") if found.input is not None else None,
        lazy_details(_question(found), f"{address}/why") if found.events else None,
        await _facts(ctx, found),
    ]


def lazy_details(words: str, address: str) -> h.Element:
    """A fold that asks for its content when it is opened; without script it is a page of its own."""
    return h.details(".run-fold", load_on_open(address))[
        h.summary[words], h.div(".fold-body")[h.a(href=address)[words]]
    ]


def _question(found: RunView) -> str:
    if found.status == "refused":
        return "Why was this not allowed?"
    return "Why was a person asked?" if found.questions else "Why was this allowed?"


@router.get("/runs/{id}/input")
async def show_input(ctx: PageContext) -> Response:
    """What the call was given, as the record has it: without secrets."""
    found = await find_run(ctx, ctx.part("id"))
    if found.input is None:
        raise PageNotFound
    return part_or_page(
        ctx, found, "What it was given", h.pre(tabindex="0")[visible_json(found.input, indent=2)]
    )


def part_or_page(ctx: PageContext, found: RunView, title: str, content: h.Element) -> Response:
    """Content for a fold, or on a page of its own."""
    if ctx.by_htmx:
        return html(content)
    crumbs = [("Runs", "/runs"), (one_line(found.tool) or "Run", run_url(found.call_id))]
    return page(ctx, title, h.h1[title], content, active="runs", crumbs=crumbs)


async def _facts(ctx: PageContext, found: RunView) -> h.Element:
    call = found.events[0].call if found.events else None
    dead_letter = await _dead_letter_of(ctx, found)
    children = await _children(ctx, found)
    return h.dl(".run-facts")[
        _fact("Session", _session(ctx, found)),
        _fact("Part of", h.a(href=run_url(call.parent))["the call that made it"])
        if call is not None and call.parent is not None and call.depth
        else None,
        _fact("Made again", h.a(href=run_url(call.parent))["the call that it repeats"])
        if call is not None and call.parent is not None and not call.depth
        else None,
        _fact("It called", _calls(children)) if children else None,
        _fact("Kept to try again", _dead_letter(dead_letter)) if dead_letter is not None else None,
        _fact("Call", h.code[one_line(found.call_id)]),
        _fact("Run", h.code[one_line(found.run.id)]) if found.run is not None else None,
    ]


def _fact(word: str, said: h.Node) -> h.Node:
    return [h.dt[word], h.dd[said]]


def _session(ctx: PageContext, found: RunView) -> h.Node:
    if found.session is None or found.session == f"call:{found.call_id}":
        return "only this call"
    if not ctx.may("events.read"):
        return one_line(found.session)
    return h.a(href=session_url(found.session))[one_line(found.session)]


def session_url(session: str) -> str:
    return f"/sessions/{quote(session, safe='')}"


def _calls(children: list[Event]) -> h.Element:
    return h.ul(".run-calls")[(h.li[h.a(href=run_url(one.call_id))[one_line(one.tool)]] for one in children)]


async def _children(ctx: PageContext, found: RunView) -> list[Event]:
    """The first events of calls that this one made. Numbers have no gaps: where none is missing, none is."""
    if found.run is None or found.session is None or not found.events:
        return []
    first, last = found.events[0].seq, found.events[-1].seq
    if found.over and last - first + 1 == len(found.events):
        return []
    which = EventFilter(found.session)
    events = await ctx.platform.events.page(ctx.who.tenant, which, seq=first, limit=_MOST)
    made: dict[str, Event] = {}
    for one in events:
        if one.call.parent == found.call_id and one.call.depth:
            made.setdefault(one.call_id, one)
    return list(made.values())


async def _dead_letter_of(ctx: PageContext, found: RunView) -> DeadLetter | None:
    """What is kept of a call that failed, for whoever may see that."""
    if found.status not in ("failed", "needs_review") or not ctx.may("dead_letters.read"):
        return None
    end = found.events[-1].at if found.events else found.began_at
    dead_letters = await ctx.hr.dead_letters.list(
        ctx.who, found.tool, found.session, since=end - 5, before=end + 5
    )
    return next((one for one in dead_letters if one.call.id == found.call_id), None)


def _dead_letter(dead_letter: DeadLetter) -> h.Node:
    words = {
        "open": "It can be made again.",
        "replaying": "It is being made again.",
        "replayed": "It was made again.",
        "unknown": "Its effect may have happened, so it is not made again.",
    }
    return [
        words[dead_letter.status],
        " ",
        h.a(href=f"/settings/dead-letters/{quote(dead_letter.id, safe='')}")[icon("inbox"), " Look at it"],
    ]


_ICONS = {
    "allow": ("check", "good"),
    "ask": ("hand", "warn"),
    "queue": ("list-todo", "warn"),
    "deny": ("ban", "bad"),
}
_INVALID = frozenset({"MISSING_PARAM", "INVALID_PARAM"})
_KEPT = "This is what the guard said when the call came."

_NOW = (
    "What the guard said of this call was not kept, since nobody had to be asked. "
    "This is what it says of the same call now."
)


@router.get("/runs/{id}/why")
async def show_why(ctx: PageContext) -> Response:
    found = await find_run(ctx, ctx.part("id"))
    if not found.whole or not found.events:
        raise PageNotFound
    return part_or_page(
        ctx, found, "Why was this allowed?", h.div(".run-why")[await _explanation(ctx, found)]
    )


async def _explanation(ctx: PageContext, found: RunView) -> h.Node:
    for question in reversed(found.questions):
        request = await ctx.hr.approvals.get(question.approval_id, ctx.who)
        if request is not None and may_see_approval(ctx.who, request):
            display_names = await display_names_for(ctx, [request.decided_by])
            return [
                h.p(".quiet")[_KEPT],
                decision_trace(request.decision),
                h.p[
                    f"{_capital(display_names.person(request.decided_by))} {_REPLIES[request.status]}, ",
                    time_ago(request.decided_at or request.created_at, ctx.now),
                    ".",
                ]
                if request.status in _REPLIES and request.decided_by
                else None,
            ]
    refused = found.events[-1]
    if isinstance(refused, ToolFailed) and refused.layer is not None:
        step = Decision("deny", refused.layer, refused.rule, refused.code, refused.result.error or "")
        return [h.p(".quiet")[_KEPT], decision_trace(step)]
    return await _decide_again(ctx, found)


async def _decide_again(ctx: PageContext, found: RunView) -> h.Node:
    """The same question once more: the decision is the guard's, and pure."""
    call = found.events[0].call
    given = dict(found.input) if isinstance(found.input, dict) else {}
    decision = await ctx.hr.explain(call.tool, given, call.principal, source=call.source)
    if decision.code in _INVALID:
        return h.p(".quiet")["This can be told no more: what it was given holds a secret, or fits no more."]
    return [h.p(".quiet")[_NOW], decision_trace(decision)]


_REPLIES = {"approved": "approved it", "rejected": "rejected it", "responded": "answered in the tool's place"}


def decision_trace(decision: Decision) -> h.Element:
    """Every layer in order; the one that decided is marked, and not by colour alone."""
    told = layer_reasons(decision) or layer_reasons(decision.settled(_last_step(decision)))
    return h.ol(".run-trace")[(_reason(one) for one in told)]


def _last_step(decision: Decision) -> Step:
    """A refusal of which the record keeps the last word alone."""
    return Step(decision.layer, decision.verdict, decision.reason, decision.rule, decision.code, decision.by)


def _reason(one: LayerReason) -> h.Element:
    sign, tone = _ICONS[one.verdict]
    rule = [" ", h.code[visible(one.rule)]] if one.rule else None
    return h.li(class_=f"run-reason run-reason-{tone}{' run-decided' if one.decided else ''}")[
        icon(sign),
        h.span[
            h.b[one.layer],
            rule,
            f" {one.says}: {visible(one.reason)}",
            h.span(".mark")["decided"] if one.decided else None,
        ],
    ]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
