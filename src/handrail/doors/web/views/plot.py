"""The plot of a chart: its axes, and where things stand in it.

Places along are percentages and places up are pixels, so that text keeps its size on a phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from htpy import Node, g, line, text

from handrail.doors.web.views.naming import brief
from handrail.doors.web.views.scale import Scale, short

HEIGHT, TOP, BOTTOM = 240, 18, 216
LEFT = 10.0


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
        """As many labels as can be read beside each other."""
        longest = max(len(one) for one in self.labels)
        room = 12 if longest <= 4 else 8 if longest <= 7 else 5
        every = -(-len(self.labels) // room)
        low = str(HEIGHT - 6)
        return g[
            (
                text(".view-tick", x=pc(self.along(at)), y=low, text_anchor="middle")[brief(self.labels[at])]
                for at in range(0, len(self.labels), every)
            )
        ]


def px(place: float) -> str:
    return f"{place:.1f}"


def pc(place: float) -> str:
    return f"{place:.3f}%"
