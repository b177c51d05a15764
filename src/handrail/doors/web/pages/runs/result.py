"""The result of a run: drawn, as JSON, as a table, and its files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.result import Attachment, Result
from handrail.core.define.tool import Tool
from handrail.core.present.blocks import tool_output_to_blocks
from handrail.doors.web import controls as c
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import page
from handrail.doors.web.live import parse_number
from handrail.doors.web.pages.runs.details import part_or_page
from handrail.doors.web.pages.runs.run_view import RunView, find_run
from handrail.doors.web.router import PageContext, PageNotFound, PageRouter, require
from handrail.doors.web.timeline.render import run_url
from handrail.doors.web.tool_lookup import visible_tool
from handrail.doors.web.views.blocks import custom_frame
from handrail.doors.web.views.result import render_result
from handrail.doors.web.views.table_csv import table_csv
from handrail.platform.display_text import visible_json

router = PageRouter()
_HEADING = h.h2(".sr-only")["Result"]
_VIEW_PARAMETERS = ("sort.", "all.")
_WITHOUT_RESULT = ("cancelled", "refused")
"""Ends of which the timeline says all there is to say."""
MAX_INLINE = 32_000
"""Characters of a result that stand in the page at once."""
_SAFE_TYPES = re.compile(r"(?:image/(?:png|jpeg|gif|webp)|text/(?:plain|csv)|application/(?:json|pdf|zip))\Z")
_FILE_HEADERS = {
    "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-store",
    "cross-origin-resource-policy": "same-origin",
}


def render_result_part(ctx: PageContext, view: RunView, tool: Tool | None) -> h.Node:
    """The result, or how to get it where it is large."""
    result = result_of_run(view)
    if result is None or (view.status in _WITHOUT_RESULT and result.data is None):
        return None
    drawn = large_result_link(result, view.call_id, "run-result") or _result_at(ctx, view, result, tool)
    return h.div("#run-result.panel")[_HEADING, drawn]


def large_result_link(result: Result, call_id: str, into: str) -> h.Node:
    """How to get a result that is large, into the element of this id; None for one that is not."""
    size = len(visible_json(result.to_dict()))
    if size <= MAX_INLINE:
        return None
    address = f"{run_url(call_id)}/result"
    asks = c.get_into(address, f"#{into}", "innerHTML")
    return [
        h.p[f"The result is large: {size // 1000} kB. "],
        c.small_link(address, [icon("eye"), "Show the result"], asks=asks),
    ]


def result_of_run(view: RunView) -> Result | None:
    """What came of a call that is over, and whose body began or was answered for."""
    if not view.is_readable or view.outcome is None or view.status == "pending":
        return None
    return view.outcome.result


def render_call_result(
    tool: Tool | None, result: Result, call_id: str, *, here: str, query: Mapping[str, str], args: Any = None
) -> h.Node:
    """The result of a call by its sections; links that sort a table lead `here`, with the query."""
    url = run_url(call_id)
    return render_result(
        tool,
        result,
        args=args,
        id="out",
        downloads=f"{url}/result",
        frames=f"{url}/frame",
        files=f"{url}/files",
        here=here,
        query=query,
    )


def view_parameters(ctx: PageContext) -> dict[str, str]:
    """The parameters of the address that say how a result is to be drawn."""
    return {name: value for name, value in ctx.query.items() if name.startswith(_VIEW_PARAMETERS)}


def _result_at(ctx: PageContext, view: RunView, result: Result, tool: Tool | None) -> h.Node:
    """The result on the page of the run, or on its own."""
    url = run_url(view.call_id)
    here = f"{url}/result" if ctx.request.url.path.endswith("/result") else url
    return render_call_result(tool, result, view.call_id, here=here, query=view_parameters(ctx))


async def _result(ctx: PageContext) -> tuple[RunView, Result]:
    view = await find_run(ctx)
    return view, require(result_of_run(view))


@router.get("/runs/{id}/result")
async def show_result(ctx: PageContext) -> Response:
    view, result = await _result(ctx)
    tool = await visible_tool(ctx, view.tool)
    return part_or_page(ctx, view, "Result", h.div[_result_at(ctx, view, result, tool)])


@router.get("/runs/{id}/result.json")
async def result_json(ctx: PageContext) -> Response:
    view, result = await _result(ctx)
    text = visible_json(result.to_dict(), indent=2)
    return _download(text.encode(), f"{view.call_id}.json", "application/json")


@router.get("/runs/{id}/result.csv")
async def result_csv(ctx: PageContext) -> Response:
    """A table of the result, every row of it."""
    view, result = await _result(ctx)
    text = table_csv(await visible_tool(ctx, view.tool), result, ctx.query.get("section", ""))
    return _download(require(text).encode(), f"{view.call_id}.csv", "text/csv")


@router.get("/runs/{id}/frame/{section:path}")
@router.get("/runs/{id}/frames/{section:path}")
async def result_frame(ctx: PageContext) -> Response:
    """A custom block: a page without an origin, for a frame of ours alone."""
    view, result = await _result(ctx)
    blocks = tool_output_to_blocks(await visible_tool(ctx, view.tool), result.data)
    frame = require(custom_frame(blocks, ctx.part("section")))
    return Response(frame.html, headers=dict(frame.headers))


@router.get("/runs/{id}/files/{number}")
async def result_file(ctx: PageContext) -> Response:
    """A file of the result: always as a download, never as a page."""
    _, result = await _result(ctx)
    number = require(parse_number(ctx.part("number")))
    if number >= len(result.attachments):
        raise PageNotFound
    attachment = result.attachments[number]
    content = await _bytes(ctx, attachment)
    if content is None:
        text = "Files of more than 10 MB, and those that lie elsewhere, are told of and not kept here."
        return page(ctx, "Not kept", h.h1["This file was not kept"], h.p[text], active="runs", status=404)
    return _download(content, attachment.name, attachment.mime)


async def _bytes(ctx: PageContext, attachment: Attachment) -> bytes | None:
    """The content of a file, from the result itself or from where the record has it."""
    if attachment.data is not None:
        return attachment.data
    ref = attachment.ref or ""
    if not ref.startswith("sha256:"):
        return None
    return await ctx.platform.events.blob(ctx.who.tenant, ref.removeprefix("sha256:"))


def _download(content: bytes, name: str, mime: str) -> Response:
    kind = mime if _SAFE_TYPES.match(mime) else "application/octet-stream"
    return Response(
        content, headers={**_FILE_HEADERS, "content-disposition": content_disposition(name)}, media_type=kind
    )


def content_disposition(name: str) -> str:
    """A download under a name that is nothing but a name, whatever was written there."""
    flat = re.sub(r"[/\\:\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]", "_", name)
    flat = flat.encode("utf-8", "replace").decode().strip(" .")[:120] or "file"
    plain = re.sub(r"[^A-Za-z0-9._ -]", "_", flat)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(flat, safe='')}"
