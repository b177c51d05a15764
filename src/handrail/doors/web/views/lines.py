"""Lines and areas: broken where a number is missing, each with its name at its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from htpy import Node, circle, g, path, polyline, svg, text, title

from handrail.doors.web.views.look import Look
from handrail.doors.web.views.naming import brief, point
from handrail.doors.web.views.plot import BOTTOM, HEIGHT, LEFT, TOP, Plot, pc, px

MOST_DOTS = 60
_APART = 14.0
_WIDTH = 1000.0

Series = Sequence[Mapping[str, Any]]
Run = list[tuple[int, float]]


def draw_lines(series: Series, plot: Plot, look: Look, *, area: bool) -> Node:
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
                for run in _runs(one["values"])
            )
        ],
        _dots(series, plot, look) if len(plot.labels) <= MOST_DOTS else None,
        _names(series, plot) if len(series) > 1 else None,
    ]


def _runs(values: Sequence[float | None]) -> Iterator[Run]:
    """What lies between gaps."""
    run: Run = []
    for at, value in enumerate(values):
        if value is not None:
            run.append((at, value))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _line(run: Run, number: int, plot: Plot, *, area: bool) -> Node:
    last = len(plot.labels) - 1
    places = [(_WIDTH * at / last if last else _WIDTH / 2, plot.up(value)) for at, value in run]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    zero = plot.up(0.0)
    under = f"M{places[0][0]:.1f},{zero:.1f} L{points} L{places[-1][0]:.1f},{zero:.1f} Z"
    stroke = polyline(f".view-stroke.view-line-{number}", points=points, vector_effect="non-scaling-stroke")
    return [path(f".view-under.view-hue-{number}", d=under) if area else None, stroke]


def _dots(series: Series, plot: Plot, look: Look) -> Node:
    return g[
        (
            circle(f".view-mark.view-hue-{number}", cx=pc(plot.along(at)), cy=px(plot.up(value)), r="3.5")[
                title[point(plot.labels[at], one, value, look)]
            ]
            for number, one in enumerate(series, 1)
            for at, value in enumerate(one["values"])
            if value is not None
        )
    ]


def _names(series: Series, plot: Plot) -> Node:
    ends = spread([_end(one["values"], plot) for one in series])
    return g[
        (
            text(f".view-label.view-ink-{number}", x=pc(plot.right + 1.5), y=px(end + 4))[brief(one["label"])]
            for number, (one, end) in enumerate(zip(series, ends, strict=True), 1)
        )
    ]


def _end(values: Sequence[float | None], plot: Plot) -> float:
    return next((plot.up(value) for value in reversed(values) if value is not None), float(BOTTOM))


def spread(places: Sequence[float]) -> list[float]:
    """Places for names beside line ends, none on top of another."""
    order = sorted(range(len(places)), key=places.__getitem__)
    free, found = float(TOP), list(places)
    for rank, at in enumerate(order):
        found[at] = min(max(places[at], free), BOTTOM - _APART * (len(order) - rank - 1))
        free = found[at] + _APART
    return found
