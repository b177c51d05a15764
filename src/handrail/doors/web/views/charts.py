"""Charts as SVG: bars, lines, areas and radars, with the data one click away."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import htpy as h

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

Series = Sequence[Mapping[str, Any]]
MOST_LABELLED = 12

_FILLED = 0.72
"""How much of its slot a group of bars takes."""


def render_bars(series: Series, plot: Plot, ctx: ViewContext, *, stacked: bool) -> h.Node:
    wide = plot.slot * _FILLED / (1 if stacked else len(series))
    labelled = bool(bar_labels(series, plot, stacked=stacked))
    bars = list(_placed(series, plot, wide, stacked))
    return h.g[
        (_bar(bar, plot, ctx, wide) for bar in bars),
        (_bar_label(bar, plot, wide) for bar in bars) if labelled else None,
    ]


def bar_labels(series: Series, plot: Plot, *, stacked: bool) -> list[list[str]]:
    """The numbers that stand on the bars, by series; none where they would not fit."""
    if stacked or len(plot.labels) * len(series) > MOST_LABELLED:
        return []
    return [["" if value is None else short_number(value) for value in item["values"]] for item in series]


class _Bar(NamedTuple):
    """One bar: of which series, at which label, where along, from which value to which."""

    series: Mapping[str, Any]
    number: int
    at: int
    start: float
    ends: tuple[float, float]

    @property
    def value(self) -> float:
        value: float = self.series["values"][self.at]
        return value


def _placed(series: Series, plot: Plot, wide: float, stacked: bool) -> Iterator[_Bar]:
    for at in range(len(plot.labels)):
        foot = 0.0
        start = plot.along(at) - plot.slot * _FILLED / 2
        for number, item in enumerate(series):
            value = item["values"][at]
            if value is None:
                continue
            place = start if stacked else start + number * wide
            yield _Bar(item, number + 1, at, place, (foot, foot + value))
            foot += value if stacked else 0


def _bar(bar: _Bar, plot: Plot, ctx: ViewContext, wide: float) -> h.Node:
    low, high = sorted(bar.ends)
    top, foot = plot.up(high), plot.up(low)
    return h.rect(
        f".view-mark.view-hue-{bar.number}",
        x=percent(bar.start),
        y=px(top),
        width=percent(wide * 0.96),
        height=px(max(foot - top, 1.0)),
    )[h.title[point_title(plot.labels[bar.at], bar.series, bar.value, ctx)]]


def _bar_label(bar: _Bar, plot: Plot, wide: float) -> h.Node:
    end = plot.up(bar.ends[1])
    place = end - 4 if bar.value >= 0 else end + 12
    return h.text(".view-label", x=percent(bar.start + wide / 2), y=px(place), text_anchor="middle")[
        short_number(bar.value)
    ]


MOST_DOTS = 60
_APART = 14.0
_WIDTH = 1000.0
Segment = list[tuple[int, float]]


def render_lines(series: Series, plot: Plot, ctx: ViewContext, *, area: bool) -> h.Node:
    return [
        h.svg(
            x=f"{LEFT:g}%",
            width=f"{plot.right - LEFT:g}%",
            height=str(HEIGHT),
            viewBox=f"0 0 {_WIDTH:g} {HEIGHT}",
            preserveAspectRatio="none",
        )[
            (
                _line(run, number, plot, area=area)
                for number, item in enumerate(series, 1)
                for run in _segments(item["values"])
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


def _line(run: Segment, number: int, plot: Plot, *, area: bool) -> h.Node:
    last = len(plot.labels) - 1
    places = [(_WIDTH * at / last if last else _WIDTH / 2, plot.up(value)) for at, value in run]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    zero = plot.up(0.0)
    under = f"M{places[0][0]:.1f},{zero:.1f} L{points} L{places[-1][0]:.1f},{zero:.1f} Z"
    stroke = h.polyline(f".view-stroke.view-line-{number}", points=points, vector_effect="non-scaling-stroke")
    return [h.path(f".view-under.view-hue-{number}", d=under) if area else None, stroke]


def _dots(series: Series, plot: Plot, ctx: ViewContext) -> h.Node:
    return h.g[
        (
            h.circle(
                f".view-mark.view-hue-{number}", cx=percent(plot.along(at)), cy=px(plot.up(value)), r="3.5"
            )[h.title[point_title(plot.labels[at], item, value, ctx)]]
            for number, item in enumerate(series, 1)
            for at, value in enumerate(item["values"])
            if value is not None
        )
    ]


def _line_labels(series: Series, plot: Plot) -> h.Node:
    ends = spread_labels([_line_end(item["values"], plot) for item in series])
    return h.g[
        (
            h.text(f".view-label.view-ink-{number}", x=percent(plot.right + 1.5), y=px(end + 4))[
                short_label(item["label"])
            ]
            for number, (item, end) in enumerate(zip(series, ends, strict=True), 1)
        )
    ]


def _line_end(values: Sequence[float | None], plot: Plot) -> float:
    return next((plot.up(value) for value in reversed(values) if value is not None), float(BOTTOM))


def spread_labels(places: Sequence[float]) -> list[float]:
    """Places for names beside line ends, none on top of another."""
    order = sorted(range(len(places)), key=places.__getitem__)
    free, spread = float(TOP), list(places)
    for rank, at in enumerate(order):
        spread[at] = min(max(places[at], free), BOTTOM - _APART * (len(order) - rank - 1))
        free = spread[at] + _APART
    return spread


WIDE, HIGH, RADIUS = 420, 320, 110
RINGS = (0.25, 0.5, 0.75, 1.0)
MOST_AXES = 24


def render_radar(content: Mapping[str, Any], ctx: ViewContext, label: str) -> h.Node:
    """A radar under its label; with more axes than one can tell apart, the data alone."""
    axes, series = content["axes"], content["series"]
    if len(axes) > MOST_AXES:
        return data_details(content["table"], ctx, label)
    low, high = content["min"], content["max"]
    description = "; ".join(
        f"{name} {format_number(value, item, ctx.language)}"
        for item in series
        for name, value in zip(axes, item["values"], strict=True)
        if value is not None
    )
    return h.figure(".view-radar")[
        h.svg(
            viewBox=f"0 0 {WIDE} {HIGH}", role="img", aria_label=one_line(f"Radar, {label}: {description}.")
        )[
            (h.polygon(".view-ring", points=_radar_points([share] * len(axes))) for share in RINGS),
            (_axis(at, len(axes), name) for at, name in enumerate(axes)),
            (_outline(number, item, axes, low, high, ctx) for number, item in enumerate(series, 1)),
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


def _axis(at: int, count: int, name: str) -> h.Node:
    x, y = _radar_point(at, count, 1)
    label_x, label_y = _radar_point(at, count, 1.1)
    anchor = "middle" if abs(label_x - WIDE / 2) < 8 else "start" if label_x > WIDE / 2 else "end"
    words = one_line(name)
    return [
        h.line(".view-line", x1=f"{WIDE / 2:g}", y1=f"{HIGH / 2:g}", x2=f"{x:.1f}", y2=f"{y:.1f}"),
        h.text(".view-tick", x=f"{label_x:.1f}", y=f"{label_y + 4:.1f}", text_anchor=anchor)[
            words if len(words) <= 16 else f"{words[:15]}…", h.title[words]
        ],
    ]


def _outline(
    number: int, item: Mapping[str, Any], axes: Sequence[str], low: float, high: float, ctx: ViewContext
) -> h.Node:
    values = item["values"]
    shares = [0.0 if value is None else (value - low) / (high - low) for value in values]
    places = [_radar_point(at, len(axes), share) for at, share in enumerate(shares)]
    return h.g[
        h.polygon(f".view-under.view-hue-{number}", points=_radar_points(shares)),
        h.polygon(f".view-stroke.view-line-{number}", points=_radar_points(shares), fill="none"),
        (
            h.circle(f".view-mark.view-hue-{number}", cx=f"{x:.1f}", cy=f"{y:.1f}", r="3.5")[
                h.title[point_title(axes[at], item, values[at], ctx)]
            ]
            for at, (x, y) in enumerate(places)
            if values[at] is not None
        ),
    ]


MOST_BARS, MOST_POINTS = 60, 1000
_RIGHT, _RIGHT_BESIDE_NAMES = 99.0, 80.0


def render_chart(content: Mapping[str, Any], ctx: ViewContext, label: str) -> h.Node:
    """A chart under its label."""
    kind, count = content["kind"], len(content["labels"])
    bars, stacked = kind == "bar", content["stacked"] and kind == "bar"
    most = MOST_BARS if bars else MOST_POINTS
    series = [{**item, "values": item["values"][:most]} for item in content["series"]]
    if all(number is None for item in series for number in item["values"]):
        return data_details(content["table"], ctx, label)
    several = len(series) > 1
    plot = Plot(
        _scale(series, from_zero=kind != "line", stacked=stacked),
        content["labels"][:most],
        _RIGHT_BESIDE_NAMES if several and not bars else _RIGHT,
        slotted=bars,
    )
    aria_label = _aria_label(kind, label, plot.labels, series, ctx)
    if bars:
        marks = render_bars(series, plot, ctx, stacked=stacked)
    else:
        marks = render_lines(series, plot, ctx, area=kind == "area")
    drawn = h.figure(".view-chart")[
        legend(series) if several and bars else None,
        h.svg(".view-plot", width="100%", height=str(HEIGHT), role="img", aria_label=aria_label)[
            plot.grid(), marks, plot.names()
        ],
        data_details(content["table"], ctx, label, truncation_note(most, count), content["left_out"]),
    ]
    if ctx.charts is None:
        return drawn
    return h.view_chart(
        data_script=ctx.charts, data_chart=_chart_data(kind, plot, series, ctx, stacked=stacked)
    )[drawn]


def _chart_data(kind: str, plot: Plot, series: Series, ctx: ViewContext, *, stacked: bool) -> str:
    """What the script needs to draw the chart again."""
    lines = [
        {
            "label": one_line(item["label"]),
            "values": item["values"],
            "texts": [
                "" if value is None else format_number(value, item, ctx.language) for value in item["values"]
            ],
        }
        for item in series
    ]
    return visible_json(
        {
            "kind": kind,
            "labels": [short_label(label) for label in plot.labels],
            "series": lines,
            "stacked": stacked,
            "short": bar_labels(series, plot, stacked=stacked) if kind == "bar" else [],
        }
    )


def _scale(series: Series, *, from_zero: bool, stacked: bool) -> Scale:
    if stacked:
        columns = zip(*(item["values"] for item in series), strict=True)
        return scale_for([sum(number or 0 for number in column) for column in columns], from_zero=True)
    numbers = [number for item in series for number in item["values"] if number is not None]
    return scale_for(numbers, from_zero=from_zero)


def _aria_label(kind: str, label: str, labels: Sequence[str], series: Series, ctx: ViewContext) -> str:
    """What somebody hears who does not see the chart."""
    ranges = []
    for item in series:
        points = [(value, at) for at, value in enumerate(item["values"]) if value is not None]
        if points:
            (low, first), (high, last) = min(points), max(points)
            ranges.append(
                f"{item['label']} from {format_number(low, item, ctx.language)} ({labels[first]})"
                f" to {format_number(high, item, ctx.language)} ({labels[last]})"
            )
    return one_line(f"{kind.capitalize()} chart, {label}: {'; '.join(ranges)}.")
