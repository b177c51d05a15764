"""Diffs in the texts of tools: which line is which, so that a screen sets them apart. No line is changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

Kind = Literal["text", "file", "hunk", "added", "removed", "same"]

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


_GIT = re.compile(
    r"index [0-9a-f]+\.\.|(?:new|deleted) file mode |(?:old|new) mode |similarity |rename |copy "
)


class Line(NamedTuple):
    """One line of a text that may hold diffs."""

    kind: Kind
    text: str


def diff_lines(text: str) -> list[Line]:
    """The lines of a text; all of them are `text` where it holds no unified diff.

    A hunk says how many lines it has. So a removed `-- x` is no header, and a list below it no part of it.
    """
    return list(_read(text.split("\n")))


def has_diff(lines: list[Line]) -> bool:
    return any(line.kind == "hunk" for line in lines)


def _read(lines: list[str]) -> Iterator[Line]:
    inside = named = False
    left = (0, 0)
    """Lines of the old and the new side that the hunk still has."""
    for at, line in enumerate(lines):
        if inside and line.startswith("\\ "):
            yield Line("same", line)
            continue
        kind = _kind(line, *left)
        if kind is not None:
            left = (left[0] - (kind != "added"), left[1] - (kind != "removed"))
            yield Line(kind, line)
            continue
        left = (0, 0)
        header = _is_header(lines, at)
        named = header or line.startswith("diff --git ") or (named and _GIT.match(line) is not None)
        inside = inside or header
        if named:
            yield Line("file", line)
        elif inside and (hunk := _HUNK.match(line)):
            left = (int(hunk[1] or 1), int(hunk[2] or 1))
            yield Line("hunk", line)
        else:
            yield Line("text", line)


def _kind(line: str, old: int, new: int) -> Kind | None:
    """What a line of a hunk is; None when the hunk is over, also before its time, as one that was cut."""
    sign = line[:1]
    if sign == "-" and old:
        return "removed"
    if sign == "+" and new:
        return "added"
    return "same" if sign in ("", " ") and old and new else None


def _is_header(lines: list[str], at: int) -> bool:
    def starts(place: int, sign: str) -> bool:
        return 0 <= place < len(lines) and lines[place].startswith(sign)

    return (starts(at, "--- ") and starts(at + 1, "+++ ") and starts(at + 2, "@@ -")) or (
        starts(at, "+++ ") and starts(at - 1, "--- ") and starts(at + 1, "@@ -")
    )
