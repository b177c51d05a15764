"""Bars: from zero, side by side or stacked, with their numbers on them where there is room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from htpy import Node, g, rect, text, title

from handrail.doors.web.views.look import Look
from handrail.doors.web.views.naming import point
from handrail.doors.web.views.plot import Plot, pc, px
from handrail.doors.web.views.scale import short

MOST_LABELLED = 12
_FILLED = 0.72
"""How much of its slot a group of bars takes."""


def draw_bars(series: Sequence[Mapping[str, Any]], plot: Plot, look: Look, *, stacked: bool) -> Node:
    wide = plot.slot * _FILLED / (1 if stacked else len(series))
    labelled = bool(numbers_on(series, plot, stacked=stacked))
    bars = list(_placed(series, plot, wide, stacked))
    return g[
        (_bar(one, plot, look, wide) for one in bars),
        (_number(one, plot, wide) for one in bars) if labelled else None,
    ]


def numbers_on(series: Sequence[Mapping[str, Any]], plot: Plot, *, stacked: bool) -> list[list[str]]:
    """The numbers that stand on the bars, by series; none where they would not fit."""
    if stacked or len(plot.labels) * len(series) > MOST_LABELLED:
        return []
    return [["" if value is None else short(value) for value in one["values"]] for one in series]


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


def _bar(bar: _Bar, plot: Plot, look: Look, wide: float) -> Node:
    low, high = sorted(bar.ends)
    top, foot = plot.up(high), plot.up(low)
    return rect(
        f".view-mark.view-hue-{bar.number}",
        x=pc(bar.left),
        y=px(top),
        width=pc(wide * 0.96),
        height=px(max(foot - top, 1.0)),
    )[title[point(plot.labels[bar.at], bar.one, bar.value, look)]]


def _number(bar: _Bar, plot: Plot, wide: float) -> Node:
    end = plot.up(bar.ends[1])
    place = end - 4 if bar.value >= 0 else end + 12
    return text(".view-label", x=pc(bar.left + wide / 2), y=px(place), text_anchor="middle")[short(bar.value)]
