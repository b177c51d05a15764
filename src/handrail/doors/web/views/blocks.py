"""Blocks on a page: summaries, rankings, custom HTML in a sandboxed frame; a renderer for each type."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import htpy as h

from handrail.core.define.json_values import jsonable
from handrail.core.present.blocks import Block
from handrail.doors.web.views.charts import render_chart, render_radar
from handrail.doors.web.views.context import ViewContext, url_quote
from handrail.doors.web.views.plot import truncation_note
from handrail.doors.web.views.scalars import render_scalar
from handrail.doors.web.views.text import (
    folded_text,
    is_long,
    muted,
    note,
    paragraph,
    render_markdown,
    visible_text,
)
from handrail.doors.web.views.values import data_details, render_plain, render_rows
from handrail.platform.display_text import one_line


def render_summary(content: Mapping[str, Any], ctx: ViewContext, label: str) -> h.Node:
    """Figures, or a paragraph."""
    if "text" in content:
        return render_markdown(content["text"])
    return [
        h.dl(".view-figures")[(_figure(figure, ctx, label) for figure in content["figures"])],
        render_plain(content["more"], ctx.inside("more")) if content.get("more") else None,
    ]


def _figure(figure: Mapping[str, Any], ctx: ViewContext, label: str) -> h.Node:
    value = figure["value"]
    wide = isinstance(value, str) and (len(value) > 40 or is_long(value))
    nested = isinstance(value, (list, Mapping))
    return h.div(class_=["view-figure", wide and "view-figure-wide"])[
        h.dt[visible_text(figure["label"] or label)],
        h.dd[render_plain(value, ctx) if nested else render_scalar(value, figure, ctx)],
    ]


MAX_RANKED = 100
"""Items that are drawn; all of them are in the data below."""


def render_ranking(content: Mapping[str, Any], ctx: ViewContext, label: str) -> h.Node:
    """Ordered bars, and the data one click away."""
    items = content["items"]
    numbers = [item["value"] for item in items if item["value"] is not None]
    low, high = min([0, *numbers]), max([0, content.get("max", 0), *numbers])
    return [
        h.ol(".view-ranking")[(_ranked_item(item, low, high, content, ctx) for item in items[:MAX_RANKED])],
        data_details(content["table"], ctx, label, truncation_note(MAX_RANKED, len(items))),
    ]


def _ranked_item(
    item: Mapping[str, Any], low: float, high: float, how: Mapping[str, Any], ctx: ViewContext
) -> h.Node:
    value, label, about = item["value"], item["label"], item.get("note")
    words = paragraph(about) if isinstance(about, str) else render_plain(about, ctx)
    return h.li[
        h.div(".view-rank-line")[
            h.span(".view-rank-label")[visible_text(label) if label.strip() else muted("no name")],
            h.span(".view-rank-value")[render_scalar(value, how, ctx)],
        ],
        None if value is None else _ranking_bar(value, low, high),
        None if about is None else h.div(".view-note")[words],
    ]


def _ranking_bar(value: float, low: float, high: float) -> h.Node:
    """From zero to the value, on a scale that holds all values."""
    length = (high - low) or 1
    start, end = sorted(((0 - low) / length, (value - low) / length))
    return h.svg(".view-bar", width="100%", height="8", aria_hidden="true", focusable="false")[
        h.rect(".view-track", width="100%", height="8", rx="2"),
        h.rect(".view-mark.view-hue-1", x=_percent(start), width=_percent(end - start), height="8", rx="2"),
    ]


def _percent(share: float) -> str:
    return f"{min(max(share, 0.0), 1.0) * 100:.2f}%"


_FRAME_POLICY = "default-src 'none'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class CustomFrame:
    """What the address of a custom block answers."""

    html: str
    headers: Mapping[str, str]


def custom_frame(blocks: list[Block], section: str, *, ancestors: str = "'self'") -> CustomFrame | None:
    """The page of a custom block; None where the result has no such block.

    `blocks` are those of `tool_output_to_blocks`; `ancestors` says which pages may hold the frame.
    """
    block = next((block for block in blocks if block.type == "custom" and block.key == section), None)
    if block is None:
        return None
    scripts = block.content["scripts"]
    allowed = "style-src 'unsafe-inline'" + ("; script-src 'unsafe-inline'" if scripts else "")
    sandbox = "sandbox allow-scripts" if scripts else "sandbox"
    return CustomFrame(
        _html_document(block.content["html"]),
        {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Security-Policy": f"{_FRAME_POLICY}; {allowed}; frame-ancestors {ancestors}; {sandbox}",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "private, no-store",
        },
    )


def _html_document(html: str) -> str:
    """A document; halves of surrogate pairs can not be sent."""
    text = html.encode("utf-8", "replace").decode()
    return text if text.lstrip()[:9].lower() == "<!doctype" else f"<!doctype html><meta charset=utf-8>{text}"


def render_custom(key: str, content: Mapping[str, Any], ctx: ViewContext, label: str) -> h.Node:
    """The frame, where there is an address for it; otherwise the HTML as text."""
    if ctx.frames is None:
        return h.div[
            note("This part is a page of its own, which is not to be had here."), folded_text(content["html"])
        ]
    return h.iframe(
        ".view-frame",
        src=f"{ctx.frames}/{url_quote(key)}",
        sandbox="allow-scripts" if content["scripts"] else "",
        title=one_line(label) or "Part of the result",
        height=str(content["height"]),
        width="100%",
        loading="lazy",
        referrerpolicy="no-referrer",
    )


_log = logging.getLogger("handrail.views")
Renderer = Callable[[Block, ViewContext], h.Node]

RENDERERS: Mapping[str, Renderer] = {
    "summary": lambda block, ctx: render_summary(block.content, ctx, block.label),
    "table": lambda block, ctx: render_rows(block.key, block.content, ctx, 0, block.label),
    "chart": lambda block, ctx: render_chart(block.content, ctx, block.label),
    "radar": lambda block, ctx: render_radar(block.content, ctx, block.label),
    "ranking": lambda block, ctx: render_ranking(block.content, ctx, block.label),
    "custom": lambda block, ctx: render_custom(block.key, block.content, ctx, block.label),
    "value": lambda block, ctx: render_plain(block.content["value"], ctx),
}


def render_blocks(blocks: Sequence[Block], ctx: ViewContext) -> h.Node:
    """Blocks one under the other; one whose content does not fit its type is shown as it is."""
    return [_render_safely(block, ctx.inside(at)) for at, block in enumerate(blocks)]


def _render_safely(block: Block, ctx: ViewContext) -> h.Node:
    try:
        return str(h.fragment[render_block(block, ctx)])
    except Exception:  # the content of an author's own block can have any shape
        _log.exception("the block %r could not be drawn; it is shown as it is", block.key)
        return render_block(Block("value", block.key, block.label, {"value": jsonable(block.content)}), ctx)


def render_block(block: Block, ctx: ViewContext) -> h.Node:
    """One block under its heading."""
    return h.section(".view-section", id=ctx.id)[
        h.h3(".view-heading")[visible_text(block.label)] if block.label else None,
        RENDERERS[block.type](block, ctx.inside("part")),
    ]
