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
from handrail.core.define.tool import Tool
from handrail.core.guard.admit import Admitted, admit
from handrail.core.guard.approval_request import ApprovalRequest, Reply
from handrail.core.guard.approval_request import approve as yes
from handrail.core.guard.risk import level_and_danger
from handrail.core.run.approvals.inbox import Conflict
from handrail.core.run.approvals.resume import reply_for_record
from handrail.doors.web import controls as c
from handrail.doors.web.humanize import level_badge
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import Crumb, page
from handrail.doors.web.pages.approvals import exact_values
from handrail.doors.web.pages.approvals.approval_view import ApprovalView, find_approval, shown_digest
from handrail.doors.web.pages.approvals.card import (
    approval_page,
    card,
    decision_sentence,
    render_decision_forms,
    requester,
)
from handrail.doors.web.pages.approvals.confusables import text_pieces
from handrail.doors.web.pages.approvals.exact_values import argument_changes, value_rows
from handrail.doors.web.pages.tools import inputs
from handrail.doors.web.pages.tools.input_panel import load_picker_options, render_fields
from handrail.doors.web.pages.tools.inputs import InvalidJson, ToolInput
from handrail.doors.web.responses import html
from handrail.doors.web.router import PageContext, PageRouter, redirect

router = PageRouter()
_MAX_REASON = 2_000
_CHANGED = "This is not what you were shown before, so nothing was decided."
Decide = Callable[[str], Awaitable[ApprovalRequest]]
"""Decides on the approval of an id."""


@router.post("/approvals/{id}/approve")
async def approve(ctx: PageContext) -> Response:
    """Yes, as asked; or with what an edit made of it, which the reader has seen before."""
    form = await ctx.form()
    edits: dict[str, Any] | None = None
    if "edits" in form:
        try:
            edits = inputs.read_json_object(c.posted_text(form, "edits"), blank=False)
        except InvalidJson:
            problem = "The changed arguments did not arrive whole. Edit them once more."
            return await _not_decided(ctx, problem, 422)
    for_session = c.posted_text(form, "standing") == "yes"

    async def decide(approval_id: str) -> ApprovalRequest:
        return await ctx.hr.approvals.approve(approval_id, by=ctx.who, edits=edits, for_session=for_session)

    return await _decide(ctx, form, decide, approves=True)


@router.post("/approvals/{id}/reject")
async def reject(ctx: PageContext) -> Response:
    form = await ctx.form()
    reason = c.posted_text(form, "reason").strip()
    if len(reason) > _MAX_REASON:
        problem = f"The reason is {len(reason):,} characters long; write at most {_MAX_REASON:,}."
        return await _not_decided(ctx, problem, 422, {"reason": reason}, {"reason": problem})

    async def decide(approval_id: str) -> ApprovalRequest:
        return await ctx.hr.approvals.reject(approval_id, by=ctx.who, reason=reason or None)

    return await _decide(ctx, form, decide, typed={"reason": reason})


@router.post("/approvals/{id}/respond")
async def respond(ctx: PageContext) -> Response:
    """Answer in the tool's place."""
    form = await ctx.form()
    typed = {name: c.posted_text(form, name) for name in ("output", "data")}
    in_words, as_data = bool(typed["output"].strip()), bool(typed["data"].strip())
    if in_words == as_data:
        problem = "Write the answer in words or as data, not both." if in_words else "Write an answer first."
        return await _not_decided(ctx, problem, 422, typed, {"output": problem})
    try:
        result = Result(output=typed["output"]) if in_words else Result(data=json.loads(typed["data"]))
    except (ValueError, RecursionError):
        problem = 'This is not JSON. Text stands in quotation marks: "like this".'
        return await _not_decided(ctx, problem, 422, typed, {"data": problem})

    async def decide(approval_id: str) -> ApprovalRequest:
        return await ctx.hr.approvals.respond(approval_id, by=ctx.who, result=result)

    return await _decide(ctx, form, decide, typed=typed, field="output" if in_words else "data")


async def _decide(
    ctx: PageContext,
    form: FormData,
    decide: Decide,
    *,
    approves: bool = False,
    typed: Mapping[str, str] | None = None,
    field: str | None = None,
) -> Response:
    """Decide, if the question is still the one that was shown; `field` is where an invalid answer stands."""
    approval = await find_approval(ctx)
    if approval.open and c.posted_text(form, "shown") != shown_digest(approval.request):
        return await _not_decided(ctx, f"{_CHANGED} Read it once more.", 409, typed)
    if approves and approval.altered:
        return await _not_decided(ctx, "Nothing was decided.", 409, typed)
    try:
        await decide(approval.id)
    except Conflict as conflict:
        errors = {field: str(conflict)} if field and conflict.code == "INVALID_PARAM" else None
        problem = _conflict_sentence(await find_approval(ctx), conflict)
        return await _not_decided(ctx, problem, 422 if errors else 409, typed, errors)
    ctx.web.live.tell(ctx.who.tenant, "approvals")
    if not ctx.by_htmx:
        return redirect(f"/approvals/{approval.id}")
    return html(card(await find_approval(ctx), ctx.now, alone=_is_alone(ctx, approval)))


