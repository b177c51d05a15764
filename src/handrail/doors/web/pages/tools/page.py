"""`/tools/{slug}`: the page of one tool, its form filled in as the address says, and running it.

A call is begun once however often it is posted, then watched, cancelled or confirmed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.call import FieldError, Outcome
from handrail.core.define.lookup import ToolDetails
from handrail.core.define.redaction import drop_paths
from handrail.core.define.schema import digest_of
from handrail.core.define.tool import Tool
from handrail.core.tell.events import Event, NeedsApproval, OutputAppended, ToolStarted
from handrail.core.tell.log import EventFilter
from handrail.doors.web.forms.errors import outcome_field_errors
from handrail.doors.web.humanize import level_badge
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import page
from handrail.doors.web.live import parse_number, topic
from handrail.doors.web.pages.tools import call_panel, input_panel, inputs, preferences
from handrail.doors.web.pages.tools.call_panel import CallView, find_call_view, render_result_panel
from handrail.doors.web.pages.tools.history import render_history
from handrail.doors.web.pages.tools.inputs import InvalidJson, ToolInput
from handrail.doors.web.responses import html
from handrail.doors.web.router import PageContext, PageNotFound, PageRouter, redirect, require
from handrail.doors.web.tool_lookup import described_tool, requested_tool, tool_url
from handrail.platform.access import find_call
from handrail.platform.calls import CallRequest
from handrail.platform.display_text import visible
from handrail.store.preferences import SavedInput


@dataclass(frozen=True, slots=True)
class ToolPageParts:
    """What stands on the page beside the input."""

    call_view: CallView | None = None
    result: h.Element | None = None
    """In the place of how a call stands."""
    note: h.Node = None
    saved: h.Element | None = None
    link: h.Element | None = None
    status: int = 200


async def tool_page(
    ctx: PageContext, details: ToolDetails, tool_input: ToolInput, parts: ToolPageParts | None = None
) -> Response:
    """The page. Where nothing else is to be shown, the result is that of this reader's last run."""
    tool, parts = details.tool, parts or ToolPageParts()
    result = parts.result
    if result is None:
        result = render_result_panel(ctx, tool, parts.call_view or await call_panel.last_call(ctx, tool))
    saved = parts.saved
    if saved is None and preferences.has_preferences(ctx):
        saved = preferences.render_saved_inputs(tool, await saved_inputs_of(ctx, tool))
    return page(
        ctx,
        tool.name,
        await _head(ctx, details),
        h.div(".tool-columns")[
            h.section(".panel.tool-panel", aria_labelledby="input-title")[
                input_panel.render_input(
                    tool, tool_input, parts.note, await input_panel.load_picker_options(ctx, tool)
                ),
                h.div(".tool-keep")[saved, parts.link or preferences.render_input_link(tool)],
            ],
            result,
        ],
        await render_history(ctx, tool),
        active="tools",
        crumbs=[("Tools", "/tools")],
        live=[topic("tool", tool.id)],
        status=parts.status,
    )


async def saved_inputs_of(ctx: PageContext, tool: Tool) -> Sequence[SavedInput]:
    return await ctx.services.preferences.saved(ctx.who, tool.id) if preferences.has_preferences(ctx) else ()


async def _head(ctx: PageContext, details: ToolDetails) -> h.Element:
    tool, guard_note = details.tool, _guard_note(details)
    is_starred = tool.id in await preferences.favourites_of(ctx)
    guidance = h.details(".tool-guidance")[h.summary["When to use it"], h.p[tool.guidance]]
    return h.header(".tool-head")[
        h.div(".head")[
            h.h1[h.span(".tool-head-icon")[icon(tool.icon)], tool.name],
            h.div(".row")[
                level_badge(tool.level, tool.danger),
                preferences.render_star(tool, is_starred) if preferences.has_preferences(ctx) else None,
                _menu(ctx, tool),
            ],
        ],
        h.p(".tool-about")[tool.description] if tool.description else None,
        h.p(".quiet")[guard_note] if guard_note else None,
        guidance if tool.guidance else None,
    ]


def _guard_note(details: ToolDetails) -> str | None:
    """What a call will meet, where that is worth knowing beforehand."""
    decision = details.decision
    if decision.verdict == "queue":
        return "Is planned first, and runs when the plan is run."
    if decision.verdict != "ask":
        return None
    by_caller = decision.by == "caller"
    return "Asks you to confirm before it runs." if by_caller else "Needs approval before it runs."


