"""The card of an approval: who wants to run what, with which arguments, why, what became of it, and the forms
by which it is decided. They post what was shown, and work without script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import htpy as h
from starlette.responses import Response

from handrail.core.define.call import Repair
from handrail.core.define.redaction import NAME_REPAIRS
from handrail.doors.web import controls as c
from handrail.doors.web.humanize import capitalize, level_badge, status_badge, time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import page
from handrail.doors.web.pages.approvals import exact_values
from handrail.doors.web.pages.approvals.approval_view import ApprovalView, shown_digest
from handrail.doors.web.pages.approvals.exact_values import argument_changes, value_rows
from handrail.doors.web.router import PageContext
from handrail.doors.web.timeline.texts import source_phrase
from handrail.doors.web.views.text import output_block


def render_outcome(approval: ApprovalView, now: float) -> h.Node:
    """How it ended, or how many have agreed so far."""
    return _votes(approval) if approval.open else _decided(approval, now)


def _votes(approval: ApprovalView) -> h.Node:
    request = approval.request
    if request.quorum == 1:
        return None
    names = " and ".join(approval.name(vote.user) for vote in request.votes)
    text = f"{len(request.votes)} of {request.quorum} approved" + (f": {names}" if names else "")
    differs = any(vote.hash != request.args_hash for vote in request.votes)
    return h.p(".ask-votes")[
        icon("users"), text, ", with other arguments than those above" if differs else None, "."
    ]


def _decided(approval: ApprovalView, now: float) -> h.Node:
    request, end = approval.request, approval.end
    return [
        h.p(".ask-ended")[
            h.b[decision_sentence(approval)],
            [" ", time_ago(request.decided_at, now)] if request.decided_at else None,
            [" · ", h.a(href=f"/runs/{request.call.id}")["What came of it"]] if request.call.id else None,
        ],
        h.p(".ask-said")[
            end.label, [": ", exact_values.visible_sentence(end.summary)] if end.summary else "."
        ]
        if end is not None
        else None,
        _reason_or_answer(approval),
        _edits(approval),
    ]


def decision_sentence(approval: ApprovalView) -> str:
    """`Ana changed it and approved.`"""
    request = approval.request
    who = approval.name(request.decided_by)
    if request.status == "approved":
        others = [approval.name(vote.user) for vote in request.votes if vote.user != request.decided_by]
        who = " and ".join([*others, who])
    who = capitalize(who)
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
        value = answer.result.output if answer.result.output is not None else answer.result.data
        return h.p(".ask-said")["Answer: ", exact_values.inline_value(value)]
    return h.p(".ask-said")["It holds for the rest of the session."] if answer.for_session else None


def _edits(approval: ApprovalView) -> h.Node:
    edited = approval.request.edited
    if edited is None or not edited.shown:
        return None
    changes = argument_changes(dict(approval.request.args), dict(edited.shown), approval.schema)
    return exact_values.render_changes(changes) if changes else None


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


def approval_page(ctx: PageContext, approval: ApprovalView, content: h.Node, status: int = 200) -> Response:
    """The page of one question."""
    return page(
        ctx,
        approval.request.tool,
        content,
        h.p[h.a(href="/approvals")["All approvals"]],
        active="approvals",
        crumbs=[("Approvals", "/approvals")],
        status=status,
    )


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
    tool, request = approval.tool, approval.request
    name = tool.name if tool is not None and tool.id == request.tool else None
    by_reader = request.principal.agent is None and request.principal.user == approval.who.user
    return [
        requester(approval),
        " want to run " if by_reader else " wants to run ",
        h.b[name] if name else None,
        " ",
        h.code(".ask-tool", dir="ltr")[request.tool],
    ]


def _badge(approval: ApprovalView) -> h.Node:
    request = approval.request
    return level_badge(request.level, request.danger) if approval.open else status_badge(request.status)


def _through(approval: ApprovalView, now: float) -> h.Element:
    request = approval.request
    ends: h.Node = None
    if approval.open:
        at = request.expires_at
        ends = ", no time limit" if at is None else [", expires ", time_ago(at, now)]
    return h.p(".ask-through")[
        f"{source_phrase(request.call.source)}, asked ",
        time_ago(request.created_at, now),
        ends,
        None if approval.open else [" · ", level_badge(request.level, request.danger)],
    ]


def _because(approval: ApprovalView) -> h.Element:
    reason = approval.request.reason or "a rule asks for it"
    return h.p(".ask-because")[h.span(".quiet")["because "], exact_values.visible_sentence(reason)]


def _arguments(approval: ApprovalView) -> h.Element:
    if not approval.request.args:
        return h.p(".quiet")["It takes no arguments."]
    rows = value_rows(dict(approval.request.args), approval.schema)
    label = h.span(".sr-only")["With exactly these values:"]
    return h.div(".ask-arguments")[label, exact_values.render_rows(rows)]


def _preview(approval: ApprovalView) -> h.Node:
    """What it would change, while somebody decides on it; later the run says what it did."""
    preview = approval.request.preview
    if preview is None or not approval.open or not approval.is_reviewer:
        return None
    label = h.p(".quiet")["What it would change, as of when it was asked"]
    return h.div(".ask-foreseen")[label, output_block(preview)]


def _repairs(approval: ApprovalView) -> h.Node:
    if not approval.request.repairs:
        return None
    return h.ul(".ask-repairs", aria_label="What was put right in the call")[
        (h.li[_repair(repair)] for repair in approval.request.repairs)
    ]


def _repair(repair: Repair) -> h.Node:
    if repair.kind in NAME_REPAIRS:
        before, after = exact_values.inline_value(repair.before), exact_values.inline_value(repair.after)
        return ["took the name ", before, " as ", after]
    where: h.Node = [" in ", h.code[repair.path]] if repair.path else None
    return ["took ", _folded(repair.before), " as ", _folded(repair.after), where, f" ({repair.kind})"]


def _folded(value: object) -> h.Node:
    text = exact_values.inline_value(value)
    is_long = len(str(text)) > 4 * exact_values.MAX_UNFOLDED
    return h.details(".ask-inline")[h.summary["a long value"], text] if is_long else text


def _folds(approval: ApprovalView, alone: bool) -> h.Node:
    """What is there for whoever wants to know exactly."""
    request, decision = approval.request, approval.request.decision
    facts = {
        "Approval": request.id,
        "Call": request.call.id,
        "Session": request.call.session,
        "Digest of the arguments": request.args_hash,
        "Digest of the tool": request.tool_digest,
    }
    steps = (
        h.li[
            h.b[f"{step.layer}{f' [{step.rule}]' if step.rule else ''}"],
            f": {step.verdict}, {step.reason}",
            " (this decided)" if step is decision.decider else None,
        ]
        for step in decision.trace
    )
    rows = ((h.dt[word], h.dd[exact_values.inline_value(fact)]) for word, fact in facts.items() if fact)
    return h.div(".ask-folds")[
        h.details[h.summary["Why it is asked"], h.ul[steps]] if decision.trace else None,
        h.details[h.summary["Fingerprints"], h.dl(".ask-facts")[rows]],
        None if alone else h.a(".ask-link", href=f"/approvals/{request.id}")["Open alone"],
    ]


NOTHING_TYPED: Mapping[str, str] = {}


def render_decision_forms(
    approval: ApprovalView,
    typed: Mapping[str, str] = NOTHING_TYPED,
    errors: Mapping[str, str] = NOTHING_TYPED,
) -> h.Node:
    """What this reader may do now, and why not the rest.

    `typed` and `errors` are of a form that did not fit.
    """
    if not approval.is_reviewer:
        return h.p(".ask-why")[icon("hourglass"), "It waits for somebody who may approve it."]
    return h.div(".ask-acts")[
        _why_not(approval),
        _confirm(approval) if approval.can_approve else None,
        h.div(".ask-buttons")[
            _approve(approval) if approval.can_approve and not approval.voted else None,
            _edit(approval) if approval.can_approve else None,
        ],
        _reject(approval, typed, errors),
        _answer(approval, typed, errors) if not approval.own and not approval.altered else None,
    ]


def _why_not(approval: ApprovalView) -> h.Node:
    """Why there is no way to approve it."""
    if approval.altered:
        return h.p(".ask-why.ask-alarm", role="alert")[
            icon("shield-alert"),
            "What is kept for the run is not what is shown here: somebody or something changed it in the "
            "database. It cannot be approved. Reject it, and tell whoever runs this server.",
        ]
    if approval.stale:
        return h.p(".ask-why")[
            icon("triangle-alert"),
            "The tool has changed or is gone since this was asked, so it cannot be approved. Reject it; the "
            "agent may ask again.",
        ]
    if approval.own:
        text = "This tool wants four eyes: somebody else must approve what you asked for."
        return h.p(".ask-why")[icon("users"), text]
    if approval.voted:
        return h.p(".ask-why")[icon("check"), f"You have approved it. {approval.missing_votes} more must."]
    return None


def decision_form(approval: ApprovalView, act: str, *content: h.Node, **more: Any) -> h.Element:
    """A form of one card; with script its answer takes the card's place."""
    url = f"/approvals/{approval.id}/{act}"
    asks = c.post_into(url, f"#ask-{approval.id}", "outerMorph")
    return h.form(asks, method="post", action=url, data_act=act, **more)[
        c.hidden(shown=shown_digest(approval.request)), content
    ]


