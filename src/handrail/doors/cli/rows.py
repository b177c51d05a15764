"""Rows: a listing as a table for people, lines with tabs for a pipe, or one JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from handrail.doors.cli.screen import Screen
from handrail.doors.visible import exact, exact_blanks, exact_lines, one_line


def show_rows(here: Screen, labels: Sequence[str], rows: Iterable[Sequence[Any]], none: str) -> None:
    """A listing; `none` says on standard error that there is nothing to list."""
    cells = [[_cell(one) for one in row] for row in rows]
    if not cells:
        here.err.say(none)
    elif here.out.for_people:
        from handrail.doors.cli.draw import table  # a pipe needs nothing of rich

        here.out.draw(table(labels, cells, here.out.console))
    else:
        for row in cells:
            here.out.line("\t".join(row))


def show_facts(here: Screen, facts: Mapping[str, Any]) -> None:
    """One thing: a name and a value on each line; what has no value is left out."""
    told = {name: value for name, value in facts.items() if value not in (None, "", [], {})}
    width = max(map(len, told), default=0)
    for name, value in told.items():
        if isinstance(value, Mapping):
            here.out.line(name)
            for part, inner in value.items():
                shown = exact_lines(inner, " " * 4) if here.out.for_people else exact_blanks(inner)
                here.out.line(f"  {one_line(str(part))} = {shown}")
        else:
            here.out.line(f"{name:<{width}}  {_cell(value)}")


def when(at: float | None, here: Screen) -> str:
    """A time: in UTC for programs, by the clock on the wall for people."""
    if at is None:
        return ""
    moment = datetime.fromtimestamp(at, UTC)
    if here.out.for_people:
        return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def _cell(given: Any) -> str:
    if given is None:
        return ""
    return one_line(given if isinstance(given, str) else exact(given))
