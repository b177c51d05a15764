"""A ranking: items in order, each with a bar from zero and its number written beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from htpy import Node, div, li, ol, rect, span, svg

from handrail.doors.web.views.figures import figure
from handrail.doors.web.views.look import Look
from handrail.doors.web.views.naming import drawn_of
from handrail.doors.web.views.text import paragraph, quiet, shown
from handrail.doors.web.views.values import data_below, laid_out

MOST = 100
"""Items that are drawn; all of them are in the data below."""


def draw_ranking(content: Mapping[str, Any], look: Look, label: str) -> Node:
    """Ordered bars, and the data one click away."""
    items = content["items"]
    numbers = [one["value"] for one in items if one["value"] is not None]
    low, high = min([0, *numbers]), max([0, content.get("max", 0), *numbers])
    return [
        ol(".view-ranking")[(_item(one, low, high, content, look) for one in items[:MOST])],
        data_below(content["table"], look, label, drawn_of(MOST, len(items))),
    ]


def _item(one: Mapping[str, Any], low: float, high: float, how: Mapping[str, Any], look: Look) -> Node:
    value = one["value"]
    return li[
        div(".view-rank-line")[
            span(".view-rank-label")[shown(one["label"]) if one["label"].strip() else quiet("no name")],
            span(".view-rank-value")[figure(value, how, look)],
        ],
        None if value is None else _bar(value, low, high),
        div(".view-note")[_note(one["note"], look)] if one.get("note") is not None else None,
    ]


def _note(note: Any, look: Look) -> Node:
    return paragraph(note) if isinstance(note, str) else laid_out(note, look)


def _bar(value: float, low: float, high: float) -> Node:
    """From zero to the value, on a scale that holds all values."""
    span_ = (high - low) or 1
    start, end = sorted(((0 - low) / span_, (value - low) / span_))
    return svg(".view-bar", width="100%", height="8", aria_hidden="true", focusable="false")[
        rect(".view-track", width="100%", height="8", rx="2"),
        rect(".view-mark.view-hue-1", x=_percent(start), width=_percent(end - start), height="8", rx="2"),
    ]


def _percent(share: float) -> str:
    return f"{min(max(share, 0.0), 1.0) * 100:.2f}%"
