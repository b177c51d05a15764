"""A whole result as people read it: what happened in a line, then its parts, then everything as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from htpy import Node, a, code, details, div, li, p, pre, strong, summary, ul

from handrail.core.define.blocks import Block, tool_output_to_blocks
from handrail.core.define.names import humanize_field_name
from handrail.core.define.plain import plain
from handrail.core.define.result import Result, to_json
from handrail.core.define.sections import OutputSection
from handrail.core.define.tool import Tool
from handrail.doors.unsaid import unsaid
from handrail.doors.visible import exact
from handrail.doors.web.assets import asset_url
from handrail.doors.web.views.attachments import draw_attachments
from handrail.doors.web.views.diff import block_of_output
from handrail.doors.web.views.look import Look
from handrail.doors.web.views.markdown import rendered
from handrail.doors.web.views.reading import result_of
from handrail.doors.web.views.sections import draw_blocks
from handrail.doors.web.views.text import paragraph, shown

HEAVY = 100_000
"""Characters of JSON that a page holds where it can also be downloaded."""

Shown = Tool | Sequence[OutputSection] | None


def draw_result(
    tool: Shown,
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
    told = result_of(result)
    look = Look(id, language, downloads, frames, files, asset_url("chart.js"), here, query)
    return div(".view-result", id=id)[
        _line(told),
        None if told.success else _failure(told),
        _body(tool, told, look),
        draw_attachments(told.attachments, look),
        _everything(result, args, look),
    ]


def _line(told: Result) -> Node:
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
        details(".view-fold")[summary["For support"], code[shown(told.code)]] if told.code else None,
    ]


def _fields(fields: Any) -> Node:
    pairs = plain(fields)
    if not isinstance(pairs, Mapping):
        return pre(".view-json")[exact(pairs, indent=2)]
    return ul[
        (
            li[
                strong[shown(humanize_field_name(name) or name)],
                ": ",
                shown(why if isinstance(why, str) else exact(why)),
            ]
            for name, why in pairs.items()
        )
    ]


def _body(tool: Shown, told: Result, look: Look) -> Node:
    """The parts of the data, or what the tool wrote instead."""
    blocks = tool_output_to_blocks(tool, told.data)
    rest = None if told.output is None else unsaid(told.output, told.summary or told.title)
    text = block_of_output(rest) if rest else None
    markdown = None if told.markdown is None else rendered(told.markdown)
    if _are_sections(blocks) or (markdown is None and told.output is None):
        return [
            draw_blocks(blocks, look),
            _fold("Text for the model", markdown),
            _fold("Output for the model", text),
            p(".view-quiet")["Done."] if told.success and not _says_anything(told) else None,
        ]
    return [
        markdown,
        text if markdown is None else _fold("Output for the model", text),
        _fold("Values", draw_blocks(blocks, look)) if blocks else None,
    ]


def _are_sections(blocks: list[Block]) -> bool:
    """Whether somebody said how the data is to be shown."""
    return any(block.label or block.type != "value" for block in blocks)


def _fold(words: str, node: Node) -> Node:
    return None if node is None else details(".view-fold")[summary[words], node]


def _says_anything(told: Result) -> bool:
    texts = (told.summary, told.title, told.markdown, told.output)
    return any(texts) or bool(told.attachments) or told.data is not None


def _everything(given: Result | Mapping[str, Any], args: Mapping[str, Any] | None, look: Look) -> Node:
    """The exact envelope, one click away, so that nothing is ever out of reach."""
    told = given.to_dict() if isinstance(given, Result) else given
    return details(".view-fold.view-raw")[
        summary["JSON"],
        None if args is None else _json("Input", args, None),
        _json(None if args is None else "Result", told, look.downloads),
        p[a(href=f"{look.downloads}.json", download="")["Download JSON"]] if look.downloads else None,
    ]


def _json(words: str | None, value: Any, downloads: str | None) -> Node:
    told = plain(value)
    heavy = downloads is not None and len(to_json(told)) > HEAVY
    return [
        p(".view-note")[words] if words else None,
        p(".view-note")["This is too much for a page: take it as a file."] if heavy else None,
        None if heavy else pre(".view-json", tabindex="0")[exact(told, indent=2)],
    ]
