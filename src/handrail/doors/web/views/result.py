"""A whole result as people read it: a summary line, its parts, its files, then everything as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from htpy import Node, a, code, details, div, li, p, pre, span, strong, summary, ul

from handrail.core.define.json_values import jsonable
from handrail.core.define.names import humanize_field_name
from handrail.core.define.result import Attachment, Result, to_json
from handrail.core.define.tool import Tool
from handrail.core.define.ui_specs import OutputSection
from handrail.core.present.blocks import Block, tool_output_to_blocks
from handrail.doors.web.assets import asset_url
from handrail.doors.web.views.blocks import render_blocks
from handrail.doors.web.views.context import ViewContext
from handrail.doors.web.views.scalars import is_web_url
from handrail.doors.web.views.text import output_block, paragraph, render_markdown, visible_text
from handrail.platform.display_text import visible_json, without_repeated_title

_TEXTS = ("summary", "markdown", "error", "code", "title", "output")


def as_result(given: Result | Mapping[str, Any]) -> Result:
    """The result behind an envelope; anything without `success` is data of a success."""
    if isinstance(given, Result):
        return given
    success = given.get("success")
    if not isinstance(success, bool):
        return Result(data=given)
    texts = {name: given[name] for name in _TEXTS if isinstance(given.get(name), str)}
    metadata = given.get("metadata")
    files = given.get("attachments")
    return Result(
        success=success,
        data=given.get("data"),
        metadata=metadata if isinstance(metadata, Mapping) else {},
        attachments=tuple(filter(None, map(_attachment, files))) if isinstance(files, (list, tuple)) else (),
        **texts,
    )


def _attachment(told: Any) -> Attachment | None:
    if not isinstance(told, Mapping):
        return None
    mime, name, ref = (told.get(one) for one in ("mime", "name", "ref"))
    if not (isinstance(mime, str) and isinstance(name, str) and isinstance(ref, str)):
        return None
    return Attachment(mime, name, ref=ref)


_SIZES = ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB"))


def render_attachments(attachments: Sequence[Attachment], ctx: ViewContext) -> Node:
    """Files beside a result; nothing is fetched until somebody asks for it."""
    if not attachments:
        return None
    return ul(".view-files", aria_label="Files")[
        (
            li[_attachment_name(at, one, ctx), " ", span(".view-quiet")[_attachment_details(one)]]
            for at, one in enumerate(attachments)
        )
    ]


def _attachment_name(at: int, one: Attachment, ctx: ViewContext) -> Node:
    words = visible_text(one.name) if one.name.strip() else "file without a name"
    if ctx.files is not None:
        return a(href=f"{ctx.files}/{at}", download="")[words]
    if one.ref is not None and is_web_url(one.ref):
        return a(href=one.ref, rel="noopener noreferrer nofollow", target="_blank")[words]
    return span[words]


def _attachment_details(one: Attachment) -> Node:
    return [visible_text(one.mime), *([f", {file_size(len(one.data))}"] if one.data is not None else [])]


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
) -> Node:
    """The whole readable result; see `Look` for the addresses, docs/views.md for the sections."""
    told = as_result(result)
    ctx = ViewContext(id, language, downloads, frames, files, asset_url("chart.js"), here, query)
    return div(".view-result", id=id)[
        _summary_line(told),
        None if told.success else _failure(told),
        _body(tool, told, ctx),
        render_attachments(told.attachments, ctx),
        _everything(result, args, ctx),
    ]


def _summary_line(told: Result) -> Node:
    """What happened, in one line."""
    words = told.summary or told.title
    return div(".view-summary")[paragraph(words)] if words else None


def _failure(told: Result) -> Node:
    """Why it failed, in words; the code is folded away for support."""
    words = told.error or "It failed, and did not say why."
    fields = told.metadata.get("fields")
    return div(".view-error.alert-destructive", role="alert")[
        div[strong["Failed. "], None if words == (told.summary or told.title) else paragraph(words)],
        _fields(fields) if fields else None,
        details(".view-fold")[summary["For support"], code[visible_text(told.code)]] if told.code else None,
    ]


def _fields(fields: Any) -> Node:
    pairs = jsonable(fields)
    if not isinstance(pairs, Mapping):
        return pre(".view-json")[visible_json(pairs, indent=2)]
    return ul[
        (
            li[
                strong[visible_text(humanize_field_name(name) or name)],
                ": ",
                visible_text(why if isinstance(why, str) else visible_json(why)),
            ]
            for name, why in pairs.items()
        )
    ]


def _body(tool: ToolOrSections, told: Result, ctx: ViewContext) -> Node:
    """The parts of the data, or what the tool wrote instead."""
    blocks = tool_output_to_blocks(tool, told.data)
    rest = None if told.output is None else without_repeated_title(told.output, told.summary or told.title)
    text = output_block(rest) if rest else None
    markdown = None if told.markdown is None else render_markdown(told.markdown)
    if _are_sections(blocks) or (markdown is None and told.output is None):
        return [
            render_blocks(blocks, ctx),
            _fold("Text for the model", markdown),
            _fold("Output for the model", text),
            p(".view-quiet")["Done."] if told.success and not _has_content(told) else None,
        ]
    return [
        markdown,
        text if markdown is None else _fold("Output for the model", text),
        _fold("Values", render_blocks(blocks, ctx)) if blocks else None,
    ]


def _are_sections(blocks: list[Block]) -> bool:
    """Whether somebody said how the data is to be shown."""
    return any(block.label or block.type != "value" for block in blocks)


def _fold(words: str, node: Node) -> Node:
    return None if node is None else details(".view-fold")[summary[words], node]


def _has_content(told: Result) -> bool:
    texts = (told.summary, told.title, told.markdown, told.output)
    return any(texts) or bool(told.attachments) or told.data is not None


def _everything(given: Result | Mapping[str, Any], args: Mapping[str, Any] | None, ctx: ViewContext) -> Node:
    """The exact envelope, one click away, so that nothing is ever out of reach."""
    told = given.to_dict() if isinstance(given, Result) else given
    return details(".view-fold.view-raw")[
        summary["JSON"],
        None if args is None else _json("Input", args, None),
        _json(None if args is None else "Result", told, ctx.downloads),
        p[a(href=f"{ctx.downloads}.json", download="")["Download JSON"]] if ctx.downloads else None,
    ]


def _json(words: str | None, value: Any, downloads: str | None) -> Node:
    told = jsonable(value)
    heavy = downloads is not None and len(to_json(told)) > MAX_JSON
    return [
        p(".view-note")[words] if words else None,
        p(".view-note")["This is too much for a page: take it as a file."] if heavy else None,
        None if heavy else pre(".view-json", tabindex="0")[visible_json(told, indent=2)],
    ]
