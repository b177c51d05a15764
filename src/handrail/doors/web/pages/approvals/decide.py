"""Deciding on an approval: approve, reject, answer instead, or edit first; only what was shown."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import htpy as h
from starlette.datastructures import FormData
from starlette.responses import Response

from handrail.core.define.json_values import copy_object
from handrail.core.define.result import Result
from handrail.core.guard.admit import Admitted, admit
from handrail.core.guard.approval_request import ApprovalRequest, Reply
from handrail.core.guard.approval_request import approve as yes
from handrail.core.guard.risk import level_and_danger
from handrail.core.run.approvals.edits import reply_for_record
from handrail.core.run.approvals.inbox import Conflict
from handrail.doors.web.humanize import level_badge
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import page
from handrail.doors.web.pages.approvals import exact_values
from handrail.doors.web.pages.approvals.approval_view import ApprovalView, find_approval, shown_digest
from handrail.doors.web.pages.approvals.card import card, decision_sentence, requester
from handrail.doors.web.pages.approvals.confusables import text_pieces
from handrail.doors.web.pages.approvals.decision_forms import render_decision_forms
from handrail.doors.web.pages.approvals.exact_values import argument_changes, value_rows
from handrail.doors.web.pages.tools.input_panel import load_picker_options, render_fields
from handrail.doors.web.pages.tools.inputs import (
    MODE,
    InvalidJson,
    ToolInput,
    posted_pairs,
    posted_value,
    read_input,
    read_json_object,
)
from handrail.doors.web.responses import html
from handrail.doors.web.routing import PageContext, PageRouter, redirect

router = PageRouter()
_MAX_REASON = 2_000
Decide = Callable[[ApprovalView], Awaitable[ApprovalRequest]]


@router.post("/approvals/{id}/approve")
async def approve(ctx: PageContext) -> Response:
    """Yes, as asked; or with what an edit made of it, which the reader has seen before."""
    form = await ctx.form()
    edits: dict[str, Any] | None = None
    if "edits" in form:
        try:
            edits = read_json_object(posted_text(form, "edits"), blank=False)
        except InvalidJson:
            return await _not_decided(
                ctx, "The changed arguments did not arrive whole. Edit them once more.", 422
            )
    standing = posted_text(form, "standing") == "yes"

    async def say(approval: ApprovalView) -> ApprovalRequest:
        return await ctx.hr.approvals.approve(approval.id, by=ctx.who, edits=edits, for_session=standing)

    return await _decide(ctx, form, say, approves=True)


@router.post("/approvals/{id}/reject")
async def reject(ctx: PageContext) -> Response:
    form = await ctx.form()
    reason = posted_text(form, "reason").strip()
    if len(reason) > _MAX_REASON:
        said = f"The reason is {len(reason):,} characters long; write at most {_MAX_REASON:,}."
        return await _not_decided(ctx, said, 422, {"reason": reason}, {"reason": said})

    async def say(approval: ApprovalView) -> ApprovalRequest:
        return await ctx.hr.approvals.reject(approval.id, by=ctx.who, reason=reason or None)

    return await _decide(ctx, form, say, typed={"reason": reason})


@router.post("/approvals/{id}/respond")
async def respond(ctx: PageContext) -> Response:
    """Answer in the tool's place."""
    form = await ctx.form()
    words, data = posted_text(form, "output"), posted_text(form, "data")
    typed = {"output": words, "data": data}
    if bool(words.strip()) == bool(data.strip()):
        said = (
            "Write the answer in words or as data, not both." if words.strip() else "Write an answer first."
        )
        return await _not_decided(ctx, said, 422, typed, {"output": said})
    try:
        result = Result(output=words) if words.strip() else Result(data=json.loads(data))
    except (ValueError, RecursionError):
        said = 'This is not JSON. Text stands in quotation marks: "like this".'
        return await _not_decided(ctx, said, 422, typed, {"data": said})

    async def say(approval: ApprovalView) -> ApprovalRequest:
        return await ctx.hr.approvals.respond(approval.id, by=ctx.who, result=result)

    return await _decide(ctx, form, say, typed=typed, place="output" if words.strip() else "data")


async def _decide(
    ctx: PageContext,
    form: FormData,
    say: Decide,
    *,
    approves: bool = False,
    typed: Mapping[str, str] | None = None,
    place: str | None = None,
) -> Response:
    """Say it, if the question is still the one that was shown."""
    approval = await find_approval(ctx, ctx.part("id"))
    if approval.open and posted_text(form, "shown") != shown_digest(approval.request):
        said = "This is not what you were shown before, so nothing was decided. Read it once more."
        return await _not_decided(ctx, said, 409, typed)
    if approves and approval.altered:
        return await _not_decided(ctx, "Nothing was decided.", 409, typed)
    try:
        await say(approval)
    except Conflict as conflict:
        now = await find_approval(ctx, approval.id)
        errors = {place: str(conflict)} if place and conflict.code == "INVALID_PARAM" else None
        return await _not_decided(
            ctx, _conflict_sentence(now, conflict), 422 if errors else 409, typed, errors
        )
    ctx.web.live.tell(ctx.who.tenant, "approvals")
    if not ctx.by_htmx:
        return redirect(f"/approvals/{approval.id}")
    return html(card(await find_approval(ctx, approval.id), ctx.now, alone=_is_alone(ctx, approval)))


