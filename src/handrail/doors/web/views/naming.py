"""The words in and around a drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from htpy import Node, li, span, ul

from handrail.doors.visible import one_line
from handrail.doors.web.views.figures import written
from handrail.doors.web.views.look import Look

_ROOM = 14


def names_row(series: Sequence[Mapping[str, Any]]) -> Node:
    """The name of each series with its colour, where there is no room beside the marks."""
    return ul(".view-names")[
        (
            li[span(f".view-swatch.view-hue-{number}", aria_hidden="true"), one_line(one["label"])]
            for number, one in enumerate(series, 1)
        )
    ]


def point(name: str, one: Mapping[str, Any], value: float, look: Look) -> str:
    """One number, for whoever points at it."""
    return one_line(f"{name}: {one['label']} {written(value, one, look.language)}")


def brief(words: str) -> str:
    """A label that fits; the whole is in the data."""
    words = one_line(words)
    return words if len(words) <= _ROOM else f"{words[: _ROOM - 1]}…"


def drawn_of(most: int, count: int) -> str | None:
    """What is said where not everything is drawn."""
    return f"the first {most:,} of {count:,} are drawn" if count > most else None
