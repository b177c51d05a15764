"""A radar: one axis for each label, one outline for each series, numbers in the data below."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from htpy import Node, circle, figure, g, line, polygon, svg, text, title

from handrail.doors.visible import one_line
from handrail.doors.web.views.figures import written
from handrail.doors.web.views.look import Look
from handrail.doors.web.views.naming import names_row
from handrail.doors.web.views.values import data_below

WIDE, HIGH, RADIUS = 420, 320, 110
RINGS = (0.25, 0.5, 0.75, 1.0)
MOST_AXES = 24


def draw_radar(content: Mapping[str, Any], look: Look, label: str) -> Node:
    """A radar under its label; with more axes than one can tell apart, the data alone."""
    axes, series = content["axes"], content["series"]
    if len(axes) > MOST_AXES:
        return data_below(content["table"], look, label)
    low, high = content["min"], content["max"]
    said = "; ".join(
        f"{name} {written(value, one, look.language)}"
        for one in series
        for name, value in zip(axes, one["values"], strict=True)
        if value is not None
    )
    return figure(".view-radar")[
        svg(viewBox=f"0 0 {WIDE} {HIGH}", role="img", aria_label=one_line(f"Radar, {label}: {said}."))[
            (polygon(".view-ring", points=_points([share] * len(axes))) for share in RINGS),
            (_axis(at, len(axes), name) for at, name in enumerate(axes)),
            (_outline(number, one, axes, low, high, look) for number, one in enumerate(series)),
        ],
        names_row(series) if len(series) > 1 else None,
        data_below(content["table"], look, label, None, content["left_out"]),
    ]


def _place(at: int, count: int, share: float) -> tuple[float, float]:
    angle = 2 * math.pi * at / count - math.pi / 2
    return WIDE / 2 + RADIUS * share * math.cos(angle), HIGH / 2 + RADIUS * share * math.sin(angle)


def _points(shares: Sequence[float]) -> str:
    places = (_place(at, len(shares), share) for at, share in enumerate(shares))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _axis(at: int, count: int, name: str) -> Node:
    x, y = _place(at, count, 1)
    label_x, label_y = _place(at, count, 1.1)
    anchor = "middle" if abs(label_x - WIDE / 2) < 8 else "start" if label_x > WIDE / 2 else "end"
    words = one_line(name)
    return [
        line(".view-line", x1=f"{WIDE / 2:g}", y1=f"{HIGH / 2:g}", x2=f"{x:.1f}", y2=f"{y:.1f}"),
        text(".view-tick", x=f"{label_x:.1f}", y=f"{label_y + 4:.1f}", text_anchor=anchor)[
            words if len(words) <= 16 else f"{words[:15]}…", title[words]
        ],
    ]


def _outline(
    number: int, one: Mapping[str, Any], axes: Sequence[str], low: float, high: float, look: Look
) -> Node:
    shares = [0.0 if value is None else (value - low) / (high - low) for value in one["values"]]
    return g[
        polygon(f".view-under.view-hue-{number + 1}", points=_points(shares)),
        polygon(f".view-stroke.view-line-{number + 1}", points=_points(shares), fill="none"),
        (
            circle(f".view-mark.view-hue-{number + 1}", cx=f"{x:.1f}", cy=f"{y:.1f}", r="3.5")[
                title[
                    one_line(f"{axes[at]}: {one['label']} {written(one['values'][at], one, look.language)}")
                ]
            ]
            for at, (x, y) in enumerate(_place(at, len(axes), share) for at, share in enumerate(shares))
            if one["values"][at] is not None
        ),
    ]
