"""Charts: bars, lines and areas as SVG that stays sharp at any width, with the data one click away.

Colours come from classes alone: `view-hue-1` and so on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from htpy import Node, figure, svg, view_chart

from handrail.doors.visible import exact, one_line
from handrail.doors.web.views.bars import draw_bars, numbers_on
from handrail.doors.web.views.figures import written
from handrail.doors.web.views.lines import draw_lines
from handrail.doors.web.views.look import Look
from handrail.doors.web.views.naming import brief, drawn_of, names_row
from handrail.doors.web.views.plot import HEIGHT, Plot
from handrail.doors.web.views.scale import Scale, scale_for
from handrail.doors.web.views.values import data_below

MOST_BARS, MOST_POINTS = 60, 1000
_RIGHT, _RIGHT_BESIDE_NAMES = 99.0, 80.0

Series = Sequence[Mapping[str, Any]]


def draw_chart(content: Mapping[str, Any], look: Look, label: str) -> Node:
    """A chart under its label."""
    kind, count = content["kind"], len(content["labels"])
    bars, stacked = kind == "bar", content["stacked"] and kind == "bar"
    most = MOST_BARS if bars else MOST_POINTS
    series = [{**one, "values": one["values"][:most]} for one in content["series"]]
    if all(number is None for one in series for number in one["values"]):
        return data_below(content["table"], look, label)
    several = len(series) > 1
    plot = Plot(
        _scale(series, from_zero=kind != "line", stacked=stacked),
        content["labels"][:most],
        _RIGHT_BESIDE_NAMES if several and not bars else _RIGHT,
        slotted=bars,
    )
    said = _said(kind, label, plot.labels, series, look)
    if bars:
        marks = draw_bars(series, plot, look, stacked=stacked)
    else:
        marks = draw_lines(series, plot, look, area=kind == "area")
    drawn = figure(".view-chart")[
        names_row(series) if several and bars else None,
        svg(".view-plot", width="100%", height=str(HEIGHT), role="img", aria_label=said)[
            plot.grid(), marks, plot.names()
        ],
        data_below(content["table"], look, label, drawn_of(most, count), content["left_out"]),
    ]
    if look.charts is None:
        return drawn
    return view_chart(data_script=look.charts, data_chart=_told(kind, plot, series, look, stacked=stacked))[
        drawn
    ]


def _told(kind: str, plot: Plot, series: Series, look: Look, *, stacked: bool) -> str:
    """What the script needs to draw the chart again."""
    told = [
        {
            "label": one_line(one["label"]),
            "values": one["values"],
            "texts": ["" if value is None else written(value, one, look.language) for value in one["values"]],
        }
        for one in series
    ]
    return exact(
        {
            "kind": kind,
            "labels": [brief(one) for one in plot.labels],
            "series": told,
            "stacked": stacked,
            "short": numbers_on(series, plot, stacked=stacked) if kind == "bar" else [],
        }
    )


def _scale(series: Series, *, from_zero: bool, stacked: bool) -> Scale:
    if stacked:
        columns = zip(*(one["values"] for one in series), strict=True)
        return scale_for([sum(number or 0 for number in column) for column in columns], from_zero=True)
    numbers = [number for one in series for number in one["values"] if number is not None]
    return scale_for(numbers, from_zero=from_zero)


def _said(kind: str, label: str, labels: Sequence[str], series: Series, look: Look) -> str:
    """What somebody hears who does not see the chart."""
    told = []
    for one in series:
        known = [(value, at) for at, value in enumerate(one["values"]) if value is not None]
        if known:
            (low, first), (high, last) = min(known), max(known)
            told.append(
                f"{one['label']} from {written(low, one, look.language)} ({labels[first]})"
                f" to {written(high, one, look.language)} ({labels[last]})"
            )
    return one_line(f"{kind.capitalize()} chart, {label}: {'; '.join(told)}.")
