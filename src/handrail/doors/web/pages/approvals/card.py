"""The card of an approval: who wants to run what with which arguments, why, and what became of it."""

from __future__ import annotations

import htpy as h

from handrail.core.define.call import Repair
from handrail.core.define.redaction import NAME_REPAIRS
from handrail.doors.web.humanize import level_badge, status_badge, time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.approvals import exact_values
from handrail.doors.web.pages.approvals.approval_view import ApprovalView
from handrail.doors.web.pages.approvals.decision_forms import render_decision_forms
from handrail.doors.web.pages.approvals.exact_values import argument_changes, value_rows
from handrail.doors.web.views.text import output_block


def render_outcome(approval: ApprovalView, now: float) -> h.Node:
    """How it ended, or how many have agreed so far."""
    return _votes(approval) if approval.open else _decided(approval, now)


def _votes(approval: ApprovalView) -> h.Node:
    request = approval.request
    if request.quorum == 1:
        return None
    names = " and ".join(approval.name(vote.user) for vote in request.votes)
    said = f"{len(request.votes)} of {request.quorum} approved" + (f": {names}" if names else "")
    same = {vote.hash for vote in request.votes} - {request.args_hash}
    return h.p(".ask-votes")[
        icon("users"), said, ", with other arguments than those above" if same else None, "."
    ]


def _decided(approval: ApprovalView, now: float) -> h.Node:
    request = approval.request
    return [
        h.p(".ask-ended")[
            h.b[decision_sentence(approval)],
            [" ", time_ago(request.decided_at, now)] if request.decided_at else None,
            " · " if request.call.id else None,
            h.a(href=f"/runs/{request.call.id}")["What came of it"] if request.call.id else None,
        ],
        _call_end(approval),
        _reason_or_answer(approval),
        _edits(approval),
    ]


def _call_end(approval: ApprovalView) -> h.Node:
    """`It failed: no such file.`"""
    if approval.end is None:
        return None
    how, said = approval.end
    return h.p(".ask-said")[how, [": ", exact_values.visible_sentence(said)] if said else "."]


def decision_sentence(approval: ApprovalView) -> str:
    """`Ana changed it and approved.`"""
    request = approval.request
    who = approval.name(request.decided_by)
    if request.status == "approved":
        others = [approval.name(vote.user) for vote in request.votes if vote.user != request.decided_by]
        who = " and ".join([*others, who])
    who = who[:1].upper() + who[1:]
    match request.status:
        case "approved":
            return f"{who} changed it and approved." if request.edited else f"{who} approved."
        case "rejected":
            return f"{who} rejected it. It did not run."
        case "responded":
            return f"{who} answered in its place. It did not run."
        case "expired":
            return "Nobody answered in time. It did not run."
        case "withdrawn":
            return "It was called off. It did not run."
        case _:
            return "It still waits."


def _reason_or_answer(approval: ApprovalView) -> h.Node:
    """The reason of a no, or the answer that was given."""
    answer = approval.request.answer
    if answer is None:
        return None
    if answer.reason and approval.request.status == "rejected":
        return h.p(".ask-said")["Reason: ", exact_values.inline_value(answer.reason)]
    if answer.result is not None:
        given = answer.result.output if answer.result.output is not None else answer.result.data
        return h.p(".ask-said")["Answer: ", exact_values.inline_value(given)]
    return h.p(".ask-said")["It holds for the rest of the session."] if answer.for_session else None


def _edits(approval: ApprovalView) -> h.Node:
    edited = approval.request.edited
    if edited is None or not edited.shown:
        return None
    schema = approval.tool.input_schema if approval.tool else None
    found = argument_changes(dict(approval.request.args), dict(edited.shown), schema)
    return exact_values.render_changes(found) if found else None


SOURCE_PHRASES = {
    "mcp": "MCP",
    "api": "REST",
    "web": "a web page",
    "cli": "the command line",
    "agent": "an agent of this program",
    "job": "a job",
}


def card(
    approval: ApprovalView, now: float, *, note: h.Node = None, alone: bool = False, filled: h.Node = None
) -> h.Element:
    """One question. `note` is what was just tried with it, which no news redraws; `filled` are its forms as
    they were filled in; `alone` is a page of its own."""
    heading = h.h1 if alone else h.h3
    tone = "bad" if approval.grave else "warn"
    return h.article(
        id=card_id(approval),
        class_=f"ask panel ask-{tone if approval.open else 'over'}",
        tabindex="-1",
        data_ask=approval.id,
        aria_labelledby=f"{card_id(approval)}-title",
    )[
        h.div(".ask-head")[heading(id=f"{card_id(approval)}-title")[_title(approval)], _badge(approval)],
        _through(approval, now),
        _because(approval),
        _arguments(approval),
        _preview(approval),
        _repairs(approval),
        h.div({"hx-morph-skip": note is not None}, id=f"{card_id(approval)}-tried", class_="ask-told")[note],
        h.div(id=f"{card_id(approval)}-told", class_="ask-told", role="status")[
            render_outcome(approval, now)
        ],
        h.div(id=f"{card_id(approval)}-acts")[
            (filled or render_decision_forms(approval)) if approval.open else None
        ],
        _folds(approval, alone),
    ]


