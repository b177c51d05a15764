"""`/tools/{slug}/session/{id}`: the page of a session. What others submit appears by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import wraps
from math import ceil
from typing import Any

import htpy as h
from starlette.responses import JSONResponse, Response

from handrail.core.define.call import FieldError, Outcome
from handrail.core.define.redaction import drop_paths
from handrail.core.define.result import Result
from handrail.core.errors import HandrailError
from handrail.core.present.forms import without_operator_fields
from handrail.core.run.approvals.inbox import Conflict
from handrail.doors.web import controls as c
from handrail.doors.web.forms.errors import outcome_field_errors
from handrail.doors.web.forms.fields import MISSING
from handrail.doors.web.forms.form import form_of
from handrail.doors.web.forms.post import form_items
from handrail.doors.web.humanize import time_ago
from handrail.doors.web.live import tool_session_topic
from handrail.doors.web.pages.tool_sessions.access import (
    SessionAccess,
    ShareEnded,
    session_access,
    session_page,
    share_ended_page,
)
from handrail.doors.web.pages.tool_sessions.manage import render_manage
from handrail.doors.web.pages.tool_sessions.render import render_live, render_state, submitter
from handrail.doors.web.pages.tools.input_panel import load_picker_options
from handrail.doors.web.rate_limits import check_open_pages
from handrail.doors.web.responses import html
from handrail.doors.web.routing import PageContext, PageNotFound, PageRouter, SignInRequired, redirect
from handrail.doors.web.views.result import render_result
from handrail.identity.errors import RateLimited
from handrail.identity.submissions import submit
from handrail.platform.responses import json_bytes
from handrail.platform.session_export import export_csv, export_json, export_json_for_guests
from handrail.store.tool_sessions import ToolSessionSubmission

router = PageRouter()
_PATH = "/tools/{slug}/session/{id}"
Handler = Callable[[PageContext], Awaitable[Response]]


def _with_access(handler: Callable[[PageContext, SessionAccess], Awaitable[Response]]) -> Handler:
    """A page for whoever has a seat; a guest whose link has ended is told so."""

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
    given = await _submissions(ctx, access)
    mine = next((one for one in given if one.user_id == access.who.id), None)
    value: Any = MISSING
    if mine is not None and isinstance(mine.input, dict):
        value = dict(drop_paths(mine.input, access.tool.secrets)[0])
    note = h.p(".shared-done", role="status")["Your answer is in."] if ctx.query.get("done") else None
    return await _page(ctx, access, render_form(access, value, note=note, again=mine is not None), given)


@router.post(_PATH, open=True)
@_with_access
async def answer(ctx: PageContext, access: SessionAccess) -> Response:
    """Submit; whatever goes wrong, everything typed stays."""
    read = form_of(access.tool, access.mode).read(await form_items((await ctx.form()).multi_items()))
    if not read.ok:
        return await _again(
            ctx, access, render_form(access, read.value, read.errors), 422 if read.errors else 200
        )
    sessions, source = ctx.services.tool_sessions, ctx.source
    try:
        done = await submit(ctx.hr, sessions, access.session, access.who, dict(read.value), source=source)
    except Conflict as refused:
        return await _again(ctx, access, render_form(access, read.value, said=str(refused)), 409)
    except RateLimited as refused:
        told = await _again(ctx, access, render_form(access, read.value, said=str(refused)), 429)
        told.headers["retry-after"] = str(ceil(refused.wait))
        return told
    if done.submission is None:
        errors, said = _refusal(done.outcome)
        return await _again(ctx, access, render_form(access, read.value, errors, said=said), 422)
    ctx.web.watching.tell(access.session)
    if not ctx.by_htmx:
        return redirect(f"{access.url()}?done=1#shared-live")
    note = h.p(".shared-done", role="status")["Your answer is in."]
    return await _again(ctx, access, render_form(access, read.value, note=note, again=True), 200)


async def _submissions(ctx: PageContext, access: SessionAccess) -> Sequence[ToolSessionSubmission]:
    """What was submitted, as this participant may read it: a guest nothing that is for operators only."""
    given = await ctx.services.tool_sessions.submissions(access.session)
    if not access.guest:
        return given
    return [
        replace(
            one,
            input=without_operator_fields(access.tool, _args(one)),
            user_display_name=one.user_display_name or "somebody",
        )
        for one in given
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
    given: Sequence[ToolSessionSubmission],
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
            await _live(ctx, access, given),
        ],
        status=status,
    )


def render_form(
    access: SessionAccess,
    value: Any = MISSING,
    errors: Sequence[FieldError] = (),
    *,
    note: h.Node = None,
    said: str | None = None,
    again: bool = False,
) -> h.Element:
    """The form of the tool, as this participant fills it in."""
    asks = {
        "hx-post": access.url(),
        "hx-target": "#shared-form",
        "hx-swap": "outerMorph",
        "hx-sync": "this:drop",
    }
    form = form_of(access.tool, access.mode)
    fields = (
        form.render(errors=errors, options=access.options)
        if value is MISSING
        else form.render(value, errors, options=access.options)
    )
    return h.form(
        asks,
        id="shared-form",
        method="post",
        action=access.url(),
        enctype="multipart/form-data",
        novalidate=True,
    )[
        note,
        c.alert(said) if said else None,
        fields,
        h.div(".row.shared-foot")[
            h.button(".btn", type="submit", data_run=True)["Change my answer" if again else "Submit"],
            h.span(".quiet")["It takes the place of the one that you gave."] if again else None,
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
    given = await _submissions(ctx, access)
    return html(h.fragment[await _live(ctx, access, given), render_state(access.session, again=True)])


async def _live(ctx: PageContext, access: SessionAccess, given: Sequence[ToolSessionSubmission]) -> h.Element:
    made = await ctx.services.aggregates.of(access.tool, access.session, given)
    return render_live(access, given, made, ctx.now, tool_session_topic(access.session.id))


@router.get(f"{_PATH}/live", open=True)
@_with_access
async def live(ctx: PageContext, access: SessionAccess) -> Response:
    """The stream of a guest's page. It ends with the link by which they came, once the page was told so."""
    last = False

    async def still() -> bool:
        nonlocal last
        if last:
            return False
        try:
            await session_access(ctx, counts=False)
        except (ShareEnded, SignInRequired, PageNotFound, HandrailError):
            last = True
        return True

    ctx.request.scope["state"]["still"] = still
    tenant, news = access.session.tenant_id, tool_session_topic(access.session.id)
    if access.guest:
        check_open_pages(ctx.web.live, tenant, news, access.who.id)
    return ctx.web.live.answer(ctx.request, tenant, [news], access.who.principal if access.guest else None)