def _menu(ctx: PageContext, tool: Tool) -> h.Element:
    """What else there is to a tool."""
    return h.details(".menu")[
        h.summary(aria_label=f"More about {tool.name}")[icon("ellipsis")],
        h.div(".menu-list")[
            h.a(href=tool_url(tool, "session"))["Fill it in together"]
            if preferences.has_preferences(ctx) and tool.collaborative and ctx.may("tool_sessions.read")
            else None,
            h.a(href=f"/settings/embeds/new?tool={quote(tool.slug, safe='')}")["Publish it on a site"]
            if preferences.has_preferences(ctx) and tool.level == "read" and ctx.may("embeds.manage")
            else None,
            h.a(href=f"/runs?tool={quote(tool.id, safe='')}")["All its runs"],
            h.a(href=f"/api{tool_url(tool)}")["Its definition (JSON)"],
        ],
    ]


router = PageRouter()


@router.get("/tools/{slug}")
async def show(ctx: PageContext) -> Response:
    """The page: empty, or filled in by a link, a saved input or an earlier call."""
    details = await described_tool(ctx)
    tool_input, note, call_view = await _prefilled_input(ctx, details.tool)
    return await tool_page(ctx, details, tool_input, ToolPageParts(call_view=call_view, note=note))


async def _prefilled_input(ctx: PageContext, tool: Tool) -> tuple[ToolInput, h.Node, CallView | None]:
    query = ctx.query
    if query.get("input"):
        try:
            return ToolInput(value=preferences.input_from_link(tool, query["input"])), None, None
        except InvalidJson as error:
            return ToolInput(), h.p(".form-error", role="alert")[str(error)], None
    if name := query.get("saved"):
        saved = require(next((item for item in await saved_inputs_of(ctx, tool) if item.name == name), None))
        return ToolInput(value=dict(saved.args)), h.p(".quiet")[f"Filled in from “{name}”."], None
    call_id = query.get("call")
    if call_id is None and query.get("run"):
        call_id = (await call_panel.find_run_of_tool(ctx, tool, query["run"])).call_id
    if call_id:
        call_view = await find_call_view(ctx, tool, call_id)
        args, left_out = drop_paths(dict(call_view.input), tool.secrets)
        note = h.p(".quiet")["Secrets are not kept: type them again."] if left_out else None
        return ToolInput(value=dict(args)), note, call_view
    return ToolInput(), None, None


@router.post("/tools/{slug}/form")
async def switch_mode(ctx: PageContext) -> Response:
    """The same input in the other mode, with everything that was typed."""
    details = await described_tool(ctx)
    pairs = await inputs.posted_pairs(ctx)
    tool_input = inputs.read_input(details.tool, pairs)
    if not tool_input.done:
        mode: inputs.InputMode = "json" if ctx.query.get("to") == "json" else "form"
        tool_input = tool_input.in_mode(mode, details.tool.secrets)
    status = 200 if tool_input.readable else 422
    if ctx.by_htmx:
        options = await input_panel.load_picker_options(ctx, details.tool)
        return html(input_panel.render_input(details.tool, tool_input, options=options), status)
    return await tool_page(ctx, details, tool_input, ToolPageParts(status=status))


@router.post("/tools/{slug}/check")
async def check_input(ctx: PageContext) -> Response:
    """The form with what is wrong at the fields that somebody was at. The page takes only that from it."""
    tool = await requested_tool(ctx)
    pairs = await inputs.posted_pairs(ctx)
    tool_input = inputs.read_input(tool, pairs)
    touched = [value for name, value in pairs if name == inputs.TOUCHED and isinstance(value, str)]
    errors = inputs.input_errors(tool, tool_input)
    if tool_input.mode == "form":
        errors = inputs.errors_at_touched(errors, tool_input.value, touched)
    return html(h.fragment[input_panel.render_fields(tool, replace(tool_input, errors=errors))])


_WAIT_WITH_SCRIPT = 0.25
"""Seconds in which a call may end before a page shows that it runs."""
_WAIT_WITHOUT_SCRIPT = 2.0
"""The same for a browser without script, which would have to look again."""
_MAX_PIECES = 200
_INVALID = frozenset({"MISSING_PARAM", "INVALID_PARAM"})


