"""Running a tool from its page: begun once however often it is posted, watched, cancelled, confirmed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import htpy as h
from starlette.responses import Response

from handrail.core.define.call import FieldError, Outcome
from handrail.core.define.found import Described
from handrail.core.define.schema import digest_of
from handrail.core.define.secrecy import without
from handrail.core.define.tool import Tool
from handrail.core.tell.events import Event, NeedsApproval, OutputAppended, ToolStarted
from handrail.doors.http.calling import Asked
from handrail.doors.http.record import Record, Wanted
from handrail.doors.http.refusing import Refused
from handrail.doors.http.routing import source_of
from handrail.doors.http.whose import known_call
from handrail.doors.visible import visible
from handrail.doors.web.answer import html
from handrail.doors.web.forms.refused import refused_fields
from handrail.doors.web.pages.tools.column import CALL, draw_column, draw_outcome
from handrail.doors.web.pages.tools.inputs import (
    KEY,
    Input,
    Pairs,
    faults_of,
    new_key,
    posted,
    read_input,
    text_under,
)
from handrail.doors.web.pages.tools.known import described, tool_here, url_of
from handrail.doors.web.pages.tools.ongoing import draw_more, draw_state, may_confirm
from handrail.doors.web.pages.tools.panel import FORM, draw_input, draw_key
from handrail.doors.web.pages.tools.picking import options_of
from handrail.doors.web.pages.tools.standing import Standing, standing
from handrail.doors.web.pages.tools.whole import Shown, whole
from handrail.doors.web.routing import NotThere, Pages, Reader, go

pages = Pages()
_QUICK = 0.25
"""Seconds in which a call may end before a page shows that it runs."""
_PATIENT = 2.0
"""The same for a browser without script, which would have to look again."""
_PIECES = 200
_INVALID = frozenset({"MISSING_PARAM", "INVALID_PARAM"})


@pages.post("/tools/{slug}/run")
async def run(reader: Reader) -> Response:
    """Run it with what was posted, or with the input of an earlier call."""
    known = await described(reader)
    tool, pairs = known.tool, await posted(reader)
    earlier = text_under(pairs, CALL)
    given = read_input(tool, pairs) if earlier is None else await _input_of(reader, tool, earlier, pairs)
    if given.done:
        return await answer_panel(reader, known, given)
    errors = faults_of(tool, given)
    if errors or not given.readable:
        return await answer_panel(reader, known, given.wrong(errors), status=422)
    return await _ran(reader, known, given)


async def _input_of(reader: Reader, tool: Tool, call_id: str, pairs: Pairs) -> Input:
    """The input of an earlier call; secrets are not kept, so they must be typed again."""
    stands = await standing(reader, tool, call_id)
    args, _ = without(dict(stands.input), tool.secrets)
    return Input(value=args, key=(text_under(pairs, KEY) or new_key())[:100])


async def answer_panel(
    reader: Reader, known: Described, given: Input, *, status: int = 200, note: h.Node = None
) -> Response:
    """The form again, with everything that was typed."""
    if not reader.by_htmx:
        return await whole(reader, known, given, Shown(status=status, note=note))
    headers = {"hx-retarget": f"#{FORM}", "hx-reswap": "outerMorph"}
    if status == 422:
        headers["hx-trigger"] = "handrail:wrong"
    return html(
        draw_input(known.tool, given, note, await options_of(reader, known.tool)), status, headers=headers
    )


async def _ran(reader: Reader, known: Described, given: Input) -> Response:
    tool = known.tool
    begun = await _begin(reader, tool, given)
    if isinstance(begun, Outcome):
        if begun.code in _INVALID:
            errors = refused_fields(begun) or [FieldError("", begun.result.error or "does not fit")]
            return await answer_panel(reader, known, given.wrong(errors), status=422)
        return await _answer(reader, known, given, draw_outcome(tool, begun), None)
    return await _answer(reader, known, given, draw_column(reader, tool, begun), begun.call_id)


async def _answer(
    reader: Reader, known: Described, given: Input, column: h.Element, call_id: str | None
) -> Response:
    """The column with its result so far; the form that is open gets a new key, so that it can run again."""
    place = url_of(known.tool) + (f"?call={call_id}" if call_id else "")
    if reader.by_htmx:
        headers = {"hx-trigger": "handrail:ran", "hx-replace-url": place}
        return html(h.fragment[column, draw_key(new_key(), again=True)], headers=headers)
    if call_id is not None:
        return go(f"{place}#result-title")
    return await whole(reader, known, replace(given, key=new_key()), Shown(column=column))


async def _begin(reader: Reader, tool: Tool, given: Input) -> Standing | Outcome:
    """Begin the call unless it was; how it stands once it is over, or after a moment."""
    call_id = _call_id(reader, tool, given)
    record = Record(reader.platform)
    outcome = None
    if await record.first(reader.who.tenant, call_id) is None:
        outcome = await _begun(reader, tool, given.args, call_id)
    earlier = outcome.result.metadata.get("duplicate_of") if outcome is not None else None
    try:
        return await standing(reader, tool, earlier if isinstance(earlier, str) else call_id)
    except NotThere:
        if outcome is None:
            raise
        return outcome


def _call_id(reader: Reader, tool: Tool, given: Input) -> str:
    """One for what one form posts with one input, however often it does."""
    who = reader.who
    return f"call_{digest_of([who.tenant, who.user, who.agent, tool.id, given.key, given.args])[:32]}"


async def _begun(reader: Reader, tool: Tool, args: Mapping[str, Any], call_id: str) -> Outcome | None:
    """Start the call and wait until the guard has let it pass, and a moment longer for its end."""
    loop, passed = asyncio.get_running_loop(), asyncio.Event()

    def hear(event: Event) -> None:
        if event.call_id == call_id and isinstance(event, ToolStarted | NeedsApproval):
            loop.call_soon_threadsafe(passed.set)

    stop = reader.hr.subscribe(hear)
    begun = asyncio.ensure_future(passed.wait())
    try:
        asked = Asked(reader.who, source_of(reader.request), tool.id, dict(args), None, None, call_id, "")
        task = reader.web.running.start(reader.platform, asked, call_id)
        await asyncio.wait({task, begun}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({task}, timeout=_QUICK if reader.by_htmx else _PATIENT)
        return task.result() if task.done() else None
    finally:
        begun.cancel()
        stop()


@pages.get("/tools/{slug}/call/{call}")
async def look(reader: Reader) -> Response:
    """How a call stands: the part that changes while it goes on, the whole column once it is over."""
    tool = await tool_here(reader)
    stands = await standing(reader, tool, reader.part("call"))
    if not reader.by_htmx:
        return go(f"{url_of(tool)}?call={stands.call_id}")
    if stands.is_open:
        return html(draw_state(reader, tool, stands))
    return html(
        draw_column(reader, tool, stands), headers={"hx-retarget": "#result", "hx-reswap": "outerHTML"}
    )


@pages.get("/tools/{slug}/call/{call}/output")
async def output(reader: Reader) -> Response:
    """What a call has put out since, and a place for more."""
    tool = await tool_here(reader)
    call_id, given = reader.part("call"), reader.query.get("after", "0")
    after = int(given) if given.isascii() and given.isdigit() and len(given) < 19 else 0
    stands = await standing(reader, tool, call_id)
    record = Record(reader.platform)
    first = await record.first(reader.who.tenant, call_id)
    session = None if first is None else first.session
    wanted = Wanted(session=session, call_id=call_id, status="chunk")
    found = await record.page(reader.who.tenant, wanted, seq=after, limit=_PIECES)
    pieces = [h.span[visible(one.chunk)] for one in found if isinstance(one, OutputAppended)]
    last = found[-1].seq if found else after
    more = draw_more(tool, stands.call_id, last, at_once=len(found) == _PIECES)
    return html(h.fragment[pieces, more])


@pages.post("/tools/{slug}/call/{call}/cancel")
async def cancel(reader: Reader) -> Response:
    """Stop a call that runs or waits."""
    tool = await tool_here(reader)
    await standing(reader, tool, reader.part("call"))
    who = reader.who
    try:
        known = await known_call(
            reader.platform, reader.part("call"), who, "jobs.cancel", source_of(reader.request)
        )
    except Refused:
        raise NotThere from None
    await reader.hr.cancel(known.id, f"{who.user or 'somebody'} cancelled it", principal=who)
    return await _stands_now(reader, tool, known.id)


@pages.post("/tools/{slug}/call/{call}/confirm")
async def confirm(reader: Reader) -> Response:
    """Let one's own call run that asked for a confirmation."""
    tool = await tool_here(reader)
    stands = await standing(reader, tool, reader.part("call"))
    if stands.approval is None or not may_confirm(reader.who, stands.approval):
        raise NotThere
    if stands.waiting:
        await reader.hr.approvals.approve(stands.approval.id, by=reader.who)
    return await _stands_now(reader, tool, stands.call_id)


async def _stands_now(reader: Reader, tool: Tool, call_id: str) -> Response:
    if not reader.by_htmx:
        return go(f"{url_of(tool)}?call={call_id}")
    return html(draw_column(reader, tool, await standing(reader, tool, call_id)))
