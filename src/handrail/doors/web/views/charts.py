"""Charts as SVG: bars, lines, areas and radars, with the data one click away."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from htpy import Node, circle, figure, g, line, path, polygon, polyline, rect, svg, text, title, view_chart

from handrail.doors.web.views.context import ViewContext
from handrail.doors.web.views.plot import (
    BOTTOM,
    HEIGHT,
    LEFT,
    TOP,
    Plot,
    Scale,
    legend,
    percent,
    point_title,
    px,
    scale_for,
    short_label,
    short_number,
    truncation_note,
)
from handrail.doors.web.views.scalars import format_number
from handrail.doors.web.views.values import data_details
from handrail.platform.display_text import one_line, visible_json

MOST_LABELLED = 12

_FILLED = 0.72
"""How much of its slot a group of bars takes."""


def render_bars(series: Sequence[Mapping[str, Any]], plot: Plot, ctx: ViewContext, *, stacked: bool) -> Node:
    wide = plot.slot * _FILLED / (1 if stacked else len(series))
    labelled = bool(bar_labels(series, plot, stacked=stacked))
    bars = list(_placed(series, plot, wide, stacked))
    return g[
        (_bar(one, plot, ctx, wide) for one in bars),
        (_bar_label(one, plot, wide) for one in bars) if labelled else None,
    ]


def bar_labels(series: Sequence[Mapping[str, Any]], plot: Plot, *, stacked: bool) -> list[list[str]]:
    """The numbers that stand on the bars, by series; none where they would not fit."""
    if stacked or len(plot.labels) * len(series) > MOST_LABELLED:
        return []
    return [["" if value is None else short_number(value) for value in one["values"]] for one in series]


class _Bar:
    """One bar: of which series, where along, from which value to which."""

    __slots__ = ("at", "ends", "left", "number", "one", "value")

    def __init__(
        self, one: Mapping[str, Any], number: int, at: int, left: float, ends: tuple[float, float]
    ) -> None:
        self.one, self.number, self.at, self.left, self.ends = one, number, at, left, ends
        self.value = one["values"][at]


def _placed(series: Sequence[Mapping[str, Any]], plot: Plot, wide: float, stacked: bool) -> Iterator[_Bar]:
    for at in range(len(plot.labels)):
        foot = 0.0
        left = plot.along(at) - plot.slot * _FILLED / 2
        for number, one in enumerate(series):
            value = one["values"][at]
            if value is None:
                continue
            place = left if stacked else left + number * wide
            yield _Bar(one, number + 1, at, place, (foot, foot + value))
            foot += value if stacked else 0


def _bar(bar: _Bar, plot: Plot, ctx: ViewContext, wide: float) -> Node:
    low, high = sorted(bar.ends)
    top, foot = plot.up(high), plot.up(low)
    return rect(
        f".view-mark.view-hue-{bar.number}",
        x=percent(bar.left),
        y=px(top),
        width=percent(wide * 0.96),
        height=px(max(foot - top, 1.0)),
    )[title[point_title(plot.labels[bar.at], bar.one, bar.value, ctx)]]


def _bar_label(bar: _Bar, plot: Plot, wide: float) -> Node:
    end = plot.up(bar.ends[1])
    place = end - 4 if bar.value >= 0 else end + 12
    return text(".view-label", x=percent(bar.left + wide / 2), y=px(place), text_anchor="middle")[
        short_number(bar.value)
    ]


MOST_DOTS = 60
_APART = 14.0
_WIDTH = 1000.0
Series = Sequence[Mapping[str, Any]]
Segment = list[tuple[int, float]]


def render_lines(series: Series, plot: Plot, ctx: ViewContext, *, area: bool) -> Node:
    return [
        svg(
            x=f"{LEFT:g}%",
            width=f"{plot.right - LEFT:g}%",
            height=str(HEIGHT),
            viewBox=f"0 0 {_WIDTH:g} {HEIGHT}",
            preserveAspectRatio="none",
        )[
            (
                _line(run, number, plot, area=area)
                for number, one in enumerate(series, 1)
                for run in _segments(one["values"])
            )
        ],
        _dots(series, plot, ctx) if len(plot.labels) <= MOST_DOTS else None,
        _line_labels(series, plot) if len(series) > 1 else None,
    ]


def _segments(values: Sequence[float | None]) -> Iterator[Segment]:
    """What lies between gaps."""
    run: Segment = []
    for at, value in enumerate(values):
        if value is not None:
            run.append((at, value))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _line(run: Segment, number: int, plot: Plot, *, area: bool) -> Node:
    last = len(plot.labels) - 1
    places = [(_WIDTH * at / last if last else _WIDTH / 2, plot.up(value)) for at, value in run]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    zero = plot.up(0.0)
    under = f"M{places[0][0]:.1f},{zero:.1f} L{points} L{places[-1][0]:.1f},{zero:.1f} Z"
    stroke = polyline(f".view-stroke.view-line-{number}", points=points, vector_effect="non-scaling-stroke")
    return [path(f".view-under.view-hue-{number}", d=under) if area else None, stroke]


def _dots(series: Series, plot: Plot, ctx: ViewContext) -> Node:
    return g[
        (
            circle(
                f".view-mark.view-hue-{number}", cx=percent(plot.along(at)), cy=px(plot.up(value)), r="3.5"
            )[title[point_title(plot.labels[at], one, value, ctx)]]
            for number, one in enumerate(series, 1)
            for at, value in enumerate(one["values"])
            if value is not None
        )
    ]


def _line_labels(series: Series, plot: Plot) -> Node:
    ends = spread_labels([_line_end(one["values"], plot) for one in series])
    return g[
        (
            text(f".view-label.view-ink-{number}", x=percent(plot.right + 1.5), y=px(end + 4))[
                short_label(one["label"])
            ]
            for number, (one, end) in enumerate(zip(series, ends, strict=True), 1)
        )
    ]


def _line_end(values: Sequence[float | None], plot: Plot) -> float:
    return next((plot.up(value) for value in reversed(values) if value is not None), float(BOTTOM))


def spread_labels(places: Sequence[float]) -> list[float]:
    """Places for names beside line ends, none on top of another."""
    order = sorted(range(len(places)), key=places.__getitem__)
    free, found = float(TOP), list(places)
    for rank, at in enumerate(order):
        found[at] = min(max(places[at], free), BOTTOM - _APART * (len(order) - rank - 1))
        free = found[at] + _APART
    return found


WIDE, HIGH, RADIUS = 420, 320, 110
RINGS = (0.25, 0.5, 0.75, 1.0)
MOST_AXES = 24


def render_radar(content: Mapping[str, Any], ctx: ViewContext, label: str) -> Node:
    """A radar under its label; with more axes than one can tell apart, the data alone."""
    axes, series = content["axes"], content["series"]
    if len(axes) > MOST_AXES:
        return data_details(content["table"], ctx, label)
    low, high = content["min"], content["max"]
    said = "; ".join(
        f"{name} {format_number(value, one, ctx.language)}"
        for one in series
        for name, value in zip(axes, one["values"], strict=True)
        if value is not None
    )
    return figure(".view-radar")[
        svg(viewBox=f"0 0 {WIDE} {HIGH}", role="img", aria_label=one_line(f"Radar, {label}: {said}."))[
            (polygon(".view-ring", points=_radar_points([share] * len(axes))) for share in RINGS),
            (_axis(at, len(axes), name) for at, name in enumerate(axes)),
            (_outline(number, one, axes, low, high, ctx) for number, one in enumerate(series)),
        ],
        legend(series) if len(series) > 1 else None,
        data_details(content["table"], ctx, label, None, content["left_out"]),
    ]


def _radar_point(at: int, count: int, share: float) -> tuple[float, float]:
    angle = 2 * math.pi * at / count - math.pi / 2
    return WIDE / 2 + RADIUS * share * math.cos(angle), HIGH / 2 + RADIUS * share * math.sin(angle)


def _radar_points(shares: Sequence[float]) -> str:
    places = (_radar_point(at, len(shares), share) for at, share in enumerate(shares))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _axis(at: int, count: int, name: str) -> Node:
    x, y = _radar_point(at, count, 1)
    label_x, label_y = _radar_point(at, count, 1.1)
    anchor = "middle" if abs(label_x - WIDE / 2) < 8 else "start" if label_x > WIDE / 2 else "end"
    words = one_line(name)
    return [
        line(".view-line", x1=f"{WIDE / 2:g}", y1=f"{HIGH / 2:g}", x2=f"{x:.1f}", y2=f"{y:.1f}"),
        text(".view-tick", x=f"{label_x:.1f}", y=f"{label_y + 4:.1f}", text_anchor=anchor)[
            words if len(words) <= 16 else f"{words[:15]}…", title[words]
        ],
    ]


def _outline(
    number: int, one: Mapping[str, Any], axes: Sequence[str], low: float, high: float, ctx: ViewContext
) -> Node:
    shares = [0.0 if value is None else (value - low) / (high - low) for value in one["values"]]
    return g[
        polygon(f".view-under.view-hue-{number + 1}", points=_radar_points(shares)),
        polygon(f".view-stroke.view-line-{number + 1}", points=_radar_points(shares), fill="none"),
        (
            circle(f".view-mark.view-hue-{number + 1}", cx=f"{x:.1f}", cy=f"{y:.1f}", r="3.5")[
                title[
                    one_line(
                        f"{axes[at]}: {one['label']} {format_number(one['values'][at], one, ctx.language)}"
                    )
                ]
            ]
            for at, (x, y) in enumerate(_radar_point(at, len(axes), share) for at, share in enumerate(shares))
            if one["values"][at] is not None
        ),
    ]


MOST_BARS, MOST_POINTS = 60, 1000
_RIGHT, _RIGHT_BESIDE_NAMES = 99.0, 80.0


def render_chart(content: Mapping[str, Any], ctx: ViewContext, label: str) -> Node:
    """A chart under its label."""
    kind, count = content["kind"], len(content["labels"])
    bars, stacked = kind == "bar", content["stacked"] and kind == "bar"
    most = MOST_BARS if bars else MOST_POINTS
    series = [{**one, "values": one["values"][:most]} for one in content["series"]]
    if all(number is None for one in series for number in one["values"]):
        return data_details(content["table"], ctx, label)
    several = len(series) > 1
    plot = Plot(
        _scale(series, from_zero=kind != "line", stacked=stacked),
        content["labels"][:most],
        _RIGHT_BESIDE_NAMES if several and not bars else _RIGHT,
        slotted=bars,
    )
    said = _aria_label(kind, label, plot.labels, series, ctx)
    if bars:
        marks = render_bars(series, plot, ctx, stacked=stacked)
    else:
        marks = render_lines(series, plot, ctx, area=kind == "area")
    drawn = figure(".view-chart")[
        legend(series) if several and bars else None,
        svg(".view-plot", width="100%", height=str(HEIGHT), role="img", aria_label=said)[
            plot.grid(), marks, plot.names()
        ],
        data_details(content["table"], ctx, label, truncation_note(most, count), content["left_out"]),
    ]
    if ctx.charts is None:
        return drawn
    return view_chart(
        data_script=ctx.charts, data_chart=_chart_data(kind, plot, series, ctx, stacked=stacked)
    )[drawn]


def _chart_data(kind: str, plot: Plot, series: Series, ctx: ViewContext, *, stacked: bool) -> str:
    """What the script needs to draw the chart again."""
    told = [
        {
            "label": one_line(one["label"]),
            "values": one["values"],
            "texts": [
                "" if value is None else format_number(value, one, ctx.language) for value in one["values"]
            ],
        }
        for one in series
    ]
    return visible_json(
        {
            "kind": kind,
            "labels": [short_label(one) for one in plot.labels],
            "series": told,
            "stacked": stacked,
            "short": bar_labels(series, plot, stacked=stacked) if kind == "bar" else [],
        }
    )


def _scale(series: Series, *, from_zero: bool, stacked: bool) -> Scale:
    if stacked:
        columns = zip(*(one["values"] for one in series), strict=True)
        return scale_for([sum(number or 0 for number in column) for column in columns], from_zero=True)
    numbers = [number for one in series for number in one["values"] if number is not None]
    return scale_for(numbers, from_zero=from_zero)


def _aria_label(kind: str, label: str, labels: Sequence[str], series: Series, ctx: ViewContext) -> str:
    """What somebody hears who does not see the chart."""
    told = []
    for one in series:
        known = [(value, at) for at, value in enumerate(one["values"]) if value is not None]
        if known:
            (low, first), (high, last) = min(known), max(known)
            told.append(
                f"{one['label']} from {format_number(low, one, ctx.language)} ({labels[first]})"
                f" to {format_number(high, one, ctx.language)} ({labels[last]})"
            )
    return one_line(f"{kind.capitalize()} chart, {label}: {'; '.join(told)}.")
