"""Text of tools and callers for a screen: hidden characters written out, lines of diffs told apart."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from pydantic_core import to_jsonable_python

_LINE_BREAK = re.compile(r'(?<!\\)(?:\\\\)*\\n(?!")')

_BLANK_RUNS = re.compile(r'(?<!\\n)(?<![ "]) {2,}|(?<! ) {25,}')
"""Blanks in a row, but for the indentation of a line; and so many that they push the rest out of sight."""

_JOINERS = "\u200c\u200d"
"""Needed inside words of some scripts and inside emoji; they only shape their neighbours."""


def visible(text: str) -> str:
    """Text for a screen; lines and tabs stay."""
    if text.isprintable():
        return text
    return "".join(char if char in "\n\t" or _is_displayable(char) else _escape(char) for char in text)


def one_line(text: str) -> str:
    """Text for one line of a list."""
    return visible(" ".join(text.split()))


def visible_json(value: Any, indent: int | None = None) -> str:
    """A value as JSON in which every character can be seen; reading it gives the same value."""
    plain = to_jsonable_python(value, inf_nan_mode="null", fallback=str)
    separators = (",", ": ") if indent else (",", ":")
    text = json.dumps(plain, ensure_ascii=False, indent=indent, separators=separators)
    if text.isascii() and "\x7f" not in text:
        return text
    return "".join(char if char == "\n" or char.isprintable() else _json_escape(char) for char in text)


def visible_json_line(value: Any) -> str:
    """The same on one line, with blanks in a row written out."""
    return _BLANK_RUNS.sub(lambda match: "\\u0020" * len(match[0]), visible_json(value))


def visible_json_lines(value: Any, indent: str) -> str:
    """The same, going on below where a text breaks its line; every break is still written out."""
    return _LINE_BREAK.sub(lambda match: f"{match[0]}\n{indent}", visible_json_line(value))


def _is_displayable(char: str) -> bool:
    return char.isprintable() or char in _JOINERS or unicodedata.category(char) == "Zs"


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def without_repeated_title(text: str, line: str | None) -> str:
    """The text without its first line, where that says no more than the line above it: `Edited a.py.`
    below `Edited a.py (+1 -1)`."""
    if not line:
        return text
    first, _, rest = text.partition("\n")
    sentence, above = first.rstrip("."), line.rstrip(".")
    return rest if sentence == above or above.startswith(f"{sentence} (") else text


DiffLineKind = Literal["text", "file", "hunk", "added", "removed", "same"]
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")

_GIT_HEADER = re.compile(
    r"index [0-9a-f]+\.\.|(?:new|deleted) file mode |(?:old|new) mode |similarity |rename |copy "
)


class DiffLine(NamedTuple):
    """One line of a text that may hold diffs."""

    kind: DiffLineKind
    text: str


def diff_lines(text: str) -> list[DiffLine]:
    """The lines of a text; all of them are `text` where it holds no unified diff.

    A hunk says how many lines it has. So a removed `-- x` is no header, and a list below it no part of it.
    """
    return list(_classify_lines(text.split("\n")))


def has_diff(lines: list[DiffLine]) -> bool:
    return any(line.kind == "hunk" for line in lines)


def _classify_lines(lines: list[str]) -> Iterator[DiffLine]:
    inside = named = False
    remaining = (0, 0)
    """Lines of the old and the new side that the hunk still has."""
    for at, line in enumerate(lines):
        if inside and line.startswith("\\ "):
            yield DiffLine("same", line)
            continue
        kind = _hunk_line_kind(line, *remaining)
        if kind is not None:
            remaining = (remaining[0] - (kind != "added"), remaining[1] - (kind != "removed"))
            yield DiffLine(kind, line)
            continue
        remaining = (0, 0)
        header = _is_file_header(lines, at)
        named = header or line.startswith("diff --git ") or (named and _GIT_HEADER.match(line) is not None)
        inside = inside or header
        if named:
            yield DiffLine("file", line)
        elif inside and (hunk := _HUNK.match(line)):
            remaining = (int(hunk[1] or 1), int(hunk[2] or 1))
            yield DiffLine("hunk", line)
        else:
            yield DiffLine("text", line)


def _hunk_line_kind(line: str, old: int, new: int) -> DiffLineKind | None:
    """What a line of a hunk is; None when the hunk is over, also before its time, as one that was cut."""
    sign = line[:1]
    if sign == "-" and old:
        return "removed"
    if sign == "+" and new:
        return "added"
    return "same" if sign in ("", " ") and old and new else None


def _is_file_header(lines: list[str], at: int) -> bool:
    def starts(index: int, sign: str) -> bool:
        return 0 <= index < len(lines) and lines[index].startswith(sign)

    return (starts(at, "--- ") and starts(at + 1, "+++ ") and starts(at + 2, "@@ -")) or (
        starts(at, "+++ ") and starts(at - 1, "--- ") and starts(at + 1, "@@ -")
    )