def _confirm(approval: ApprovalView) -> h.Node:
    if not approval.grave:
        return None
    return h.p(".ask-sure", hidden=True, role="status")[
        icon("triangle-alert"), "This cannot be taken back. Press A or the button once more to approve."
    ]


def _approve(approval: ApprovalView) -> h.Element:
    look = {"data-variant": "destructive"} if approval.grave else {}
    return decision_form(
        approval,
        "approve",
        h.button(".btn", look, type="submit", aria_keyshortcuts="a")[
            icon("check"), h.span["Approve"], _key("A")
        ],
        h.label(".ask-stand")[
            h.input(type="checkbox", name="standing", value="yes"),
            "also for the rest of its session",
        ]
        if approval.can_stand
        else None,
        class_="ask-approve",
        data_sure="yes" if approval.grave else None,
    )


def _edit(approval: ApprovalView) -> h.Element:
    return h.a(
        ".btn",
        href=f"/approvals/{approval.id}/edit",
        data_variant="outline",
        data_act="edit",
        aria_keyshortcuts="e",
    )[icon("pencil"), h.span["Edit and approve"], _key("E")]


def _reject(approval: ApprovalView, typed: Mapping[str, str], errors: Mapping[str, str]) -> h.Element:
    hint = "They read it and may ask again in another way. May be left empty."
    return h.details(".ask-fold", data_act="reject", open="reason" in typed)[
        h.summary(".btn", data_variant="outline")[icon("x"), h.span["Reject"], _key("R")],
        decision_form(
            approval,
            "reject",
            _field(approval, "reason", "Why not, for whoever asked", typed, errors, hint),
            c.submit("Reject", "destructive"),
        ),
    ]


