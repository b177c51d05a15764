"""What a run was given, why it was allowed, and what it belongs to. Most of it is read on demand."""

from __future__ import annotations

from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.decision import Decision, Step
from handrail.core.guard.approval_request import ApprovalRequest
from handrail.core.tell.dead_letters import DeadLetter
from handrail.core.tell.events import Event, ToolFailed
from handrail.core.tell.log import EventFilter
from handrail.doors.web import controls as c
from handrail.doors.web.humanize import capitalize, time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import page
from handrail.doors.web.pages.runs.run_view import RunView, display_names_for, find_run
from handrail.doors.web.responses import html
from handrail.doors.web.router import PageContext, PageNotFound, PageRouter, require
from handrail.doors.web.timeline.render import load_on_open, run_url
from handrail.platform.access import may_see_approval
from handrail.platform.decisions import LayerReason, layer_reasons
from handrail.platform.display_text import one_line, visible, visible_json

router = PageRouter()

_MOST = 300
"""Events of its session in which the calls are looked for that a call made."""


async def render_details(ctx: PageContext, view: RunView) -> h.Element:
    """Folds and links beside the timeline."""
    address = run_url(view.call_id)
    return h.section(".run-around", aria_label="About this run")[
        lazy_details("What it was given", f"{address}/input") if view.input is not None else None,
        lazy_details(_question(view), f"{address}/why") if view.events else None,
        await _facts(ctx, view),
    ]


def lazy_details(words: str, address: str) -> h.Element:
    """A fold that asks for its content when it is opened; without script it is a page of its own."""
    return h.details(".run-fold", load_on_open(address))[
        h.summary[words], h.div(".fold-body")[h.a(href=address)[words]]
    ]


def _question(view: RunView) -> str:
    if view.status == "refused":
        return "Why was this not allowed?"
    return "Why was a person asked?" if view.questions else "Why was this allowed?"


@router.get("/runs/{id}/input")
async def show_input(ctx: PageContext) -> Response:
    """The arguments of the call, as they are recorded: without secrets."""
    view = await find_run(ctx)
    text = visible_json(require(view.input), indent=2)
    return part_or_page(ctx, view, "What it was given", h.pre(tabindex="0")[text])


def part_or_page(ctx: PageContext, view: RunView, title: str, content: h.Element) -> Response:
    """Content for a fold, or on a page of its own."""
    if ctx.by_htmx:
        return html(content)
    crumbs = [("Runs", "/runs"), (one_line(view.tool) or "Run", run_url(view.call_id))]
    return page(ctx, title, h.h1[title], content, active="runs", crumbs=crumbs)


async def _facts(ctx: PageContext, view: RunView) -> h.Element:
    dead_letter = await _dead_letter_of(ctx, view)
    children = await _children(ctx, view)
    facts: dict[str, h.Node] = {"Session": _session(ctx, view)}
    call = view.events[0].call if view.events else None
    if call is not None and call.parent is not None:
        word, text = (
            ("Part of", "the call that made it") if call.depth else ("Made again", "the call that it repeats")
        )
        facts[word] = h.a(href=run_url(call.parent))[text]
    if children:
        links = (h.li[h.a(href=run_url(event.call_id))[one_line(event.tool)]] for event in children)
        facts["It called"] = h.ul(".run-calls")[links]
    if dead_letter is not None:
        link = h.a(href=f"/settings/dead-letters/{quote(dead_letter.id, safe='')}")
        text = _DEAD_LETTER_TEXTS[dead_letter.status]
        facts["Kept to try again"] = [text, " ", link[icon("inbox"), " Look at it"]]
    facts["Call"] = h.code[one_line(view.call_id)]
    if view.run is not None:
        facts["Run"] = h.code[one_line(view.run.id)]
    return h.dl(".run-facts")[([h.dt[word], h.dd[value]] for word, value in facts.items())]


_DEAD_LETTER_TEXTS = {
    "open": "It can be made again.",
    "replaying": "It is being made again.",
    "replayed": "It was made again.",
    "unknown": "Its effect may have happened, so it is not made again.",
}


def _session(ctx: PageContext, view: RunView) -> h.Node:
    if view.session is None or view.session == f"call:{view.call_id}":
        return "only this call"
    name = one_line(view.session)
    return h.a(href=session_url(view.session))[name] if ctx.may("events.read") else name


def session_url(session: str) -> str:
    return f"/sessions/{quote(session, safe='')}"


