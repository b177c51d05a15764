"""outcome: what has become of a question, in words: who said what, and where to see what came of it."""

from __future__ import annotations

import htpy as h

from handrail.doors.web.icons import icon
from handrail.doors.web.pages.approvals import drawing
from handrail.doors.web.pages.approvals.asking import Ask
from handrail.doors.web.pages.approvals.differences import differences
from handrail.doors.web.words import when


def outcome(ask: Ask, now: float) -> h.Node:
    """How it ended, or how many have agreed so far."""
    return _votes(ask) if ask.open else _ended(ask, now)


def _votes(ask: Ask) -> h.Node:
    request = ask.request
    if request.quorum == 1:
        return None
    names = " and ".join(ask.name(vote.user) for vote in request.votes)
    said = f"{len(request.votes)} of {request.quorum} approved" + (f": {names}" if names else "")
    same = {vote.hash for vote in request.votes} - {request.args_hash}
    return h.p(".ask-votes")[
        icon("users"), said, ", with other arguments than those above" if same else None, "."
    ]


def _ended(ask: Ask, now: float) -> h.Node:
    request = ask.request
    return [
        h.p(".ask-ended")[
            h.b[sentence(ask)],
            [" ", when(request.decided_at, now)] if request.decided_at else None,
            " · " if request.call.id else None,
            h.a(href=f"/runs/{request.call.id}")["What came of it"] if request.call.id else None,
        ],
        _came(ask),
        _said(ask),
        _edits(ask),
    ]


def _came(ask: Ask) -> h.Node:
    """`It failed: no such file.`"""
    if ask.end is None:
        return None
    how, said = ask.end
    return h.p(".ask-said")[how, [": ", drawing.sentence(said)] if said else "."]


def sentence(ask: Ask) -> str:
    """`Ana changed it and approved.`"""
    request = ask.request
    who = ask.name(request.decided_by)
    if request.status == "approved":
        others = [ask.name(vote.user) for vote in request.votes if vote.user != request.decided_by]
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


def _said(ask: Ask) -> h.Node:
    """The reason of a no, or the answer that was given."""
    answer = ask.request.answer
    if answer is None:
        return None
    if answer.reason and ask.request.status == "rejected":
        return h.p(".ask-said")["Reason: ", drawing.plain(answer.reason)]
    if answer.result is not None:
        given = answer.result.output if answer.result.output is not None else answer.result.data
        return h.p(".ask-said")["Answer: ", drawing.plain(given)]
    return h.p(".ask-said")["It holds for the rest of the session."] if answer.for_session else None


def _edits(ask: Ask) -> h.Node:
    edited = ask.request.edited
    if edited is None or not edited.shown:
        return None
    schema = ask.tool.input_schema if ask.tool else None
    found = differences(dict(ask.request.args), dict(edited.shown), schema)
    return drawing.changes(found) if found else None
