"""The forms by which a card is decided. They post what was shown, and work without script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import htpy as h

from handrail.doors.web.icons import icon
from handrail.doors.web.pages.approvals.approval_view import ApprovalView, shown_digest

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
        return h.p(".ask-why")[
            icon("users"),
            "This tool wants four eyes: somebody else must approve what you asked for.",
        ]
    if approval.voted:
        left = approval.request.quorum - len(approval.request.votes)
        return h.p(".ask-why")[icon("check"), f"You have approved it. {left} more must."]
    return None


def decision_form(approval: ApprovalView, act: str, *content: h.Node, **more: Any) -> h.Element:
    """A form of one card; with script its answer takes the card's place."""
    target = {
        "hx-post": f"/approvals/{approval.id}/{act}",
        "hx-target": f"#ask-{approval.id}",
        "hx-swap": "outerMorph",
    }
    return h.form(target, method="post", action=f"/approvals/{approval.id}/{act}", data_act=act, **more)[
        h.input(type="hidden", name="shown", value=shown_digest(approval.request)), content
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
    return h.details(".ask-fold", data_act="reject", open="reason" in typed)[
        h.summary(".btn", data_variant="outline")[icon("x"), h.span["Reject"], _key("R")],
        decision_form(
            approval,
            "reject",
            _field(
                approval,
                "reason",
                "Why not, for whoever asked",
                typed,
                errors,
                "They read it and may ask again in another way. May be left empty.",
            ),
            h.button(".btn", type="submit", data_variant="destructive")["Reject"],
        ),
    ]


def _answer(approval: ApprovalView, typed: Mapping[str, str], errors: Mapping[str, str]) -> h.Element:
    schema = approval.tool.output_schema if approval.tool else None
    return h.details(".ask-fold", data_act="answer", open="output" in typed or "data" in typed)[
        h.summary(".btn", data_variant="ghost")[icon("message-square"), h.span["Answer instead"]],
        decision_form(
            approval,
            "respond",
            _field(
                approval,
                "output",
                "Answer in words",
                typed,
                errors,
                "The tool does not run. Whoever asked gets this as its result.",
            ),
            _field(
                approval,
                "data",
                "Or as data",
                typed,
                errors,
                "JSON that fits what the tool promises." if schema else "Any JSON.",
            ),
            h.button(".btn", type="submit")["Send this answer"],
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
    id = f"ask-{approval.id}-{name}"
    wrong = errors.get(name)
    told = f"{id}-hint {id}-wrong" if wrong else f"{id}-hint"
    more = {"aria-invalid": "true"} if wrong else {}
    spelled = "false" if name == "data" else None
    return h.div(".ask-field")[
        h.label(for_=id)[label],
        h.textarea(".textarea", more, id=id, name=name, rows="2", spellcheck=spelled, aria_describedby=told)[
            typed.get(name, "")
        ],
        h.p(".ask-wrong", id=f"{id}-wrong")[wrong] if wrong else None,
        h.p(".quiet.ask-hint", id=f"{id}-hint")[hint],
    ]


def _key(letter: str) -> h.Element:
    return h.kbd(".kbd", aria_hidden="true")[letter]
