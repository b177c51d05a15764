"""`/tools/{slug}/session/{id}`: the page of a session. What others submit appears by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import wraps
from math import ceil
from typing import Any

import htpy as h
from starlette.responses import Response

from handrail.core.define.call import FieldError, Outcome
from handrail.core.define.names import humanize_field_name
from handrail.core.define.redaction import drop_paths
from handrail.core.define.result import Result
from handrail.core.define.tool import Tool
from handrail.core.errors import HandrailError
from handrail.core.present.forms import without_operator_fields
from handrail.core.run.approvals.inbox import Conflict
from handrail.doors.web import controls as c
from handrail.doors.web.forms.errors import outcome_field_errors
from handrail.doors.web.forms.fields import MISSING
from handrail.doors.web.forms.form import form_of
from handrail.doors.web.forms.post import form_items
from handrail.doors.web.guest_limits import check_open_pages
from handrail.doors.web.humanize import pluralize, time_ago
from handrail.doors.web.live import tool_session_topic
from handrail.doors.web.pages.tool_sessions.access import (
    SessionAccess,
    ShareEnded,
    session_access,
    session_badge,
    session_page,
    share_ended_page,
)
from handrail.doors.web.pages.tool_sessions.manage import render_manage
from handrail.doors.web.pages.tools.input_panel import load_picker_options
from handrail.doors.web.responses import html
from handrail.doors.web.router import PageContext, PageNotFound, PageRouter, SignInRequired, redirect, require
from handrail.doors.web.views.result import render_result
from handrail.identity.errors import RateLimited
from handrail.identity.session_aggregates import Aggregate
from handrail.identity.session_submissions import submit
from handrail.platform.display_text import visible, visible_json
from handrail.platform.responses import json_bytes
from handrail.platform.session_export import export_csv, export_json, export_json_for_guests
from handrail.store.tool_sessions import ToolSession, ToolSessionSubmission

router = PageRouter()
_PATH = "/tools/{slug}/session/{id}"
_COLUMNS = 5
_LONG = 60
Handler = Callable[[PageContext], Awaitable[Response]]


def _with_access(handler: Callable[[PageContext, SessionAccess], Awaitable[Response]]) -> Handler:
    """A page for whoever takes part; a guest whose link has ended is told so."""

    @wraps(handler)
    async def answer(ctx: PageContext) -> Response:
        try:
            access = await session_access(ctx)
            if not access.guest:
                access = replace(access, options=await load_picker_options(ctx, access.tool))
            return await handler(ctx, access)
        except ShareEnded:
            return share_ended_page(ctx)

    return answer


@router.get(_PATH, open=True)
@_with_access
async def show(ctx: PageContext, access: SessionAccess) -> Response:
    submissions = await _submissions(ctx, access)
    own = next((item for item in submissions if item.user_id == access.who.id), None)
    value: Any = MISSING
    if own is not None and isinstance(own.input, dict):
        value = dict(drop_paths(own.input, access.tool.secrets)[0])
    form = render_form(access, value, is_done=bool(ctx.query.get("done")), is_change=own is not None)
    return await _page(ctx, access, form, submissions)


@router.post(_PATH, open=True)
@_with_access
async def answer(ctx: PageContext, access: SessionAccess) -> Response:
    """Submit; whatever goes wrong, everything typed stays."""
    parsed = form_of(access.tool, access.mode).read(await form_items((await ctx.form()).multi_items()))
    value = parsed.value
    if not parsed.ok:
        return await _again(
            ctx, access, render_form(access, value, parsed.errors), 422 if parsed.errors else 200
        )
    sessions = ctx.services.tool_sessions
    try:
        submitted = await submit(ctx.hr, sessions, access.session, access.who, dict(value), source=ctx.source)
    except Conflict as refused:
        return await _again(ctx, access, render_form(access, value, problem=str(refused)), 409)
    except RateLimited as refused:
        response = await _again(ctx, access, render_form(access, value, problem=str(refused)), 429)
        response.headers["retry-after"] = str(ceil(refused.wait))
        return response
    if submitted.submission is None:
        errors, problem = _refusal(submitted.outcome)
        return await _again(ctx, access, render_form(access, value, errors, problem=problem), 422)
    ctx.web.watcher.tell(access.session)
    if not ctx.by_htmx:
        return redirect(f"{access.url()}?done=1#shared-live")
    return await _again(ctx, access, render_form(access, value, is_done=True, is_change=True), 200)


async def _submissions(ctx: PageContext, access: SessionAccess) -> Sequence[ToolSessionSubmission]:
    """What was submitted, as this participant may read it: a guest nothing that is for operators only."""
    submissions = await ctx.services.tool_sessions.submissions(access.session)
    if not access.guest:
        return submissions
    return [
        replace(
            submission,
            input=without_operator_fields(access.tool, submitted_args(submission)),
            user_display_name=submission.user_display_name or "somebody",
        )
        for submission in submissions
    ]


async def _again(ctx: PageContext, access: SessionAccess, form: h.Element, status: int) -> Response:
    """The form again, with everything that was typed, and what the session has come to."""
    session = await ctx.services.tool_sessions.find(access.session.tenant_id, access.session.id)
    access = SessionAccess(session or access.session, access.tool, access.who, access.manages)
    if ctx.by_htmx:
        return html(h.fragment[form, render_state(access.session, again=True)], status)
    return await _page(ctx, access, form, await _submissions(ctx, access), status)


async def _page(
    ctx: PageContext,
    access: SessionAccess,
    form: h.Element,
    submissions: Sequence[ToolSessionSubmission],
    status: int = 200,
) -> Response:
    return session_page(
        ctx,
        access,
        access.session.title,
        h.header(".stack")[
            h.div(".head")[h.h1[access.session.title], render_state(access.session)],
            h.p(".quiet")[
                f"{access.tool.name}. You are here as ",
                h.b[access.who.name],
                " (guest)." if access.guest else ".",
            ],
        ],
        render_manage(ctx, access) if access.manages else None,
        h.div(".shared-columns")[
            h.section(".panel.stack", aria_labelledby="mine-title")[h.h2("#mine-title")["Your answer"], form],
            await _live(ctx, access, submissions),
        ],
        status=status,
    )


def render_form(
    access: SessionAccess,
    value: Any = MISSING,
    errors: Sequence[FieldError] = (),
    *,
    problem: str | None = None,
    is_done: bool = False,
    is_change: bool = False,
) -> h.Element:
    """The form of the tool, as this participant fills it in."""
    return c.upload_form("shared-form", access.url(), "#shared-form", "outerMorph")[
        h.p(".shared-done", role="status")["Your answer is in."] if is_done else None,
        c.alert(problem),
        form_of(access.tool, access.mode).render(value, errors, options=access.options),
        h.div(".row.shared-foot")[
            h.button(".btn", type="submit", data_run=True)["Change my answer" if is_change else "Submit"],
            h.span(".quiet")["It takes the place of the one that you gave."] if is_change else None,
        ],
    ]


def _refusal(outcome: Outcome) -> tuple[list[FieldError], str | None]:
    if errors := outcome_field_errors(outcome):
        return errors, None
    if outcome.status == "pending":
        return [], "This needs approval first, so it was not added. Submit again once it was given."
    return [], outcome.result.error or "It did not work, so it was not added."


@router.get(f"{_PATH}/part", open=True)
@_with_access
async def part(ctx: PageContext, access: SessionAccess) -> Response:
    """What the session has come to, for a page that is open."""
    live_part = await _live(ctx, access, await _submissions(ctx, access))
    return html(h.fragment[live_part, render_state(access.session, again=True)])


async def _live(
    ctx: PageContext, access: SessionAccess, submissions: Sequence[ToolSessionSubmission]
) -> h.Element:
    aggregate = await ctx.services.aggregates.of(access.tool, access.session, submissions)
    return render_live(access, submissions, aggregate, ctx.now)


@router.get(f"{_PATH}/live", open=True)
@_with_access
async def live(ctx: PageContext, access: SessionAccess) -> Response:
    """The stream of a guest's page. It ends with the link by which they came, once the page was told so."""
    has_ended = False

    async def still() -> bool:
        nonlocal has_ended
        if has_ended:
            return False
        try:
            await session_access(ctx, counts=False)
        except (ShareEnded, SignInRequired, PageNotFound, HandrailError):
            has_ended = True
        return True

    ctx.request.scope["state"]["still"] = still
    tenant, topic = access.session.tenant_id, tool_session_topic(access.session.id)
    if access.guest:
        check_open_pages(ctx.web.live, tenant, topic, access.who.id)
    return ctx.web.live.answer(ctx.request, tenant, [topic], access.who.principal if access.guest else None)


