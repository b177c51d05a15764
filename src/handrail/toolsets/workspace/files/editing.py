"""Edits: several searches and their replacements, applied in order, all or nothing."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from handrail.ext import ToolError
from handrail.toolsets.workspace.files import explaining
from handrail.toolsets.workspace.files.matching import Match, Way, anchored, exact, reindented, whitespace

_TOLD = 20
"""Lines of one edit that are named in its result."""
_WAYS: tuple[tuple[Way, Callable[[str, str], Iterator[Match]]], ...] = (
    ("exact", exact),
    ("whitespace", whitespace),
    ("anchored", anchored),
)


@dataclass(frozen=True, slots=True)
class Edit:
    """One search and what goes in its place."""

    search: str
    replace: str
    replace_all: bool = False


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of one edit."""

    way: Way
    count: int
    lines: tuple[int, ...]
    """Where the first places begin once all edits are done."""


@dataclass(frozen=True, slots=True)
class Edited:
    """A text after its edits."""

    text: str
    applied: tuple[Applied, ...]


def apply(text: str, edits: Sequence[Edit], name: str) -> Edited:
    """The text after all edits. When one cannot be done, ToolError says how to repair the call."""
    now = text
    done: list[tuple[Way, int, list[int]]] = []
    for number, edit in enumerate(edits, 1):
        label = f"Edit {number} of {len(edits)}: " if len(edits) > 1 else "The edit: "
        way, pieces = _found(now, text, edit, name, label)
        changed, lines, grown = _replaced(now, pieces)
        for _, _, earlier in done:
            earlier[:] = [line + _growth(grown, line) for line in earlier]
        done.append((way, len(pieces), lines))
        now = changed
    return Edited(now, tuple(Applied(way, count, tuple(lines)) for way, count, lines in done))


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    instead: str


def _found(now: str, before: str, edit: Edit, name: str, label: str) -> tuple[Way, list[_Piece]]:
    """The way that found the search, and what it is to be replaced by, in ascending order."""
    if edit.search == edit.replace:
        raise ToolError(label + explaining.SAME, code="NO_CHANGE")
    if not edit.search:
        if now:
            raise ToolError(label + explaining.empty_search(name), code="NO_MATCH")
        return "exact", [_Piece(0, 0, edit.replace)]
    view = _View(now, edit.search)
    for way, find in _WAYS:
        if edit.replace_all and way == "anchored":
            break
        places = find(view.text, view.search)
        found = _apart(places) if edit.replace_all else list(islice(places, explaining.MOST_PLACES + 1))
        if len(found) > 1 and not edit.replace_all:
            rows = [view.text.count("\n", 0, one.start) + 1 for one in found]
            said = explaining.several(view.text, view.search, rows, way, name)
            raise ToolError(label + said, code="SEVERAL_MATCHES")
        if found:
            return way, [view.piece(one, edit, way) for one in found]
    earlier = now != before and edit.search in before
    raise ToolError(label + explaining.no_match(view.text, view.search, name, earlier), code="NO_MATCH")


def _apart(found: Iterator[Match]) -> list[Match]:
    """Those that do not overlap an earlier one."""
    kept: list[Match] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _replaced(text: str, pieces: Sequence[_Piece]) -> tuple[str, list[int], list[tuple[int, int]]]:
    """The text with its pieces replaced, where the first ones begin, and how many lines came up to where."""
    told: list[str] = []
    lines: list[int] = []
    grown: list[tuple[int, int]] = []
    at, line, added = 0, 1, 0
    for piece in pieces:
        told += (text[at : piece.start], piece.instead)
        line += text.count("\n", at, piece.start)
        if len(lines) < _TOLD:
            lines.append(line + added)
        gone = text.count("\n", piece.start, piece.end)
        by = piece.instead.count("\n") - gone
        added += by
        grown.append((line, added))
        line += gone
        at = piece.end
    told.append(text[at:])
    return "".join(told), lines, grown


def _growth(grown: Sequence[tuple[int, int]], line: int) -> int:
    """How many lines were added before a line."""
    at = bisect_left(grown, (line,))
    return grown[at - 1][1] if at else 0


class _View:
    """A text and a search with plain newlines, so that a search finds its lines whatever they end with."""

    def __init__(self, text: str, search: str) -> None:
        self._raw = text
        self._returns: list[int] = []
        self._literal = False
        self.text, self.search = text, search
        if "\r" in search:
            self._literal = search in text
            if self._literal:
                return
            self.search = search.replace("\r\n", "\n")
        if "\r" in text and "\r\n" in text:  # one character is found much faster than two
            self.text = text.replace("\r\n", "\n")
            self._returns = [one.start() - nth for nth, one in enumerate(re.finditer("\r\n", text))]

    def piece(self, match: Match, edit: Edit, way: Way) -> _Piece:
        """What a match stands for in the text itself."""
        start, end = self._real(match.start), self._real(match.end)
        if self._literal or (way == "exact" and "\r" in edit.replace and "\r" not in edit.search):
            return _Piece(start, end, edit.replace)
        instead = edit.replace.replace("\r\n", "\n")
        if way != "exact":
            instead = reindented(self.search, instead, self.text[match.start : match.end], match.shift)
        if "\n" in instead and self._ends_with_return(start):
            instead = instead.replace("\n", "\r\n")
        return _Piece(start, end, instead)

    def _real(self, at: int) -> int:
        return at + bisect_left(self._returns, at)

    def _ends_with_return(self, at: int) -> bool:
        """Whether the line at a place ends with CRLF; the last line is as the one before it."""
        end = self._raw.find("\n", at)
        if end < 0:
            end = self._raw.rfind("\n")
        return end > 0 and self._raw[end - 1] == "\r"
