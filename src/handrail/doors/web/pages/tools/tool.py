"""`/tools/{slug}`: the page of one tool, its form filled in as the address says; and its two faces."""

from __future__ import annotations

from dataclasses import replace

import htpy as h
from starlette.responses import Response

from handrail.core.define.secrecy import without
from handrail.core.define.tool import Tool
from handrail.doors.web.answer import html
from handrail.doors.web.pages.tools.inputs import (
    TOUCHED,
    Face,
    Input,
    faults_of,
    posted,
    read_input,
    touched_only,
)
from handrail.doors.web.pages.tools.jsontext import NotJson
from handrail.doors.web.pages.tools.known import described, tool_here
from handrail.doors.web.pages.tools.link import linked
from handrail.doors.web.pages.tools.panel import draw_fields, draw_input
from handrail.doors.web.pages.tools.picking import options_of
from handrail.doors.web.pages.tools.standing import Standing, run_of, standing
from handrail.doors.web.pages.tools.whole import Shown, saved_of, whole
from handrail.doors.web.routing import NotThere, Pages, Reader

pages = Pages()


@pages.get("/tools/{slug}")
async def show(reader: Reader) -> Response:
    """The page: empty, or filled in by a link, a saved input or an earlier call."""
    known = await described(reader)
    given, note, stands = await _filled(reader, known.tool)
    return await whole(reader, known, given, Shown(stands=stands, note=note))


async def _filled(reader: Reader, tool: Tool) -> tuple[Input, h.Node, Standing | None]:
    query = reader.query
    if query.get("input"):
        try:
            return Input(value=linked(tool, query["input"])), None, None
        except NotJson as error:
            return Input(), h.p(".form-error", role="alert")[str(error)], None
    if query.get("saved"):
        found = next((one for one in await saved_of(reader, tool) if one.name == query["saved"]), None)
        if found is None:
            raise NotThere
        return Input(value=dict(found.args)), h.p(".quiet")[f"Filled in from “{found.name}”."], None
    call_id = query.get("call")
    if call_id is None and query.get("run"):
        call_id = (await run_of(reader, tool, query["run"])).call_id
    if call_id:
        stands = await standing(reader, tool, call_id)
        args, left_out = without(dict(stands.input), tool.secrets)
        note = h.p(".quiet")["Secrets are not kept: type them again."] if left_out else None
        return Input(value=dict(args)), note, stands
    return Input(), None, None


@pages.post("/tools/{slug}/form")
async def turn(reader: Reader) -> Response:
    """The same input by the other face, with everything that was typed."""
    known = await described(reader)
    pairs = await posted(reader)
    given = read_input(known.tool, pairs)
    if not given.done:
        face: Face = "json" if reader.query.get("to") == "json" else "form"
        given = given.turned(face, known.tool.secrets)
    status = 200 if given.readable else 422
    if reader.by_htmx:
        return html(draw_input(known.tool, given, options=await options_of(reader, known.tool)), status)
    return await whole(reader, known, given, Shown(status=status))


@pages.post("/tools/{slug}/check")
async def check(reader: Reader) -> Response:
    """The form with what is wrong at the fields that somebody was at. The page takes only that from it."""
    tool = await tool_here(reader)
    pairs = await posted(reader)
    given = read_input(tool, pairs)
    touched = [one for name, one in pairs if name == TOUCHED and isinstance(one, str)]
    errors = faults_of(tool, given)
    if given.face == "form":
        errors = touched_only(errors, given.value, touched)
    return html(h.fragment[draw_fields(tool, replace(given, errors=errors))])