@router.post("/tools/{slug}/run")
async def run(ctx: PageContext) -> Response:
    """Run it with what was posted, or with the input of an earlier call."""
    details = await described_tool(ctx)
    tool, pairs = details.tool, await inputs.posted_pairs(ctx)
    earlier = inputs.posted_value(pairs, call_panel.CALL)
    tool_input = (
        inputs.read_input(tool, pairs) if earlier is None else await _input_of(ctx, tool, earlier, pairs)
    )
    if tool_input.done:
        return await input_panel_response(ctx, details, tool_input)
    errors = inputs.input_errors(tool, tool_input)
    if errors or not tool_input.readable:
        return await input_panel_response(ctx, details, tool_input.with_errors(errors), status=422)
    return await _run(ctx, details, tool_input)


async def _input_of(ctx: PageContext, tool: Tool, call_id: str, pairs: inputs.Pairs) -> ToolInput:
    """The input of an earlier call; secrets are not kept, so they must be typed again."""
    call_view = await find_call_view(ctx, tool, call_id)
    args, _ = drop_paths(dict(call_view.input), tool.secrets)
    return ToolInput(value=args, key=(inputs.posted_value(pairs, inputs.KEY) or inputs.new_form_key())[:100])


async def input_panel_response(
    ctx: PageContext,
    details: ToolDetails,
    tool_input: ToolInput,
    *,
    status: int = 200,
    note: h.Node = None,
) -> Response:
    """The form again, with everything that was typed."""
    if not ctx.by_htmx:
        return await tool_page(ctx, details, tool_input, ToolPageParts(status=status, note=note))
    headers = {"hx-retarget": f"#{input_panel.FORM_ID}", "hx-reswap": "outerMorph"}
    if status == 422:
        headers["hx-trigger"] = "handrail:wrong"
    form = input_panel.render_input(
        details.tool, tool_input, note, await input_panel.load_picker_options(ctx, details.tool)
    )
    return html(form, status, headers=headers)


async def _run(ctx: PageContext, details: ToolDetails, tool_input: ToolInput) -> Response:
    tool = details.tool
    begun = await _find_or_start_call(ctx, tool, tool_input)
    if isinstance(begun, Outcome):
        if begun.code in _INVALID:
            errors = outcome_field_errors(begun) or [FieldError("", begun.result.error or "does not fit")]
            return await input_panel_response(ctx, details, tool_input.with_errors(errors), status=422)
        return await _answer(ctx, details, tool_input, call_panel.render_outcome_panel(tool, begun), None)
    return await _answer(ctx, details, tool_input, render_result_panel(ctx, tool, begun), begun.call_id)


async def _answer(
    ctx: PageContext,
    details: ToolDetails,
    tool_input: ToolInput,
    result_panel: h.Element,
    call_id: str | None,
) -> Response:
    """The panel with its result so far; the form that is open gets a new key, so that it can run again."""
    url = tool_url(details.tool) + (f"?call={call_id}" if call_id else "")
    if ctx.by_htmx:
        headers = {"hx-trigger": "handrail:ran", "hx-replace-url": url}
        return html(
            h.fragment[result_panel, input_panel.render_form_key(inputs.new_form_key(), again=True)],
            headers=headers,
        )
    if call_id is not None:
        return redirect(f"{url}#result-title")
    return await tool_page(
        ctx, details, replace(tool_input, key=inputs.new_form_key()), ToolPageParts(result=result_panel)
    )


async def _find_or_start_call(ctx: PageContext, tool: Tool, tool_input: ToolInput) -> CallView | Outcome:
    """Begin the call unless it was; how it stands once it is over, or after a moment."""
    call_id = _call_id(ctx, tool, tool_input)
    record = ctx.platform.events
    outcome = None
    if await record.first(ctx.who.tenant, call_id) is None:
        outcome = await _start_call(ctx, tool, tool_input.args, call_id)
    earlier = outcome.result.metadata.get("duplicate_of") if outcome is not None else None
    try:
        return await find_call_view(ctx, tool, earlier if isinstance(earlier, str) else call_id)
    except PageNotFound:
        if outcome is None:
            raise
        return outcome


