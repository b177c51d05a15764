"""The plot of a chart: scales, axes, labels, and where things stand in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import htpy as h

from handrail.doors.web.views.context import ViewContext
from handrail.doors.web.views.scalars import format_number
from handrail.platform.display_text import one_line

_STEPS = (1, 2, 2.5, 5, 10)
_WANTED_TICKS = 4
_SHORT = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` to `high`, with round numbers on it."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def share(self, value: float) -> float:
        """Where a value stands: 0 at the low end, 1 at the high one."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


def scale_for(numbers: Sequence[float], *, from_zero: bool) -> Scale:
    """A scale that holds all numbers; from zero where lengths are compared."""
    low, high = min(numbers), max(numbers)
    if from_zero or low * high <= 0 or (high - low) >= max(abs(low), abs(high)) / 2:
        low, high = min(low, 0), max(high, 0)
    if high - low <= max(abs(high), abs(low)) * 1e-9:
        low, high = min(low, 0), max(high, 0)
    if high == low:
        high = low + 1
    step = _step((high - low) / _WANTED_TICKS)
    first, last = math.floor(low / step), math.ceil(high / step)
    ticks = tuple(at * step for at in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks)


def _step(rough: float) -> float:
    """The round number next to a rough step."""
    size = 10.0 ** math.floor(math.log10(rough))
    return next(step * size for step in _STEPS if step * size >= rough * 0.999999)


def short_number(number: float) -> str:
    """A tick in few signs: 120k, 1.5M, 0.25."""
    if number == 0:
        return "0"
    sign = "\u2212" if number < 0 else ""
    amount = abs(number)
    if amount >= 1e15 or amount < 1e-4:
        digits, _, power = f"{amount:.0e}".partition("e")
        return f"{sign}{digits}e{int(power)}".replace("-", "\u2212")
    size, unit = next(((size, unit) for size, unit in _SHORT if amount >= size), (1, ""))
    return f"{sign}{amount / size:.4g}{unit}"


_MAX_LABEL = 14


def legend(series: Sequence[Mapping[str, Any]]) -> h.Node:
    """The name of each series with its colour, where there is no room beside the marks."""
    return h.ul(".view-names")[
        (
            h.li[h.span(f".view-swatch.view-hue-{number}", aria_hidden="true"), one_line(values["label"])]
            for number, values in enumerate(series, 1)
        )
    ]


def point_title(name: str, series: Mapping[str, Any], value: float, ctx: ViewContext) -> str:
    """One number, for whoever points at it."""
    return one_line(f"{name}: {series['label']} {format_number(value, series, ctx.language)}")


def short_label(words: str) -> str:
    """A label that fits; the whole is in the data."""
    words = one_line(words)
    return words if len(words) <= _MAX_LABEL else f"{words[: _MAX_LABEL - 1]}…"


def truncation_note(most: int, count: int) -> str | None:
    """What is said where not everything is drawn."""
    return f"the first {most:,} of {count:,} are drawn" if count > most else None


HEIGHT, TOP, BOTTOM = 240, 18, 216
LEFT = 10.0
MOST_NAMES = 12

_WIDTHS = (280, 480, 720)
"""Widths of charts in px; views.css hides the labels for which one is too narrow."""

_GLYPH, _GAP = 7, 8
"""What a character takes in px, and the room between two labels."""


@dataclass(frozen=True, slots=True)
class Plot:
    """The room of a chart."""

    scale: Scale
    labels: Sequence[str]
    right: float
    slotted: bool
    """Whether each label has a slot to stand in the middle of, as bars do, or is a point from end to end."""

    def up(self, value: float) -> float:
        return BOTTOM - self.scale.share(value) * (BOTTOM - TOP)

    def along(self, at: int) -> float:
        count, room = len(self.labels), self.right - LEFT
        if self.slotted or count == 1:
            return LEFT + room * (at + 0.5) / count
        return LEFT + room * at / (count - 1)

    @property
    def slot(self) -> float:
        return (self.right - LEFT) / len(self.labels)

    def grid(self) -> h.Node:
        return h.g[(self._tick(tick) for tick in self.scale.ticks)]

    def _tick(self, tick: float) -> h.Node:
        place = self.up(tick)
        kind = ".view-zero" if tick == 0 else ".view-line"
        return [
            h.line(kind, x1=f"{LEFT:g}%", x2=f"{self.right:g}%", y1=px(place), y2=px(place)),
            h.text(".view-tick", x=f"{LEFT - 1:g}%", y=px(place + 4), text_anchor="end")[short_number(tick)],
        ]

    def names(self) -> h.Node:
        """As many labels as can be read beside each other; the wider the chart turns out, the more."""
        steps = self._steps()
        low = str(HEIGHT - 6)
        return h.g[
            (
                h.text(
                    class_=["view-tick", _from(at, steps)],
                    x=percent(self.along(at)),
                    y=low,
                    text_anchor="middle",
                )[short_label(self.labels[at])]
                for at in range(0, len(self.labels), steps[-1])
            )
        ]

    def _steps(self) -> list[int]:
        """Every how manyth label fits at each width, from narrow to wide; each a multiple of the next."""
        needed = max(len(short_label(label)) for label in self.labels) * _GLYPH + _GAP
        steps = [max(1, ceil(len(self.labels) / MOST_NAMES))]
        for width in reversed(_WIDTHS):
            fits = ceil(needed / (self.slot * width / 100))
            steps.append(max(1, ceil(fits / steps[-1])) * steps[-1])
        return steps[:0:-1]


def _from(at: int, steps: Sequence[int]) -> str | None:
    """The class that hides a label in charts too narrow for it."""
    first = next(width for width, step in zip(_WIDTHS, steps, strict=True) if at % step == 0)
    return None if first == _WIDTHS[0] else f"view-from-{first}"


def px(place: float) -> str:
    return f"{place:.1f}"


def percent(place: float) -> str:
    return f"{place:.3f}%"