def card_id(approval: ApprovalView) -> str:
    return f"ask-{approval.id}"


def requester(approval: ApprovalView) -> h.Node:
    """`agent ops, for Ana`; names are as exact as the arguments."""
    who = approval.request.principal
    if who.agent is not None:
        agent: h.Node = ["agent ", exact_values.inline_value(who.agent)]
        return [agent, ", for ", approval.name(who.user), ","] if who.user else agent
    if who.user is not None:
        return approval.name(who.user)
    return "a service" if who.key == "service" else "somebody without a name"


def _title(approval: ApprovalView) -> h.Node:
    name = (
        approval.tool.name
        if approval.tool is not None and approval.tool.id == approval.request.tool
        else None
    )
    tool = h.code(".ask-tool", dir="ltr")[approval.request.tool]
    who = requester(approval)
    you = approval.request.principal.agent is None and approval.request.principal.user == approval.who.user
    return [who, " want to run " if you else " wants to run ", h.b[name] if name else None, " ", tool]


def _badge(approval: ApprovalView) -> h.Node:
    return (
        level_badge(approval.request.level, approval.request.danger)
        if approval.open
        else status_badge(approval.request.status)
    )


def _through(approval: ApprovalView, now: float) -> h.Element:
    request = approval.request
    ends: h.Node = None
    if approval.open:
        late = request.expires_at
        ends = ", no time limit" if late is None else [", expires ", time_ago(late, now)]
    return h.p(".ask-through")[
        f"through {SOURCE_PHRASES.get(request.call.source, request.call.source)}, asked ",
        time_ago(request.created_at, now),
        ends,
        None if approval.open else [" · ", level_badge(request.level, request.danger)],
    ]


def _because(approval: ApprovalView) -> h.Element:
    said = approval.request.reason or "a rule asks for it"
    return h.p(".ask-because")[h.span(".quiet")["because "], exact_values.visible_sentence(said)]


def _arguments(approval: ApprovalView) -> h.Element:
    shown = value_rows(dict(approval.request.args), approval.tool.input_schema if approval.tool else None)
    if not approval.request.args:
        return h.p(".quiet")["It takes no arguments."]
    return h.div(".ask-arguments")[
        h.span(".sr-only")["With exactly these values:"], exact_values.render_rows(shown)
    ]


def _preview(approval: ApprovalView) -> h.Node:
    """What it would change, while somebody decides on it; later the run says what it did."""
    said = approval.request.preview
    if said is None or not approval.open or not approval.is_reviewer:
        return None
    label = h.p(".quiet")["What it would change, as of when it was asked"]
    return h.div(".ask-foreseen")[label, output_block(said)]


def _repairs(approval: ApprovalView) -> h.Node:
    if not approval.request.repairs:
        return None
    return h.ul(".ask-repairs", aria_label="What was put right in the call")[
        (h.li[_repair(one)] for one in approval.request.repairs)
    ]


def _repair(one: Repair) -> h.Node:
    if one.kind in NAME_REPAIRS:
        return [
            "took the name ",
            exact_values.inline_value(one.before),
            " as ",
            exact_values.inline_value(one.after),
        ]
    where: h.Node = [" in ", h.code[one.path]] if one.path else None
    return ["took ", _folded(one.before), " as ", _folded(one.after), where, f" ({one.kind})"]


def _folded(found: object) -> h.Node:
    shown = exact_values.inline_value(found)
    long = len(str(shown)) > 4 * exact_values.MAX_UNFOLDED
    return h.details(".ask-inline")[h.summary["a long value"], shown] if long else shown


def _folds(approval: ApprovalView, alone: bool) -> h.Node:
    """What is there for whoever wants to know exactly."""
    request, decision = approval.request, approval.request.decision
    facts = [
        ("Approval", request.id),
        ("Call", request.call.id or ""),
        ("Session", request.call.session),
        ("Digest of the arguments", request.args_hash),
        ("Digest of the tool", request.tool_digest),
    ]
    decider = decision.decider
    return h.div(".ask-folds")[
        h.details[
            h.summary["Why it is asked"],
            h.ul[
                (
                    h.li[
                        h.b[f"{one.layer}{f' [{one.rule}]' if one.rule else ''}"],
                        f": {one.verdict}, {one.reason}",
                        " (this decided)" if one is decider else None,
                    ]
                    for one in decision.trace
                )
            ],
        ]
        if decision.trace
        else None,
        h.details[
            h.summary["Fingerprints"],
            h.dl(".ask-facts")[
                ((h.dt[word], h.dd[exact_values.inline_value(known)]) for word, known in facts if known)
            ],
        ],
        None if alone else h.a(".ask-link", href=f"/approvals/{request.id}")["Open alone"],
    ]
