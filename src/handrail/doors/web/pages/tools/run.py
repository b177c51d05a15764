"""Running a tool from its page: begun once however often it is posted, watched, cancelled, confirmed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import htpy as h
from starlette.responses import Response

from handrail.core.define.call import FieldError, Outcome
from handrail.core.define.lookup import ToolDetails
from handrail.core.define.redaction import drop_paths
from handrail.core.define.schema import digest_of
from handrail.core.define.tool import Tool
from handrail.core.tell.events import Event, NeedsApproval, OutputAppended, ToolStarted
from handrail.doors.web.forms.errors import outcome_field_errors
from handrail.doors.web.pages.tools.call_view import CallView, find_call_view
from handrail.doors.web.pages.tools.input_panel import (
    FORM_ID,
    load_picker_options,
    render_form_key,
    render_input,
)
from handrail.doors.web.pages.tools.inputs import (
    KEY,
    Pairs,
    ToolInput,
    input_errors,
    new_form_key,
    posted_pairs,
    posted_value,
    read_input,
)
from handrail.doors.web.pages.tools.lookup import described_tool, requested_tool, tool_url
from handrail.doors.web.pages.tools.page import ToolPageParts, tool_page
from handrail.doors.web.pages.tools.result_panel import (
    CALL,
    may_confirm,
    render_call_state,
    render_outcome_panel,
    render_output_tail,
    render_result_panel,
)
from handrail.doors.web.responses import html
from handrail.doors.web.routing import PageContext, PageNotFound, PageRouter, redirect
from handrail.platform.access import find_call
from handrail.platform.calls import CallRequest
from handrail.platform.display_text import visible
from handrail.platform.events import EventFilter

router = PageRouter()
_WAIT_WITH_SCRIPT = 0.25
"""Seconds in which a call may end before a page shows that it runs."""
_WAIT_WITHOUT_SCRIPT = 2.0
"""The same for a browser without script, which would have to look again."""
_MAX_PIECES = 200
_INVALID = frozenset({"MISSING_PARAM", "INVALID_PARAM"})


@router.post("/tools/{slug}/run")
async def run(ctx: PageContext) -> Response:
    """Run it with what was posted, or with the input of an earlier call."""
    known = await described_tool(ctx)
    tool, pairs = known.tool, await posted_pairs(ctx)
    earlier = posted_value(pairs, CALL)
    given = read_input(tool, pairs) if earlier is None else await _input_of(ctx, tool, earlier, pairs)
    if given.done:
        return await input_panel_response(ctx, known, given)
    errors = input_errors(tool, given)
    if errors or not given.readable:
        return await input_panel_response(ctx, known, given.wrong(errors), status=422)
    return await _run(ctx, known, given)


async def _input_of(ctx: PageContext, tool: Tool, call_id: str, pairs: Pairs) -> ToolInput:
    """The input of an earlier call; secrets are not kept, so they must be typed again."""
    call_view = await find_call_view(ctx, tool, call_id)
    args, _ = drop_paths(dict(call_view.input), tool.secrets)
    return ToolInput(value=args, key=(posted_value(pairs, KEY) or new_form_key())[:100])


async def input_panel_response(
    ctx: PageContext, known: ToolDetails, given: ToolInput, *, status: int = 200, note: h.Node = None
) -> Response:
    """The form again, with everything that was typed."""
    if not ctx.by_htmx:
        return await tool_page(ctx, known, given, ToolPageParts(status=status, note=note))
    headers = {"hx-retarget": f"#{FORM_ID}", "hx-reswap": "outerMorph"}
    if status == 422:
        headers["hx-trigger"] = "handrail:wrong"
    return html(
        render_input(known.tool, given, note, await load_picker_options(ctx, known.tool)),
        status,
        headers=headers,
    )


async def _run(ctx: PageContext, known: ToolDetails, given: ToolInput) -> Response:
    tool = known.tool
    begun = await _find_or_start_call(ctx, tool, given)
    if isinstance(begun, Outcome):
        if begun.code in _INVALID:
            errors = outcome_field_errors(begun) or [FieldError("", begun.result.error or "does not fit")]
            return await input_panel_response(ctx, known, given.wrong(errors), status=422)
        return await _answer(ctx, known, given, render_outcome_panel(tool, begun), None)
    return await _answer(ctx, known, given, render_result_panel(ctx, tool, begun), begun.call_id)


async def _answer(
    ctx: PageContext, known: ToolDetails, given: ToolInput, column: h.Element, call_id: str | None
) -> Response:
    """The column with its result so far; the form that is open gets a new key, so that it can run again."""
    place = tool_url(known.tool) + (f"?call={call_id}" if call_id else "")
    if ctx.by_htmx:
        headers = {"hx-trigger": "handrail:ran", "hx-replace-url": place}
        return html(h.fragment[column, render_form_key(new_form_key(), again=True)], headers=headers)
    if call_id is not None:
        return redirect(f"{place}#result-title")
    return await tool_page(ctx, known, replace(given, key=new_form_key()), ToolPageParts(column=column))


async def _find_or_start_call(ctx: PageContext, tool: Tool, given: ToolInput) -> CallView | Outcome:
    """Begin the call unless it was; how it stands once it is over, or after a moment."""
    call_id = _call_id(ctx, tool, given)
    record = ctx.platform.events
    outcome = None
    if await record.first(ctx.who.tenant, call_id) is None:
        outcome = await _start_call(ctx, tool, given.args, call_id)
    earlier = outcome.result.metadata.get("duplicate_of") if outcome is not None else None
    try:
        return await find_call_view(ctx, tool, earlier if isinstance(earlier, str) else call_id)
    except PageNotFound:
        if outcome is None:
            raise
        return outcome


def _call_id(ctx: PageContext, tool: Tool, given: ToolInput) -> str:
    """One for what one form posts with one input, however often it does."""
    who = ctx.who
    return f"call_{digest_of([who.tenant, who.user, who.agent, tool.id, given.key, given.args])[:32]}"


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
    """How a call stands: the part that changes while it goes on, the whole column once it is over."""
    tool = await requested_tool(ctx)
    call_view = await find_call_view(ctx, tool, ctx.part("call"))
    if not ctx.by_htmx:
        return redirect(f"{tool_url(tool)}?call={call_view.call_id}")
    if call_view.is_open:
        return html(render_call_state(ctx, tool, call_view))
    return html(
        render_result_panel(ctx, tool, call_view),
        headers={"hx-retarget": "#result", "hx-reswap": "outerHTML"},
    )


@router.get("/tools/{slug}/call/{call}/output")
async def output(ctx: PageContext) -> Response:
    """What a call has put out since, and a place for more."""
    tool = await requested_tool(ctx)
    call_id, given = ctx.part("call"), ctx.query.get("after", "0")
    after = int(given) if given.isascii() and given.isdigit() and len(given) < 19 else 0
    call_view = await find_call_view(ctx, tool, call_id)
    record = ctx.platform.events
    first = await record.first(ctx.who.tenant, call_id)
    session = None if first is None else first.session
    wanted = EventFilter(session=session, call_id=call_id, status="chunk")
    found = await record.page(ctx.who.tenant, wanted, seq=after, limit=_MAX_PIECES)
    pieces = [h.span[visible(one.chunk)] for one in found if isinstance(one, OutputAppended)]
    last = found[-1].seq if found else after
    more = render_output_tail(tool, call_view.call_id, last, at_once=len(found) == _MAX_PIECES)
    return html(h.fragment[pieces, more])


@router.post("/tools/{slug}/call/{call}/cancel")
async def cancel(ctx: PageContext) -> Response:
    """Stop a call that runs or waits."""
    tool = await requested_tool(ctx)
    await find_call_view(ctx, tool, ctx.part("call"))
    who = ctx.who
    known = await find_call(ctx.platform, ctx.part("call"), who, "jobs.cancel", ctx.source)
    if known is None:
        raise PageNotFound
    await ctx.hr.cancel(known.id, f"{who.user or 'somebody'} cancelled it", principal=who)
    return await _call_response(ctx, tool, known.id)


@router.post("/tools/{slug}/call/{call}/confirm")
async def confirm(ctx: PageContext) -> Response:
    """Let one's own call run that asked for a confirmation."""
    tool = await requested_tool(ctx)
    call_view = await find_call_view(ctx, tool, ctx.part("call"))
    if call_view.approval is None or not may_confirm(ctx.who, call_view.approval):
        raise PageNotFound
    if call_view.waiting:
        await ctx.hr.approvals.approve(call_view.approval.id, by=ctx.who)
    return await _call_response(ctx, tool, call_view.call_id)


async def _call_response(ctx: PageContext, tool: Tool, call_id: str) -> Response:
    if not ctx.by_htmx:
        return redirect(f"{tool_url(tool)}?call={call_id}")
    return html(render_result_panel(ctx, tool, await find_call_view(ctx, tool, call_id)))