@router.get(f"{_PATH}/answer/{{submission}}", open=True)
@_with_access
async def one_answer(ctx: PageContext, access: SessionAccess) -> Response:
    """One participant's answer, all of it."""
    submissions = await _submissions(ctx, access)
    submission = require(next((item for item in submissions if item.id == ctx.part("submission")), None))
    args, result = submitted_args(submission), Result(data=submission.output)
    return session_page(
        ctx,
        access,
        f"Answer of {submission.user_display_name}",
        h.p[h.a(href=access.url())[f"← {access.session.title}"]],
        h.header(".head")[h.h1[submitter(submission, access)], time_ago(submission.created_at, ctx.now)],
        h.section(".panel.stack")[render_result(access.tool, result, args=args, id="answer")],
    )


@router.get(f"{_PATH}/answers.json", open=True)
@_with_access
async def as_json_file(ctx: PageContext, access: SessionAccess) -> Response:
    submissions = await _submissions(ctx, access)
    aggregate = await ctx.services.aggregates.of(access.tool, access.session, submissions)
    export = export_json_for_guests if access.guest else export_json
    content = json_bytes(export(access.session, submissions, aggregate))
    return _file(content, "answers.json", "application/json")


@router.get(f"{_PATH}/answers.csv", open=True)
@_with_access
async def as_csv_file(ctx: PageContext, access: SessionAccess) -> Response:
    return _file(export_csv(await _submissions(ctx, access)), "answers.csv", "text/csv")


