"""why: why a call was allowed, asked for or refused: every layer that was asked, and which one decided."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.core.define.decision import Decision, Step
from handrail.core.tell.events import ToolFailed
from handrail.doors.http.approvals import may_see
from handrail.doors.visible import visible
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.runs.around import part_or_page
from handrail.doors.web.pages.runs.finding import Seen, seen
from handrail.doors.web.pages.runs.people import voice_of
from handrail.doors.web.routing import NotThere, Pages, Reader
from handrail.doors.web.words import when
from handrail.doors.why import Reason, reasons

pages = Pages()
_ICONS = {
    "allow": ("check", "good"),
    "ask": ("hand", "warn"),
    "queue": ("list-todo", "warn"),
    "deny": ("ban", "bad"),
}
_UNFIT = frozenset({"MISSING_PARAM", "INVALID_PARAM"})
_KEPT = "This is what the guard said when the call came."
_NOW = (
    "What the guard said of this call was not kept, since nobody had to be asked. "
    "This is what it says of the same call now."
)


@pages.get("/runs/{id}/why")
async def show_why(reader: Reader) -> Response:
    found = await seen(reader, reader.part("id"))
    if not found.whole or not found.events:
        raise NotThere
    return part_or_page(reader, found, "Why was this allowed?", h.div(".run-why")[await _why(reader, found)])


async def _why(reader: Reader, found: Seen) -> h.Node:
    for question in reversed(found.questions):
        request = await reader.hr.approvals.get(question.approval_id, reader.who)
        if request is not None and may_see(reader.who, request):
            voice = await voice_of(reader, [request.decided_by])
            return [
                h.p(".quiet")[_KEPT],
                trace(request.decision),
                h.p[
                    f"{_capital(voice.person(request.decided_by))} {_ANSWERS[request.status]}, ",
                    when(request.decided_at or request.created_at, reader.now),
                    ".",
                ]
                if request.status in _ANSWERS and request.decided_by
                else None,
            ]
    refused = found.events[-1]
    if isinstance(refused, ToolFailed) and refused.layer is not None:
        step = Decision("deny", refused.layer, refused.rule, refused.code, refused.result.error or "")
        return [h.p(".quiet")[_KEPT], trace(step)]
    return await _again(reader, found)


async def _again(reader: Reader, found: Seen) -> h.Node:
    """The same question once more: the decision is the guard's, and pure."""
    call = found.events[0].call
    given = dict(found.input) if isinstance(found.input, dict) else {}
    decision = await reader.hr.explain(call.tool, given, call.principal, source=call.source)
    if decision.code in _UNFIT:
        return h.p(".quiet")["This can be told no more: what it was given holds a secret, or fits no more."]
    return [h.p(".quiet")[_NOW], trace(decision)]


_ANSWERS = {"approved": "approved it", "rejected": "rejected it", "responded": "answered in the tool's place"}


def trace(decision: Decision) -> h.Element:
    """Every layer in order; the one that decided is marked, and not by colour alone."""
    told = reasons(decision) or reasons(decision.settled(_only(decision)))
    return h.ol(".run-trace")[(_reason(one) for one in told)]


def _only(decision: Decision) -> Step:
    """A refusal of which the record keeps the last word alone."""
    return Step(decision.layer, decision.verdict, decision.reason, decision.rule, decision.code, decision.by)


def _reason(one: Reason) -> h.Element:
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
