"""card: a question as a person reads it. Who, what, through what, until when, how grave, why, with what."""

from __future__ import annotations

import htpy as h

from handrail.core.define.call import Repair
from handrail.core.define.secrecy import NAME_REPAIRS
from handrail.doors.web.pages.approvals import drawing
from handrail.doors.web.pages.approvals.acting import acts
from handrail.doors.web.pages.approvals.asking import Ask
from handrail.doors.web.pages.approvals.exact import rows
from handrail.doors.web.pages.approvals.outcome import outcome
from handrail.doors.web.views.diff import block_of_output
from handrail.doors.web.words import level_mark, state, when

THROUGH = {
    "mcp": "MCP",
    "api": "REST",
    "web": "a web page",
    "cli": "the command line",
    "agent": "an agent of this program",
    "job": "a job",
}


def card(
    ask: Ask, now: float, *, note: h.Node = None, alone: bool = False, filled: h.Node = None
) -> h.Element:
    """One question. `note` is what was just tried with it, which no news redraws; `filled` are its forms as
    they were filled in; `alone` is a page of its own."""
    heading = h.h1 if alone else h.h3
    tone = "bad" if ask.grave else "warn"
    return h.article(
        id=card_id(ask),
        class_=f"ask panel ask-{tone if ask.open else 'over'}",
        tabindex="-1",
        data_ask=ask.id,
        aria_labelledby=f"{card_id(ask)}-title",
    )[
        h.div(".ask-head")[heading(id=f"{card_id(ask)}-title")[_wants(ask)], _mark(ask)],
        _through(ask, now),
        _because(ask),
        _arguments(ask),
        _foreseen(ask),
        _repairs(ask),
        h.div({"hx-morph-skip": note is not None}, id=f"{card_id(ask)}-tried", class_="ask-told")[note],
        h.div(id=f"{card_id(ask)}-told", class_="ask-told", role="status")[outcome(ask, now)],
        h.div(id=f"{card_id(ask)}-acts")[(filled or acts(ask)) if ask.open else None],
        _folds(ask, alone),
    ]


def card_id(ask: Ask) -> str:
    return f"ask-{ask.id}"


def asker(ask: Ask) -> h.Node:
    """`agent ops, for Ana`; names are as exact as the arguments."""
    who = ask.request.principal
    if who.agent is not None:
        agent: h.Node = ["agent ", drawing.plain(who.agent)]
        return [agent, ", for ", ask.name(who.user), ","] if who.user else agent
    if who.user is not None:
        return ask.name(who.user)
    return "a service" if who.key == "service" else "somebody without a name"


def _wants(ask: Ask) -> h.Node:
    name = ask.tool.name if ask.tool is not None and ask.tool.id == ask.request.tool else None
    tool = h.code(".ask-tool", dir="ltr")[ask.request.tool]
    who = asker(ask)
    you = ask.request.principal.agent is None and ask.request.principal.user == ask.who.user
    return [who, " want to run " if you else " wants to run ", h.b[name] if name else None, " ", tool]


def _mark(ask: Ask) -> h.Node:
    return level_mark(ask.request.level, ask.request.danger) if ask.open else state(ask.request.status)


def _through(ask: Ask, now: float) -> h.Element:
    request = ask.request
    ends: h.Node = None
    if ask.open:
        late = request.expires_at
        ends = ", no time limit" if late is None else [", expires ", when(late, now)]
    return h.p(".ask-through")[
        f"through {THROUGH.get(request.call.source, request.call.source)}, asked ",
        when(request.created_at, now),
        ends,
        None if ask.open else [" · ", level_mark(request.level, request.danger)],
    ]


def _because(ask: Ask) -> h.Element:
    said = ask.request.reason or "a rule asks for it"
    return h.p(".ask-because")[h.span(".quiet")["because "], drawing.sentence(said)]


def _arguments(ask: Ask) -> h.Element:
    shown = rows(dict(ask.request.args), ask.tool.input_schema if ask.tool else None)
    if not ask.request.args:
        return h.p(".quiet")["It takes no arguments."]
    return h.div(".ask-arguments")[h.span(".sr-only")["With exactly these values:"], drawing.table(shown)]


def _foreseen(ask: Ask) -> h.Node:
    """What it would change, while somebody decides on it; later the run says what it did."""
    said = ask.request.preview
    if said is None or not ask.open or not ask.is_reviewer:
        return None
    label = h.p(".quiet")["What it would change, as of when it was asked"]
    return h.div(".ask-foreseen")[label, block_of_output(said)]


def _repairs(ask: Ask) -> h.Node:
    if not ask.request.repairs:
        return None
    return h.ul(".ask-repairs", aria_label="What was put right in the call")[
        (h.li[_repair(one)] for one in ask.request.repairs)
    ]


def _repair(one: Repair) -> h.Node:
    if one.kind in NAME_REPAIRS:
        return ["took the name ", drawing.plain(one.before), " as ", drawing.plain(one.after)]
    where: h.Node = [" in ", h.code[one.path]] if one.path else None
    return ["took ", _folded(one.before), " as ", _folded(one.after), where, f" ({one.kind})"]


def _folded(found: object) -> h.Node:
    shown = drawing.plain(found)
    long = len(str(shown)) > 4 * drawing.LONG
    return h.details(".ask-inline")[h.summary["a long value"], shown] if long else shown


def _folds(ask: Ask, alone: bool) -> h.Node:
    """What is there for whoever wants to know exactly."""
    request, decision = ask.request, ask.request.decision
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
            h.dl(".ask-facts")[((h.dt[word], h.dd[drawing.plain(known)]) for word, known in facts if known)],
        ],
        None if alone else h.a(".ask-link", href=f"/approvals/{request.id}")["Open alone"],
    ]
