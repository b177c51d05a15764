"""result: what a run yielded, drawn; as JSON, as a table, and its files."""

from __future__ import annotations

import re
from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.blocks import tool_output_to_blocks
from handrail.core.define.result import Attachment, Result
from handrail.core.define.tool import Tool
from handrail.doors.visible import exact
from handrail.doors.web.frame import page
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.runs.around import part_or_page
from handrail.doors.web.pages.runs.finding import Seen, seen, shown_tool
from handrail.doors.web.routing import NotThere, Pages, Reader
from handrail.doors.web.story.drawing import run_url
from handrail.doors.web.views.custom import custom_frame
from handrail.doors.web.views.result import draw_result
from handrail.doors.web.views.table_csv import table_csv

pages = Pages()
_HEADING = h.h2(".sr-only")["Result"]
_DRAWN = ("sort.", "all.")
"""How parts of an address begin that say how a result is to be drawn."""
_UNMADE = ("cancelled", "refused")
"""Ends of which the story says all there is to say."""
LARGE = 32_000
"""Characters of a result that stand in the page at once."""
_PLAIN = re.compile(r"(?:image/(?:png|jpeg|gif|webp)|text/(?:plain|csv)|application/(?:json|pdf|zip))\Z")
_ALONE = {
    "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-store",
    "cross-origin-resource-policy": "same-origin",
}


def result_part(reader: Reader, found: Seen, tool: Tool | None) -> h.Node:
    """The result, or how to get it where it is large."""
    result = result_of(found)
    if result is None or (found.status in _UNMADE and result.data is None):
        return None
    shown = on_request(result, found.call_id, "run-result") or drawn(reader, found, result, tool)
    return h.div("#run-result.panel")[_HEADING, shown]


def on_request(result: Result, call_id: str, into: str) -> h.Node:
    """How to get a result that is large, into the element of this id; None for one that is not."""
    size = len(exact(result.to_dict()))
    if size <= LARGE:
        return None
    address = f"{run_url(call_id)}/result"
    asks = {"hx-get": address, "hx-target": f"#{into}", "hx-swap": "innerHTML"}
    return [
        h.p[f"The result is large: {size // 1000} kB. "],
        h.a(".btn", asks, href=address, data_variant="outline", data_size="sm")[
            icon("eye"), "Show the result"
        ],
    ]


def result_of(found: Seen) -> Result | None:
    """What came of a call that is over, and whose body began or was answered for."""
    if not found.whole or found.outcome is None or found.status == "pending":
        return None
    return found.outcome.result


def drawn(reader: Reader, found: Seen, result: Result, tool: Tool | None) -> h.Node:
    """The result by its sections; links that sort a table lead to the page of the result."""
    base = run_url(found.call_id)
    return draw_result(
        tool,
        result,
        id="out",
        downloads=f"{base}/result",
        frames=f"{base}/frame",
        files=f"{base}/files",
        here=f"{base}/result" if reader.request.url.path.endswith("/result") else base,
        query={name: value for name, value in reader.query.items() if name.startswith(_DRAWN)},
    )


async def _result(reader: Reader) -> tuple[Seen, Result]:
    found = await seen(reader, reader.part("id"))
    result = result_of(found)
    if result is None:
        raise NotThere
    return found, result


@pages.get("/runs/{id}/result")
async def show_result(reader: Reader) -> Response:
    found, result = await _result(reader)
    tool = await shown_tool(reader, found.tool)
    return part_or_page(reader, found, "Result", h.div[drawn(reader, found, result, tool)])


@pages.get("/runs/{id}/result.json")
async def result_json(reader: Reader) -> Response:
    found, result = await _result(reader)
    text = exact(result.to_dict(), indent=2)
    return _download(text.encode(), f"{found.call_id}.json", "application/json")


@pages.get("/runs/{id}/result.csv")
async def result_csv(reader: Reader) -> Response:
    """A table of the result, every row of it."""
    found, result = await _result(reader)
    text = table_csv(await shown_tool(reader, found.tool), result, reader.query.get("section", ""))
    if text is None:
        raise NotThere
    return _download(text.encode(), f"{found.call_id}.csv", "text/csv")


@pages.get("/runs/{id}/frame/{section:path}")
@pages.get("/runs/{id}/frames/{section:path}")
async def result_frame(reader: Reader) -> Response:
    """A custom block: a page without an origin, for a frame of ours alone."""
    found, result = await _result(reader)
    blocks = tool_output_to_blocks(await shown_tool(reader, found.tool), result.data)
    frame = custom_frame(blocks, reader.part("section"))
    if frame is None:
        raise NotThere
    return Response(frame.html, headers=dict(frame.headers))


@pages.get("/runs/{id}/files/{number}")
async def result_file(reader: Reader) -> Response:
    """A file of the result: always as a download, never as a page."""
    _, result = await _result(reader)
    number = reader.part("number")
    if not (number.isascii() and number.isdigit() and len(number) < 6):
        raise NotThere
    if int(number) >= len(result.attachments):
        raise NotThere
    one = result.attachments[int(number)]
    content = await _bytes(reader, one)
    if content is None:
        said = "Files of more than 10 MB, and those that lie elsewhere, are told of and not kept here."
        return page(reader, "Not kept", h.h1["This file was not kept"], h.p[said], active="runs", status=404)
    return _download(content, one.name, one.mime)


async def _bytes(reader: Reader, one: Attachment) -> bytes | None:
    """The content of a file, from the result itself or where the record keeps it."""
    if one.data is not None:
        return one.data
    offices, ref = reader.platform.offices, one.ref or ""
    if offices is None or not ref.startswith("sha256:"):
        return None
    from handrail.store import blobs

    key, tenant = ref.removeprefix("sha256:"), reader.who.tenant
    found = await offices.db.read(tenant, lambda conn: blobs.get(conn, tenant, [key]))
    return found.get(key)


def _download(content: bytes, name: str, mime: str) -> Response:
    kind = mime if _PLAIN.match(mime) else "application/octet-stream"
    return Response(content, headers={**_ALONE, "content-disposition": disposition(name)}, media_type=kind)


def disposition(name: str) -> str:
    """A download under a name that is nothing but a name, whatever was written there."""
    flat = re.sub(r"[/\\:\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]", "_", name)
    flat = flat.encode("utf-8", "replace").decode().strip(" .")[:120] or "file"
    plain = re.sub(r"[^A-Za-z0-9._ -]", "_", flat)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(flat, safe='')}"
