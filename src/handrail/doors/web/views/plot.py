"""The plot of a chart: its axes, and where things stand in it.

Places along are percentages and places up are pixels, so that text keeps its size on a phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from htpy import Node, g, line, text

from handrail.doors.web.views.naming import brief
from handrail.doors.web.views.scale import Scale, short

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

    def grid(self) -> Node:
        return g[(self._tick(tick) for tick in self.scale.ticks)]

    def _tick(self, tick: float) -> Node:
        place = self.up(tick)
        kind = ".view-zero" if tick == 0 else ".view-line"
        return [
            line(kind, x1=f"{LEFT:g}%", x2=f"{self.right:g}%", y1=px(place), y2=px(place)),
            text(".view-tick", x=f"{LEFT - 1:g}%", y=px(place + 4), text_anchor="end")[short(tick)],
        ]

    def names(self) -> Node:
        """As many labels as can be read beside each other; the wider the chart turns out, the more."""
        steps = self._steps()
        low = str(HEIGHT - 6)
        return g[
            (
                text(
                    class_=["view-tick", _from(at, steps)],
                    x=pc(self.along(at)),
                    y=low,
                    text_anchor="middle",
                )[brief(self.labels[at])]
                for at in range(0, len(self.labels), steps[-1])
            )
        ]

    def _steps(self) -> list[int]:
        """Every how manyth label fits at each width, from narrow to wide; each a multiple of the next."""
        needed = max(len(brief(one)) for one in self.labels) * _GLYPH + _GAP
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


def pc(place: float) -> str:
    return f"{place:.3f}%"