def _conflict_sentence(approval: ApprovalView, conflict: Conflict) -> str:
    """A conflict in the words of whoever meets it."""
    if not approval.open:
        return f"Your answer came too late and was not counted. {decision_sentence(approval)}"
    if approval.voted:
        left = approval.request.quorum - len(approval.request.votes)
        return f"You have approved it already; {left} more must."
    return str(conflict)


async def _not_decided(
    ctx: PageContext,
    said: str,
    status: int,
    typed: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> Response:
    """The card as it stands now, with why nothing was decided, and all that was typed."""
    approval = await find_approval(ctx, ctx.part("id"))
    kept = [one for one in (typed or {}).values() if one.strip()]
    note = h.p(".ask-note", role="alert")[icon("circle-alert"), said]
    lost = h.div(".ask-kept")[h.p["What you wrote:"], (h.pre[one] for one in kept)] if kept else None
    told = [note, None if approval.open else lost]
    if ctx.by_htmx:
        return html(_card(approval, ctx, told, typed, errors, alone=_is_alone(ctx, approval)), status)
    return page(
        ctx,
        approval.request.tool,
        _card(approval, ctx, told, typed, errors, alone=True),
        h.p[h.a(href="/approvals")["All approvals"]],
        active="approvals",
        crumbs=[("Approvals", "/approvals")],
        status=status,
    )


def _card(
    approval: ApprovalView,
    ctx: PageContext,
    told: h.Node,
    typed: Mapping[str, str] | None,
    errors: Mapping[str, str] | None,
    alone: bool,
) -> h.Element:
    filled = render_decision_forms(approval, typed or {}, errors or {}) if approval.open else None
    return card(approval, ctx.now, note=told, alone=alone, filled=filled)


def _is_alone(ctx: PageContext, approval: ApprovalView) -> bool:
    """Whether the page has only this card, so that its title is the page's."""
    return urlsplit(ctx.request.headers.get("hx-current-url", "")).path == f"/approvals/{approval.id}"


def posted_text(form: FormData, name: str) -> str:
    """A field of a form as text; a file in its place is none."""
    found = form.get(name)
    return found if isinstance(found, str) else ""


@router.get("/approvals/{id}/edit")
async def edit(ctx: PageContext) -> Response:
    approval = await find_approval(ctx, ctx.part("id"))
    if not approval.can_approve:
        return redirect(f"/approvals/{approval.id}")
    return await _edit_page(
        ctx, approval, ToolInput(value=dict(approval.request.args)), shown_digest(approval.request)
    )


@router.post("/approvals/{id}/edit")
async def preview_edit(ctx: PageContext) -> Response:
    """What the changes would change. Nothing is decided by looking."""
    pairs = await posted_pairs(ctx)
    approval = await find_approval(ctx, ctx.part("id"))
    shown = posted_value(pairs, "shown") or ""
    if approval.tool is None:
        return redirect(f"/approvals/{approval.id}")
    given = read_input(approval.tool, pairs)
    if turn := posted_value(pairs, "_to"):
        return await _edit_page(ctx, approval, given.turned("json" if turn == "json" else "form"), shown)
    if given.done or not given.readable or given.errors:
        return await _edit_page(ctx, approval, given, shown)
    if not approval.can_approve or shown != shown_digest(approval.request):
        return await _edit_page(ctx, approval, given, shown, 409)
    reply = reply_for_record(approval.request, yes(by=ctx.who.user, edits=given.args), approval.tool, True)
    if not isinstance(reply, Reply):
        return await _edit_page(ctx, approval, given.wrong(reply), shown)
    return _preview_page(ctx, approval, copy_object(given.args))


async def _edit_page(
    ctx: PageContext, approval: ApprovalView, given: ToolInput, shown: str, status: int = 200
) -> Response:
    assert approval.tool is not None
    wrong = bool(given.errors) or not given.readable
    action = f"/approvals/{approval.id}/edit"
    return page(
        ctx,
        "Edit and approve",
        h.div(".head")[h.h1["Edit, then approve"]],
        _lead(approval, " Change what should be otherwise."),
        freshness_note(approval, shown),
        h.form(
            ".ask-edit.panel", method="post", action=action, enctype="multipart/form-data", novalidate=True
        )[
            h.input(type="hidden", name="shown", value=shown),
            h.input(type="hidden", name=MODE, value=given.mode),
            _as_requested(approval),
            render_fields(approval.tool, given, await load_picker_options(ctx, approval.tool)),
            h.div(".ask-buttons")[
                h.button(".btn", type="submit")["See what changes"],
                _switch_mode_button(given),
                h.a(".btn", href=f"/approvals/{approval.id}", data_variant="ghost")["Back without changes"],
            ],
        ],
        active="approvals",
        crumbs=_crumbs(approval),
        status=422 if wrong else status,
    )


def _as_requested(approval: ApprovalView) -> h.Element:
    """The proposal beside the form, in which some of it may not be seen: then it is open."""
    assert approval.tool is not None
    shown = value_rows(dict(approval.request.args), approval.tool.input_schema)
    odd = any(piece.kind != "plain" for row in shown for piece in text_pieces(row.path + row.literal))
    return h.details(open=odd)[
        h.summary["What was asked, exactly" + (": not all of it shows in a form" if odd else "")],
        exact_values.render_rows(shown),
    ]


def _switch_mode_button(given: ToolInput) -> h.Element:
    to, words = ("json", "Edit as JSON") if given.mode == "form" else ("form", "Edit in the form")
    return h.button(".btn", type="submit", name="_to", value=to, data_variant="outline", formnovalidate=True)[
        words
    ]


def _preview_page(ctx: PageContext, approval: ApprovalView, value: Any) -> Response:
    """Old and new side by side, and the last step."""
    tool = approval.tool
    assert tool is not None
    before = dict(approval.request.args)
    found = argument_changes(before, value, tool.input_schema)
    kept = json.dumps(value, ensure_ascii=True)
    changed = [h.input(type="hidden", name="edits", value=kept)] if found else None
    return page(
        ctx,
        "Look and approve",
        h.div(".head")[h.h1["Look once more, then approve"], _level(approval, value)],
        _lead(approval),
        freshness_note(approval, shown_digest(approval.request)),
        h.section(".panel.ask-look", aria_labelledby="ask-look-title")[
            h.h2("#ask-look-title")["You change"]
            if found
            else h.h2("#ask-look-title")["You changed nothing"],
            exact_values.render_changes(found) if found else h.p["It would run exactly as asked."],
            h.details[
                h.summary["All that would run"],
                exact_values.render_rows(value_rows(value, tool.input_schema)),
            ],
            h.div(".ask-buttons")[
                h.form(method="post", action=f"/approvals/{approval.id}/approve")[
                    h.input(type="hidden", name="shown", value=shown_digest(approval.request)),
                    changed,
                    h.button(".btn", type="submit")[
                        icon("check"), "Approve with these changes" if found else "Approve as asked"
                    ],
                ],
                h.form(method="post", action=f"/approvals/{approval.id}/edit/back")[
                    h.input(type="hidden", name="shown", value=shown_digest(approval.request)),
                    h.input(type="hidden", name="edits", value=kept),
                    h.button(".btn", type="submit", data_variant="outline")["Change more"],
                ],
            ],
        ],
        active="approvals",
        crumbs=_crumbs(approval),
    )


@router.post("/approvals/{id}/edit/back")
async def back_to_edit(ctx: PageContext) -> Response:
    """Back to the form, with what was changed before."""
    form = await ctx.form()
    approval = await find_approval(ctx, ctx.part("id"))
    if not approval.can_approve:
        return redirect(f"/approvals/{approval.id}")
    try:
        value = read_json_object(str(form.get("edits") or ""), blank=False)
    except InvalidJson:
        value = dict(approval.request.args)
    return await _edit_page(ctx, approval, ToolInput(value=value), shown_digest(approval.request))


def _level(approval: ApprovalView, value: Any) -> h.Node:
    """How grave it is with the changes."""
    assert approval.tool is not None
    admitted = admit(approval.tool, value)
    if not isinstance(admitted, Admitted):
        return None
    return level_badge(*level_and_danger(approval.tool, admitted.values))


def _lead(approval: ApprovalView, more: str = "") -> h.Element:
    return h.p(".ask-lead")[requester(approval), " wants to run ", h.code[approval.request.tool], ".", more]


def _crumbs(approval: ApprovalView) -> list[tuple[str, str]]:
    return [("Approvals", "/approvals"), (approval.request.tool, f"/approvals/{approval.id}")]


def freshness_note(approval: ApprovalView, shown: str) -> h.Element:
    """Whether the question is still open and the same; it asks again by itself, beside the form."""
    asks = {
        "hx-get": f"/approvals/{approval.id}/standing?shown={shown}",
        "hx-trigger": "approvals from:body, every 30s",
        "hx-swap": "outerMorph",
    }
    return h.div("#ask-standing", asks, role="status")[_freshness_text(approval, shown)]


def _freshness_text(approval: ApprovalView, shown: str) -> h.Node:
    if not approval.open:
        said = f"{decision_sentence(approval)} What you typed is still here, but it can no longer be sent."
    elif shown != shown_digest(approval.request):
        said = (
            "This is not what you were shown before, so nothing was decided. Go back and read it once more."
        )
    elif not approval.can_approve:
        said = "It cannot be approved as it stands now. Go back to see why."
    else:
        return None
    return h.p(".ask-note")[
        icon("circle-alert"), h.span[said, " ", h.a(href=f"/approvals/{approval.id}")["Open it"]]
    ]


@router.get("/approvals/{id}/standing")
async def freshness(ctx: PageContext) -> Response:
    approval = await find_approval(ctx, ctx.part("id"))
    return html(freshness_note(approval, ctx.query.get("shown", "")))
