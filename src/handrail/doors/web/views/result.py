"""A whole result as people read it: a summary line, its parts, its files, then everything as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import htpy as h

from handrail.core.define.json_values import jsonable
from handrail.core.define.names import humanize_field_name
from handrail.core.define.result import Attachment, Result, to_json
from handrail.core.define.tool import Tool
from handrail.core.define.ui_specs import OutputSection
from handrail.core.present.blocks import tool_output_to_blocks
from handrail.doors.web.assets import asset_url
from handrail.doors.web.views.blocks import render_blocks
from handrail.doors.web.views.context import ViewContext
from handrail.doors.web.views.scalars import is_web_url
from handrail.doors.web.views.text import note, output_block, paragraph, render_markdown, visible_text
from handrail.platform.display_text import visible_json, without_repeated_title

_TEXTS = ("summary", "markdown", "error", "code", "title", "output")


def as_result(result: Result | Mapping[str, Any]) -> Result:
    """The result behind an envelope; anything without `success` is data of a success."""
    if isinstance(result, Result):
        return result
    success = result.get("success")
    if not isinstance(success, bool):
        return Result(data=result)
    texts = {name: result[name] for name in _TEXTS if isinstance(result.get(name), str)}
    metadata, files = result.get("metadata"), result.get("attachments")
    return Result(
        success=success,
        data=result.get("data"),
        metadata=metadata if isinstance(metadata, Mapping) else {},
        attachments=tuple(filter(None, map(_attachment, files))) if isinstance(files, (list, tuple)) else (),
        **texts,
    )


def _attachment(data: Any) -> Attachment | None:
    match data:
        case {"mime": str(mime), "name": str(name), "ref": str(ref)}:
            return Attachment(mime, name, ref=ref)
    return None


_SIZES = ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB"))


def render_attachments(attachments: Sequence[Attachment], ctx: ViewContext) -> h.Node:
    """Files beside a result; nothing is fetched until somebody asks for it."""
    if not attachments:
        return None
    return h.ul(".view-files", aria_label="Files")[
        (
            h.li[_attachment_name(at, file, ctx), " ", h.span(".view-quiet")[_attachment_details(file)]]
            for at, file in enumerate(attachments)
        )
    ]


def _attachment_name(at: int, file: Attachment, ctx: ViewContext) -> h.Node:
    words = visible_text(file.name) if file.name.strip() else "file without a name"
    if ctx.files is not None:
        return h.a(href=f"{ctx.files}/{at}", download="")[words]
    if file.ref is not None and is_web_url(file.ref):
        return h.a(href=file.ref, rel="noopener noreferrer nofollow", target="_blank")[words]
    return h.span[words]


def _attachment_details(file: Attachment) -> h.Node:
    return [visible_text(file.mime), None if file.data is None else f", {file_size(len(file.data))}"]


def file_size(count: int) -> str:
    """A number of bytes, in the unit that says it shortest."""
    for unit, name in _SIZES:
        if count >= unit:
            return f"{count / unit:.1f}\u00a0{name}"
    return f"{count}\u00a0bytes"


MAX_JSON = 100_000
"""Characters of JSON that a page holds where it can also be downloaded."""
ToolOrSections = Tool | Sequence[OutputSection] | None


def render_result(
    tool: ToolOrSections,
    result: Result | Mapping[str, Any],
    *,
    args: Mapping[str, Any] | None = None,
    id: str,
    downloads: str | None = None,
    frames: str | None = None,
    files: str | None = None,
    here: str = "",
    query: Mapping[str, str] | None = None,
    language: str = "en",
) -> h.Node:
    """The whole readable result; see `ViewContext` for the addresses, docs/views.md for the sections."""
    read = as_result(result)
    ctx = ViewContext(id, language, downloads, frames, files, asset_url("chart.js"), here, query)
    title = read.summary or read.title
    return h.div(".view-result", id=id)[
        h.div(".view-summary")[paragraph(title)] if title else None,
        None if read.success else _failure(read),
        _body(tool, read, ctx),
        render_attachments(read.attachments, ctx),
        _everything(result, args, ctx),
    ]


def _failure(result: Result) -> h.Node:
    """Why it failed, in words; the code is folded away for support."""
    words = result.error or "It failed, and did not say why."
    fields = result.metadata.get("fields")
    return h.div(".view-error.alert-destructive", role="alert")[
        h.div[h.strong["Failed. "], None if words == (result.summary or result.title) else paragraph(words)],
        _fields(fields) if fields else None,
        _fold("For support", h.code[visible_text(result.code)] if result.code else None),
    ]


def _fields(fields: Any) -> h.Node:
    pairs = jsonable(fields)
    if not isinstance(pairs, Mapping):
        return h.pre(".view-json")[visible_json(pairs, indent=2)]
    return h.ul[
        (
            h.li[
                h.strong[visible_text(humanize_field_name(name) or name)],
                ": ",
                visible_text(why if isinstance(why, str) else visible_json(why)),
            ]
            for name, why in pairs.items()
        )
    ]


def _body(tool: ToolOrSections, result: Result, ctx: ViewContext) -> h.Node:
    """The parts of the data, or what the tool wrote instead."""
    blocks = tool_output_to_blocks(tool, result.data)
    title = result.summary or result.title
    output = None if result.output is None else without_repeated_title(result.output, title)
    text = output_block(output) if output else None
    markdown = None if result.markdown is None else render_markdown(result.markdown)
    # A block that is more than the bare value was laid out by somebody.
    are_sections = any(block.label or block.type != "value" for block in blocks)
    if are_sections or (markdown is None and result.output is None):
        has_content = (
            title or result.output or result.markdown or result.attachments or result.data is not None
        )
        return [
            render_blocks(blocks, ctx),
            _fold("Text for the model", markdown),
            _fold("Output for the model", text),
            h.p(".view-quiet")["Done."] if result.success and not has_content else None,
        ]
    return [
        markdown,
        text if markdown is None else _fold("Output for the model", text),
        _fold("Values", render_blocks(blocks, ctx)) if blocks else None,
    ]


def _fold(words: str, node: h.Node) -> h.Node:
    return None if node is None else h.details(".view-fold")[h.summary[words], node]


def _everything(
    result: Result | Mapping[str, Any], args: Mapping[str, Any] | None, ctx: ViewContext
) -> h.Node:
    """The exact envelope, one click away, so that nothing is ever out of reach."""
    envelope = result.to_dict() if isinstance(result, Result) else result
    return h.details(".view-fold.view-raw")[
        h.summary["JSON"],
        None if args is None else _json("Input", args, None),
        _json(None if args is None else "Result", envelope, ctx.downloads),
        h.p[h.a(href=f"{ctx.downloads}.json", download="")["Download JSON"]] if ctx.downloads else None,
    ]


def _json(words: str | None, value: Any, downloads: str | None) -> h.Node:
    data = jsonable(value)
    is_heavy = downloads is not None and len(to_json(data)) > MAX_JSON
    return [
        note(words) if words else None,
        note("This is too much for a page: take it as a file.") if is_heavy else None,
        None if is_heavy else h.pre(".view-json", tabindex="0")[visible_json(data, indent=2)],
    ]
