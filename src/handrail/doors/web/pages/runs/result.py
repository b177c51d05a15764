"""result: what a run yielded, drawn; as JSON, as a table, and its files."""

from __future__ import annotations

import re
from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.result import Attachment, Result
from handrail.core.define.tool import Tool
from handrail.core.present.blocks import tool_output_to_blocks
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import page
from handrail.doors.web.pages.runs.details import part_or_page
from handrail.doors.web.pages.runs.run_view import RunView, find_run, visible_tool
from handrail.doors.web.routing import PageContext, PageNotFound, PageRouter
from handrail.doors.web.timeline.render import run_url
from handrail.doors.web.views.blocks import custom_frame
from handrail.doors.web.views.result import render_result
from handrail.doors.web.views.table_csv import table_csv
from handrail.platform.display_text import visible_json

router = PageRouter()
_HEADING = h.h2(".sr-only")["Result"]
_VIEW_PARAMETERS = ("sort.", "all.")
"""How parts of an address begin that say how a result is to be drawn."""
_WITHOUT_RESULT = ("cancelled", "refused")
"""Ends of which the story says all there is to say."""
MAX_INLINE = 32_000
"""Characters of a result that stand in the page at once."""
_SAFE_TYPES = re.compile(r"(?:image/(?:png|jpeg|gif|webp)|text/(?:plain|csv)|application/(?:json|pdf|zip))\Z")
_FILE_HEADERS = {
    "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-store",
    "cross-origin-resource-policy": "same-origin",
}


def render_result_part(ctx: PageContext, found: RunView, tool: Tool | None) -> h.Node:
    """The result, or how to get it where it is large."""
    result = result_of_run(found)
    if result is None or (found.status in _WITHOUT_RESULT and result.data is None):
        return None
    shown = large_result_link(result, found.call_id, "run-result") or render_run_result(
        ctx, found, result, tool
    )
    return h.div("#run-result.panel")[_HEADING, shown]


def large_result_link(result: Result, call_id: str, into: str) -> h.Node:
    """How to get a result that is large, into the element of this id; None for one that is not."""
    size = len(visible_json(result.to_dict()))
    if size <= MAX_INLINE:
        return None
    address = f"{run_url(call_id)}/result"
    asks = {"hx-get": address, "hx-target": f"#{into}", "hx-swap": "innerHTML"}
    return [
        h.p[f"The result is large: {size // 1000} kB. "],
        h.a(".btn", asks, href=address, data_variant="outline", data_size="sm")[
            icon("eye"), "Show the result"
        ],
    ]


def result_of_run(found: RunView) -> Result | None:
    """What came of a call that is over, and whose body began or was answered for."""
    if not found.whole or found.outcome is None or found.status == "pending":
        return None
    return found.outcome.result


def render_run_result(ctx: PageContext, found: RunView, result: Result, tool: Tool | None) -> h.Node:
    """The result by its sections; links that sort a table lead to the page of the result."""
    base = run_url(found.call_id)
    return render_result(
        tool,
        result,
        id="out",
        downloads=f"{base}/result",
        frames=f"{base}/frame",
        files=f"{base}/files",
        here=f"{base}/result" if ctx.request.url.path.endswith("/result") else base,
        query={name: value for name, value in ctx.query.items() if name.startswith(_VIEW_PARAMETERS)},
    )


async def _result(ctx: PageContext) -> tuple[RunView, Result]:
    found = await find_run(ctx, ctx.part("id"))
    result = result_of_run(found)
    if result is None:
        raise PageNotFound
    return found, result


@router.get("/runs/{id}/result")
async def show_result(ctx: PageContext) -> Response:
    found, result = await _result(ctx)
    tool = await visible_tool(ctx, found.tool)
    return part_or_page(ctx, found, "Result", h.div[render_run_result(ctx, found, result, tool)])


@router.get("/runs/{id}/result.json")
async def result_json(ctx: PageContext) -> Response:
    found, result = await _result(ctx)
    text = visible_json(result.to_dict(), indent=2)
    return _download(text.encode(), f"{found.call_id}.json", "application/json")


@router.get("/runs/{id}/result.csv")
async def result_csv(ctx: PageContext) -> Response:
    """A table of the result, every row of it."""
    found, result = await _result(ctx)
    text = table_csv(await visible_tool(ctx, found.tool), result, ctx.query.get("section", ""))
    if text is None:
        raise PageNotFound
    return _download(text.encode(), f"{found.call_id}.csv", "text/csv")


@router.get("/runs/{id}/frame/{section:path}")
@router.get("/runs/{id}/frames/{section:path}")
async def result_frame(ctx: PageContext) -> Response:
    """A custom block: a page without an origin, for a frame of ours alone."""
    found, result = await _result(ctx)
    blocks = tool_output_to_blocks(await visible_tool(ctx, found.tool), result.data)
    frame = custom_frame(blocks, ctx.part("section"))
    if frame is None:
        raise PageNotFound
    return Response(frame.html, headers=dict(frame.headers))


@router.get("/runs/{id}/files/{number}")
async def result_file(ctx: PageContext) -> Response:
    """A file of the result: always as a download, never as a page."""
    _, result = await _result(ctx)
    number = ctx.part("number")
    if not (number.isascii() and number.isdigit() and len(number) < 6):
        raise PageNotFound
    if int(number) >= len(result.attachments):
        raise PageNotFound
    one = result.attachments[int(number)]
    content = await _bytes(ctx, one)
    if content is None:
        said = "Files of more than 10 MB, and those that lie elsewhere, are told of and not kept here."
        return page(ctx, "Not kept", h.h1["This file was not kept"], h.p[said], active="runs", status=404)
    return _download(content, one.name, one.mime)


async def _bytes(ctx: PageContext, one: Attachment) -> bytes | None:
    """The content of a file, from the result itself or where the record keeps it."""
    if one.data is not None:
        return one.data
    services, ref = ctx.platform.services, one.ref or ""
    if services is None or not ref.startswith("sha256:"):
        return None
    from handrail.store import blobs

    key, tenant = ref.removeprefix("sha256:"), ctx.who.tenant
    found = await services.db.read(tenant, lambda conn: blobs.get(conn, tenant, [key]))
    return found.get(key)


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