def _answer(approval: ApprovalView, typed: Mapping[str, str], errors: Mapping[str, str]) -> h.Element:
    has_schema = approval.tool is not None and approval.tool.output_schema
    hint = "The tool does not run. Whoever asked gets this as its result."
    data_hint = "JSON that fits what the tool promises." if has_schema else "Any JSON."
    return h.details(".ask-fold", data_act="answer", open="output" in typed or "data" in typed)[
        h.summary(".btn", data_variant="ghost")[icon("message-square"), h.span["Answer instead"]],
        decision_form(
            approval,
            "respond",
            _field(approval, "output", "Answer in words", typed, errors, hint),
            _field(approval, "data", "Or as data", typed, errors, data_hint),
            c.submit("Send this answer"),
        ),
    ]


def _field(
    approval: ApprovalView,
    name: str,
    label: str,
    typed: Mapping[str, str],
    errors: Mapping[str, str],
    hint: str,
) -> h.Element:
    id, error = f"ask-{approval.id}-{name}", errors.get(name)
    described = {"aria-describedby": f"{id}-hint {id}-wrong" if error else f"{id}-hint"}
    if error:
        described["aria-invalid"] = "true"
    if name == "data":
        described["spellcheck"] = "false"
    return h.div(".ask-field")[
        h.label(for_=id)[label],
        h.textarea(".textarea", described, id=id, name=name, rows="2")[typed.get(name, "")],
        h.p(".ask-wrong", id=f"{id}-wrong")[error] if error else None,
        h.p(".quiet.ask-hint", id=f"{id}-hint")[hint],
    ]


def _key(letter: str) -> h.Element:
    return h.kbd(".kbd", aria_hidden="true")[letter]