@router.get(f"{_PATH}/answer/{{submission}}", open=True)
@_with_access
async def one_answer(ctx: PageContext, access: SessionAccess) -> Response:
    """One participant's answer, all of it."""
    given = await _submissions(ctx, access)
    found = next((one for one in given if one.id == ctx.part("submission")), None)
    if found is None:
        raise PageNotFound
    return session_page(
        ctx,
        access,
        f"Answer of {found.user_display_name}",
        h.p[h.a(href=access.url())[f"← {access.session.title}"]],
        h.header(".head")[h.h1[submitter(found, access)], time_ago(found.created_at, ctx.now)],
        h.section(".panel.stack")[
            render_result(access.tool, Result(data=found.output), args=_args(found), id="answer")
        ],
    )


def _args(found: ToolSessionSubmission) -> dict[str, Any]:
    return found.input if isinstance(found.input, dict) else {}


@router.get(f"{_PATH}/answers.json", open=True)
@_with_access
async def as_json_file(ctx: PageContext, access: SessionAccess) -> Response:
    given = await _submissions(ctx, access)
    made = await ctx.services.aggregates.of(access.tool, access.session, given)
    data = (export_json_for_guests if access.guest else export_json)(access.session, given, made)
    return Response(json_bytes(data), headers=_file("answers.json"), media_type=JSONResponse.media_type)


@router.get(f"{_PATH}/answers.csv", open=True)
@_with_access
async def as_csv_file(ctx: PageContext, access: SessionAccess) -> Response:
    given = await _submissions(ctx, access)
    return Response(export_csv(given), headers=_file("answers.csv"), media_type="text/csv")


def _file(name: str) -> dict[str, str]:
    return {
        "content-disposition": f'attachment; filename="{name}"',
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
    }