def _file(content: bytes | str, name: str, mime: str) -> Response:
    headers = {
        "content-disposition": f'attachment; filename="{name}"',
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
    }
    return Response(content, headers=headers, media_type=mime)


def render_state(session: ToolSession, again: bool = False) -> h.Element:
    """Whether it is open; `again` puts it where it stands already."""
    swap = {"hx-swap-oob": "true"} if again else {}
    text = {
        "completed": "This session is closed. Nothing more can be submitted.",
        "cancelled": "This session was cancelled. Nothing more can be submitted.",
    }.get(session.status)
    return h.div("#shared-state", swap, role="status")[
        session_badge(session.status), h.p(".shared-over")[text] if text else None
    ]


def render_live(
    access: SessionAccess,
    submissions: Sequence[ToolSessionSubmission],
    aggregate: Aggregate | None,
    now: float,
) -> h.Element:
    """The part that is drawn anew when something changes, and when the stream begins: it may have before."""
    asks = c.refresh_on_news(access.url("part"), tool_session_topic(access.session.id))
    count = pluralize(len(submissions), "person has", "people have") + " answered"
    return h.div("#shared-live.stack", asks)[
        h.section(".panel.stack", aria_labelledby="together-title")[
            h.h2("#together-title")["Together"], _aggregate(access.tool, submissions, aggregate)
        ],
        h.section(".panel.stack", aria_labelledby="answers-title")[
            h.div(".head")[
                h.h2("#answers-title")["Answers"], h.span(".quiet")[count] if submissions else None
            ],
            [_answers(access, submissions, now), _exports(access)]
            if submissions
            else h.p(".quiet")["Nobody has answered yet."],
        ],
    ]


def _aggregate(
    tool: Tool, submissions: Sequence[ToolSessionSubmission], aggregate: Aggregate | None
) -> h.Node:
    if tool.aggregate is None:
        return h.p(".quiet")["This tool does not put the answers together. They stand below."]
    if not submissions:
        return h.p(".quiet")["What the answers come to stands here, as soon as there is one."]
    if aggregate is None or aggregate.error is not None:
        text = aggregate.error if aggregate is not None else "Look again in a moment."
        return h.p(".quiet", role="status")[text]
    data = aggregate.data
    has_sections = isinstance(data, dict) and any(section.key in data for section in tool.sections)
    return render_result(tool if has_sections else None, Result(data=data), id="together")


def _answers(access: SessionAccess, submissions: Sequence[ToolSessionSubmission], now: float) -> h.Element:
    names = _columns(submissions)
    heads = [visible(humanize_field_name(name) or name) for name in names]
    return c.table(
        "Table of answers",
        ["Who", *heads, h.span(".sr-only")["More"]],
        (_answer(access, submission, names, now) for submission in submissions),
        class_="table shared-answers",
    )


def _answer(
    access: SessionAccess, submission: ToolSessionSubmission, names: Sequence[str], now: float
) -> h.Element:
    values = submitted_args(submission)
    return h.tr(id=f"answer-{submission.id}")[
        h.th(scope="row")[submitter(submission, access), ", ", time_ago(submission.created_at, now)],
        (h.td[_shorten(values.get(name))] for name in names),
        h.td[
            h.a(href=access.url("answer", submission.id))[
                "All of it", h.span(".sr-only")[f" of {submission.user_display_name}"]
            ]
        ],
    ]


def submitter(submission: ToolSessionSubmission, access: SessionAccess) -> h.Fragment:
    """Whose an answer is; a guest is told apart, whatever name they chose."""
    return h.fragment[
        h.b[submission.user_display_name or "somebody"],
        h.span(".quiet")[" (guest)"] if submission.user_id.startswith("guest:") else None,
        h.span(".quiet")[" (you)"] if submission.user_id == access.who.id else None,
    ]


def submitted_args(submission: ToolSessionSubmission) -> dict[str, Any]:
    return submission.input if isinstance(submission.input, dict) else {}


def _columns(submissions: Sequence[ToolSessionSubmission]) -> list[str]:
    """The first few names that were filled in with something that fits a cell."""
    names = (
        name
        for submission in submissions
        for name, value in submitted_args(submission).items()
        if not isinstance(value, dict | list)
    )
    return list(dict.fromkeys(names))[:_COLUMNS]


def _shorten(value: Any) -> str:
    if value is None:
        return ""
    text = visible(value) if isinstance(value, str) else visible_json(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"


def _exports(access: SessionAccess) -> h.Element:
    return h.p(".row")[
        "Take it along: ",
        h.a(href=access.url("answers.csv"), download="")["CSV"],
        h.a(href=access.url("answers.json"), download="")["JSON"],
    ]