def _call_id(ctx: PageContext, tool: Tool, tool_input: ToolInput) -> str:
    """One for what one form posts with one input, however often it does."""
    who = ctx.who
    return (
        f"call_{digest_of([who.tenant, who.user, who.agent, tool.id, tool_input.key, tool_input.args])[:32]}"
    )


async def _start_call(ctx: PageContext, tool: Tool, args: Mapping[str, Any], call_id: str) -> Outcome | None:
    """Start the call and wait until the guard has let it pass, and a moment longer for its end."""
    loop, passed = asyncio.get_running_loop(), asyncio.Event()

    def hear(event: Event) -> None:
        if event.call_id == call_id and isinstance(event, ToolStarted | NeedsApproval):
            loop.call_soon_threadsafe(passed.set)

    stop = ctx.hr.subscribe(hear)
    begun = asyncio.ensure_future(passed.wait())
    try:
        request = CallRequest(ctx.who, ctx.source, tool.id, dict(args), key=call_id)
        task = ctx.platform.running.start(ctx.hr, request, call_id)
        await asyncio.wait({task, begun}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({task}, timeout=_WAIT_WITH_SCRIPT if ctx.by_htmx else _WAIT_WITHOUT_SCRIPT)
        return task.result() if task.done() else None
    finally:
        begun.cancel()
        stop()


@router.get("/tools/{slug}/call/{call}")
async def call_status(ctx: PageContext) -> Response:
    """How a call stands: the part that changes while it goes on, the whole panel once it is over."""
    tool = await requested_tool(ctx)
    call_view = await find_call_view(ctx, tool, ctx.part("call"))
    if not ctx.by_htmx:
        return redirect(f"{tool_url(tool)}?call={call_view.call_id}")
    if call_view.is_open:
        return html(call_panel.render_call_state(ctx, tool, call_view))
    headers = {"hx-retarget": "#result", "hx-reswap": "outerHTML"}
    return html(render_result_panel(ctx, tool, call_view), headers=headers)


@router.get("/tools/{slug}/call/{call}/output")
async def output(ctx: PageContext) -> Response:
    """What a call has put out since, and a place for more."""
    tool = await requested_tool(ctx)
    call_view = await find_call_view(ctx, tool, ctx.part("call"))
    after = parse_number(ctx.query.get("after", "0")) or 0
    which = EventFilter(session=call_view.first.session, call_id=call_view.call_id, status="chunk")
    events = await ctx.platform.events.page(ctx.who.tenant, which, seq=after, limit=_MAX_PIECES)
    pieces = [h.span[visible(event.chunk)] for event in events if isinstance(event, OutputAppended)]
    last = events[-1].seq if events else after
    more = call_panel.render_output_tail(tool, call_view.call_id, last, at_once=len(events) == _MAX_PIECES)
    return html(h.fragment[pieces, more])


@router.post("/tools/{slug}/call/{call}/cancel")
async def cancel(ctx: PageContext) -> Response:
    """Stop a call that runs or waits."""
    tool, who = await requested_tool(ctx), ctx.who
    await find_call_view(ctx, tool, ctx.part("call"))
    call = require(await find_call(ctx.platform, ctx.part("call"), who, "jobs.cancel", ctx.source))
    await ctx.hr.cancel(call.id, f"{who.user or 'somebody'} cancelled it", principal=who)
    return await _call_response(ctx, tool, call.id)


@router.post("/tools/{slug}/call/{call}/confirm")
async def confirm(ctx: PageContext) -> Response:
    """Let one's own call run that asked for a confirmation."""
    tool = await requested_tool(ctx)
    call_view = await find_call_view(ctx, tool, ctx.part("call"))
    if call_view.approval is None or not call_panel.may_confirm(ctx.who, call_view.approval):
        raise PageNotFound
    if call_view.is_waiting:
        await ctx.hr.approvals.approve(call_view.approval.id, by=ctx.who)
    return await _call_response(ctx, tool, call_view.call_id)


async def _call_response(ctx: PageContext, tool: Tool, call_id: str) -> Response:
    if not ctx.by_htmx:
        return redirect(f"{tool_url(tool)}?call={call_id}")
    return html(render_result_panel(ctx, tool, await find_call_view(ctx, tool, call_id)))