def _conflict_sentence(approval: ApprovalView, conflict: Conflict) -> str:
    """A conflict in the words of whoever meets it."""
    if not approval.open:
        return f"Your answer came too late and was not counted. {decision_sentence(approval)}"
    return (
        f"You have approved it already; {approval.missing_votes} more must."
        if approval.voted
        else str(conflict)
    )


async def _not_decided(
    ctx: PageContext,
    problem: str,
    status: int,
    typed: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> Response:
    """The card as it stands now, with why nothing was decided, and all that was typed."""
    approval = await find_approval(ctx)
    note: list[h.Node] = [h.p(".ask-note", role="alert")[icon("circle-alert"), problem]]
    forms: h.Node = None
    if approval.open:
        forms = render_decision_forms(approval, typed or {}, errors or {})
    elif texts := [text for text in (typed or {}).values() if text.strip()]:
        note.append(h.div(".ask-kept")[h.p["What you wrote:"], (h.pre[text] for text in texts)])
    alone = not ctx.by_htmx or _is_alone(ctx, approval)
    content = card(approval, ctx.now, note=note, alone=alone, filled=forms)
    return html(content, status) if ctx.by_htmx else approval_page(ctx, approval, content, status)


def _is_alone(ctx: PageContext, approval: ApprovalView) -> bool:
    """Whether the page has only this card, so that its title is the page's."""
    return urlsplit(ctx.request.headers.get("hx-current-url", "")).path == f"/approvals/{approval.id}"


@router.get("/approvals/{id}/edit")
async def edit(ctx: PageContext) -> Response:
    approval = await find_approval(ctx)
    return await _edit_or_return(ctx, approval, dict(approval.request.args))


async def _edit_or_return(ctx: PageContext, approval: ApprovalView, args: dict[str, Any]) -> Response:
    """The form with these arguments; where it cannot be approved, back to the card, which says why."""
    if approval.tool is None or not approval.can_approve:
        return redirect(f"/approvals/{approval.id}")
    shown = shown_digest(approval.request)
    return await _edit_page(ctx, approval, approval.tool, ToolInput(value=args), shown)


@router.post("/approvals/{id}/edit")
async def preview_edit(ctx: PageContext) -> Response:
    """What the changes would change. Nothing is decided by looking."""
    pairs = await inputs.posted_pairs(ctx)
    approval = await find_approval(ctx)
    shown, tool = inputs.posted_value(pairs, "shown") or "", approval.tool
    if tool is None:
        return redirect(f"/approvals/{approval.id}")
    tool_input = inputs.read_input(tool, pairs)
    if mode := inputs.posted_value(pairs, "_to"):
        switched = tool_input.in_mode("json" if mode == "json" else "form")
        return await _edit_page(ctx, approval, tool, switched, shown)
    if tool_input.done or not tool_input.readable or tool_input.errors:
        return await _edit_page(ctx, approval, tool, tool_input, shown)
    if not approval.can_approve or shown != shown_digest(approval.request):
        return await _edit_page(ctx, approval, tool, tool_input, shown, 409)
    reply = reply_for_record(approval.request, yes(by=ctx.who.user, edits=tool_input.args), tool, True)
    if not isinstance(reply, Reply):
        return await _edit_page(ctx, approval, tool, tool_input.with_errors(reply), shown)
    return _preview_page(ctx, approval, tool, copy_object(tool_input.args))


async def _edit_page(
    ctx: PageContext,
    approval: ApprovalView,
    tool: Tool,
    tool_input: ToolInput,
    shown: str,
    status: int = 200,
) -> Response:
    is_wrong = bool(tool_input.errors) or not tool_input.readable
    url = f"/approvals/{approval.id}"
    other_mode, words = _OTHER_MODES[tool_input.mode]
    return page(
        ctx,
        "Edit and approve",
        h.div(".head")[h.h1["Edit, then approve"]],
        _lead(approval, " Change what should be otherwise."),
        freshness_note(approval, shown),
        h.form(
            ".ask-edit.panel",
            method="post",
            action=f"{url}/edit",
            enctype="multipart/form-data",
            novalidate=True,
        )[
            c.hidden(**{"shown": shown, inputs.MODE: tool_input.mode}),
            _as_requested(approval, tool),
            render_fields(tool, tool_input, await load_picker_options(ctx, tool)),
            h.div(".ask-buttons")[
                c.submit("See what changes"),
                c.submit(words, "outline", name="_to", value=other_mode, formnovalidate=True),
                c.link_button(url, "Back without changes", "ghost"),
            ],
        ],
        active="approvals",
        crumbs=_crumbs(approval),
        status=422 if is_wrong else status,
    )


_OTHER_MODES = {"form": ("json", "Edit as JSON"), "json": ("form", "Edit in the form")}


def _as_requested(approval: ApprovalView, tool: Tool) -> h.Element:
    """The proposal beside the form, in which some of it may not be seen: then it is open."""
    rows = value_rows(dict(approval.request.args), tool.input_schema)
    is_marked = any(piece.kind != "plain" for row in rows for piece in text_pieces(row.path + row.literal))
    return h.details(open=is_marked)[
        h.summary["What was asked, exactly" + (": not all of it shows in a form" if is_marked else "")],
        exact_values.render_rows(rows),
    ]


def _preview_page(ctx: PageContext, approval: ApprovalView, tool: Tool, args: dict[str, Any]) -> Response:
    """Old and new side by side, and the last step."""
    changes = argument_changes(dict(approval.request.args), args, tool.input_schema)
    edits, shown = json.dumps(args, ensure_ascii=True), shown_digest(approval.request)
    url = f"/approvals/{approval.id}"
    return page(
        ctx,
        "Look and approve",
        h.div(".head")[h.h1["Look once more, then approve"], _level(tool, args)],
        _lead(approval),
        freshness_note(approval, shown),
        h.section(".panel.ask-look", aria_labelledby="ask-look-title")[
            h.h2("#ask-look-title")["You change" if changes else "You changed nothing"],
            exact_values.render_changes(changes) if changes else h.p["It would run exactly as asked."],
            h.details[
                h.summary["All that would run"],
                exact_values.render_rows(value_rows(args, tool.input_schema)),
            ],
            h.div(".ask-buttons")[
                h.form(method="post", action=f"{url}/approve")[
                    c.hidden(shown=shown, **({"edits": edits} if changes else {})),
                    c.submit(
                        [icon("check"), "Approve with these changes" if changes else "Approve as asked"]
                    ),
                ],
                h.form(method="post", action=f"{url}/edit/back")[
                    c.hidden(shown=shown, edits=edits), c.submit("Change more", "outline")
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
    approval = await find_approval(ctx)
    try:
        args = inputs.read_json_object(str(form.get("edits") or ""), blank=False)
    except InvalidJson:
        args = dict(approval.request.args)
    return await _edit_or_return(ctx, approval, args)


def _level(tool: Tool, args: dict[str, Any]) -> h.Node:
    """How grave it is with the changes."""
    admitted = admit(tool, args)
    if not isinstance(admitted, Admitted):
        return None
    return level_badge(*level_and_danger(tool, admitted.values))


def _lead(approval: ApprovalView, more: str = "") -> h.Element:
    return h.p(".ask-lead")[requester(approval), " wants to run ", h.code[approval.request.tool], ".", more]


def _crumbs(approval: ApprovalView) -> list[Crumb]:
    return [("Approvals", "/approvals"), (approval.request.tool, f"/approvals/{approval.id}")]


def freshness_note(approval: ApprovalView, shown: str) -> h.Element:
    """Whether the question is still open and the same; it asks again by itself, beside the form."""
    url = f"/approvals/{approval.id}/standing?shown={shown}"
    asks = c.refresh_on(url, "approvals from:body", "every 30s")
    return h.div("#ask-standing", asks, role="status")[_freshness_text(approval, shown)]


def _freshness_text(approval: ApprovalView, shown: str) -> h.Node:
    if not approval.open:
        text = f"{decision_sentence(approval)} What you typed is still here, but it can no longer be sent."
    elif shown != shown_digest(approval.request):
        text = f"{_CHANGED} Go back and read it once more."
    elif not approval.can_approve:
        text = "It cannot be approved as it stands now. Go back to see why."
    else:
        return None
    link = h.a(href=f"/approvals/{approval.id}")["Open it"]
    return h.p(".ask-note")[icon("circle-alert"), h.span[text, " ", link]]


@router.get("/approvals/{id}/standing")
async def freshness(ctx: PageContext) -> Response:
    return html(freshness_note(await find_approval(ctx), ctx.query.get("shown", "")))