async def _children(ctx: PageContext, view: RunView) -> list[Event]:
    """The first events of calls that this one made. Numbers have no gaps: where none is missing, none is."""
    if view.run is None or view.session is None or not view.events:
        return []
    first, last = view.events[0].seq, view.events[-1].seq
    if view.is_over and last - first + 1 == len(view.events):
        return []
    events = await ctx.platform.events.page(ctx.who.tenant, EventFilter(view.session), seq=first, limit=_MOST)
    children: dict[str, Event] = {}
    for event in events:
        if event.call.parent == view.call_id and event.call.depth:
            children.setdefault(event.call_id, event)
    return list(children.values())


async def _dead_letter_of(ctx: PageContext, view: RunView) -> DeadLetter | None:
    """The dead letter of a call that failed, for whoever may see that."""
    if view.status not in ("failed", "needs_review") or not ctx.may("dead_letters.read"):
        return None
    end = view.events[-1].at if view.events else view.began_at
    dead_letters = await ctx.hr.dead_letters.list(
        ctx.who, view.tool, view.session, since=end - 5, before=end + 5
    )
    return next((letter for letter in dead_letters if letter.call.id == view.call_id), None)


_ICONS = {
    "allow": ("check", "good"),
    "ask": ("hand", "warn"),
    "queue": ("list-todo", "warn"),
    "deny": ("ban", "bad"),
}
_INVALID = frozenset({"MISSING_PARAM", "INVALID_PARAM"})
_RECORDED = "This is what the guard said when the call came."
_NOW = (
    "What the guard said of this call was not kept, since nobody had to be asked. "
    "This is what it says of the same call now."
)
_REPLIES = {"approved": "approved it", "rejected": "rejected it", "responded": "answered in the tool's place"}


@router.get("/runs/{id}/why")
async def show_why(ctx: PageContext) -> Response:
    view = await find_run(ctx)
    if not view.is_readable or not view.events:
        raise PageNotFound
    content = h.div(".run-why")[await _explanation(ctx, view)]
    return part_or_page(ctx, view, "Why was this allowed?", content)


async def _explanation(ctx: PageContext, view: RunView) -> h.Node:
    for question in reversed(view.questions):
        request = await ctx.hr.approvals.get(question.approval_id, ctx.who)
        if request is not None and may_see_approval(ctx.who, request):
            return [
                h.p(".quiet")[_RECORDED],
                decision_trace(request.decision),
                await _reply(ctx, request),
            ]
    last = view.events[-1]
    if isinstance(last, ToolFailed) and last.layer is not None:
        refusal = Decision("deny", last.layer, last.rule, last.code, last.result.error or "")
        return [h.p(".quiet")[_RECORDED], decision_trace(refusal)]
    return await _decide_again(ctx, view)


async def _reply(ctx: PageContext, request: ApprovalRequest) -> h.Node:
    """`Ana approved it, 2 min ago.`"""
    if request.status not in _REPLIES or not request.decided_by:
        return None
    person = (await display_names_for(ctx, [request.decided_by])).person(request.decided_by)
    when = time_ago(request.decided_at or request.created_at, ctx.now)
    return h.p[f"{capitalize(person)} {_REPLIES[request.status]}, ", when, "."]


async def _decide_again(ctx: PageContext, view: RunView) -> h.Node:
    """The same question once more: the decision is the guard's, and pure."""
    call = view.events[0].call
    args = dict(view.input) if isinstance(view.input, dict) else {}
    decision = await ctx.hr.explain(call.tool, args, call.principal, source=call.source)
    if decision.code in _INVALID:
        return h.p(".quiet")["This can be told no more: what it was given holds a secret, or fits no more."]
    return [h.p(".quiet")[_NOW], decision_trace(decision)]


def decision_trace(decision: Decision) -> h.Element:
    """Every layer in order; the one that decided is marked, and not by colour alone."""
    reasons = layer_reasons(decision) or layer_reasons(decision.settled(_last_step(decision)))
    return h.ol(".run-trace")[map(_reason, reasons)]


def _last_step(decision: Decision) -> Step:
    """A refusal of which only the last word is recorded."""
    return Step(decision.layer, decision.verdict, decision.reason, decision.rule, decision.code, decision.by)


def _reason(reason: LayerReason) -> h.Element:
    sign, tone = _ICONS[reason.verdict]
    return h.li(class_=f"run-reason run-reason-{tone}{' run-decided' if reason.decided else ''}")[
        icon(sign),
        h.span[
            h.b[reason.layer],
            [" ", h.code[visible(reason.rule)]] if reason.rule else None,
            f" {reason.says}: {visible(reason.reason)}",
            c.badge("decided") if reason.decided else None,
        ],
    ]
