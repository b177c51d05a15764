"""Edits: several searches and their replacements, applied in order, all or nothing."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from handrail import ToolError
from handrail.toolsets.workspace.files import edit_errors
from handrail.toolsets.workspace.files.diff import UnchangedText, lines_with_ends
from handrail.toolsets.workspace.files.text_match import (
    MatchKind,
    TextMatch,
    TooManyMatches,
    anchored_matches,
    begins_in_indentation,
    differing_kept_lines,
    exact_matches,
    reindent,
    shared_blocks,
    whitespace_matches,
)

_MAX_REPORTED_LINES = 20
"""Lines of one edit that are named in its result."""
_MOST_FAILED = 3
"""Edits of a call that are explained."""
_WAYS: tuple[tuple[MatchKind, Callable[[str, str], Iterator[TextMatch]]], ...] = (
    ("exact", exact_matches),
    ("whitespace", whitespace_matches),
    ("anchored", anchored_matches),
)


@dataclass(frozen=True, slots=True)
class Edit:
    """One search and what goes in its place."""

    search: str
    replace: str
    replace_all: bool = False


@dataclass(frozen=True, slots=True)
class AppliedEdit:
    """What became of one edit."""

    way: MatchKind
    count: int
    lines: tuple[int, ...]
    """Where the first places begin once all edits are done."""
    kept: tuple[tuple[str, str], ...] = ()
    """Lines that stayed though the search has them otherwise: as it has them, and as the file does."""

    def moved(self, grown: Sequence[tuple[int, int]]) -> AppliedEdit:
        """The same, with its lines where they are after a later edit."""
        return replace(self, lines=tuple(line + _lines_added_before(grown, line) for line in self.lines))


@dataclass(frozen=True, slots=True)
class EditedText:
    """A text after its edits."""

    text: str
    applied: tuple[AppliedEdit, ...]
    same: UnchangedText
    """What no edit touched."""


def apply_edits(text: str, edits: Sequence[Edit], name: str) -> EditedText:
    """The text after all edits. When one cannot be done, ToolError says how to repair the call."""
    if (simple := simple_edit(text, edits)) is not None:
        return simple
    now = text
    front, above, back = len(text), 0, len(text)
    done: list[AppliedEdit] = []
    failed: list[tuple[Edit, ToolError]] = []
    for number, edit in enumerate(edits, 1):
        label = f"Edit {number} of {len(edits)}: " if len(edits) > 1 else "The edit: "
        if edit.replace_all and _is_within_lines(edit) and edit.search in now:
            rows = _first_rows(now, edit.search)
            done.append(AppliedEdit("exact", now.count(edit.search), tuple(rows)))
            front, above = min((front, above), (now.find(edit.search), rows[0] - 1))
            back = min(back, len(now) - now.rfind(edit.search) - len(edit.search))
            now = now.replace(edit.search, edit.replace)
            continue
        try:
            way, pieces, stay = _locate(now, text, edit, name, label)
        except ToolError as error:
            if not any(edit.search in earlier.replace for earlier, _ in failed):
                failed.append((edit, error))
            if len(failed) == _MOST_FAILED:
                break
            continue
        changed, lines, grown = _replace_pieces(now, pieces)
        front, above = min((front, above), (pieces[0].start, lines[0] - 1))
        back = min(back, len(now) - pieces[-1].end)
        done = [earlier.moved(grown) for earlier in done]
        done.append(AppliedEdit(way, len(pieces), tuple(lines), stay))
        now = changed
    if failed:
        raise _combined_error(failed, len(edits))
    return EditedText(now, tuple(done), UnchangedText(front, back, above))


def simple_edit(text: str, edits: Sequence[Edit]) -> EditedText | None:
    """What most edits are: one of a text that stands there once, and of line ends that need no care."""
    if len(edits) > 1:
        return None
    search, instead = edits[0].search, edits[0].replace
    at = text.find(search) if search else -1
    if at < 0 or search == instead or text.find(search, at + 1) >= 0 or "\r" in text or "\r" in instead:
        return None
    if "\n" in instead and begins_in_indentation(text, at, search, instead):
        return None
    end, above = at + len(search), text.count("\n", 0, at)
    applied = AppliedEdit("exact", 1, (above + 1,))
    same = UnchangedText(at, len(text) - end, above)
    return EditedText(f"{text[:at]}{instead}{text[end:]}", (applied,), same)


def _is_within_lines(edit: Edit) -> bool:
    """Whether an edit neither finds nor makes a line end, so that it is the same in every place."""
    return edit.search not in ("", edit.replace) and not {"\n", "\r"}.intersection(edit.search + edit.replace)


def _first_rows(text: str, search: str) -> list[int]:
    """The lines of the first places."""
    rows: list[int] = []
    at, row = 0, 1
    while len(rows) < _MAX_REPORTED_LINES and (start := text.find(search, at)) >= 0:
        row += text.count("\n", at, start)
        rows.append(row)
        at = start + len(search)
    return rows


def _combined_error(failed: Sequence[tuple[Edit, ToolError]], edits: int) -> ToolError:
    """Everything that is wrong with a call, so that it is repaired at once."""
    messages = [str(error) for _, error in failed]
    if edits > 1:
        messages.append(f"Nothing was changed: of the {edits} edits of this call none was done.")
    return ToolError("\n".join(messages), code=failed[0][1].code)


class _Piece(NamedTuple):
    start: int
    end: int
    instead: str


def _locate(
    now: str, before: str, edit: Edit, name: str, label: str
) -> tuple[MatchKind, list[_Piece], tuple[tuple[str, str], ...]]:
    """The way that found the search, what it is to be replaced by, in ascending order, and what stays."""
    if edit.search == edit.replace:
        raise ToolError(label + edit_errors.SAME_TEXT, code="NO_CHANGE")
    if not edit.search:
        if now:
            raise ToolError(label + edit_errors.empty_search(name), code="NO_MATCH")
        return "exact", [_Piece(0, 0, edit.replace)], ()
    view = _NormalizedText(now, edit.search)
    for way, find in _WAYS:
        if edit.replace_all and way == "anchored":
            break
        try:
            places = find(view.text, view.search)
            matches = (
                _without_overlaps(places)
                if edit.replace_all
                else list(islice(places, edit_errors.MAX_PLACES + 1))
            )
            if way == "exact" and view.is_shifted(matches, edit):
                continue
        except TooManyMatches:
            raise ToolError(label + edit_errors.too_many_matches(name), code="SEVERAL_MATCHES") from None
        if len(matches) > 1 and not edit.replace_all:
            rows = [view.text.count("\n", 0, match.start) + 1 for match in matches]
            message = edit_errors.several_matches(view.text, view.search, rows, way, name)
            raise ToolError(label + message, code="SEVERAL_MATCHES")
        stay = view.kept_otherwise(matches[0], edit) if matches and way == "anchored" else []
        if stay is None:
            break
        if matches:
            return way, [view.piece(match, edit, way) for match in matches], tuple(stay)
    earlier = now != before and edit.search in before
    raise ToolError(label + edit_errors.no_match(view.text, view.search, name, earlier), code="NO_MATCH")


def _without_overlaps(matches: Iterator[TextMatch]) -> list[TextMatch]:
    """Those that do not overlap an earlier one."""
    chosen: list[TextMatch] = []
    for match in matches:
        if not chosen or match.start >= chosen[-1].end:
            chosen.append(match)
    return chosen


def _replace_pieces(text: str, pieces: Sequence[_Piece]) -> tuple[str, list[int], list[tuple[int, int]]]:
    """The text with its pieces replaced, where the first ones begin, and how many lines came up to where."""
    parts: list[str] = []
    lines: list[int] = []
    grown: list[tuple[int, int]] = []
    at, line, added = 0, 1, 0
    for piece in pieces:
        parts += (text[at : piece.start], piece.instead)
        line += text.count("\n", at, piece.start)
        if len(lines) < _MAX_REPORTED_LINES:
            lines.append(line + added)
        gone = text.count("\n", piece.start, piece.end)
        by = piece.instead.count("\n") - gone
        added += by
        grown.append((line, added))
        line += gone
        at = piece.end
    parts.append(text[at:])
    return "".join(parts), lines, grown


def _lines_added_before(grown: Sequence[tuple[int, int]], line: int) -> int:
    """How many lines were added before a line."""
    at = bisect_left(grown, (line,))
    return grown[at - 1][1] if at else 0


class _NormalizedText:
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
            self._returns = [match.start() - nth for nth, match in enumerate(re.finditer("\r\n", text))]

    def piece(self, match: TextMatch, edit: Edit, way: MatchKind) -> _Piece:
        """What a match stands for in the text itself."""
        start, end = self._real(match.start), self._real(match.end)
        if self._literal or (way == "exact" and "\r" in edit.replace and "\r" not in edit.search):
            return _Piece(start, end, edit.replace)
        instead = edit.replace.replace("\r\n", "\n")
        if way != "exact":
            instead = reindent(self.search, instead, self.text[match.start : match.end], match.shift)
        return _Piece(start, end, self._with_ends(start, end, instead) if "\n" in instead else instead)

    def is_shifted(self, matches: Sequence[TextMatch], edit: Edit) -> bool:
        """Whether a search is there exactly, and yet means its line with less indentation than it has."""
        if len(matches) != 1 or edit.replace_all:
            return False
        at = matches[0].start
        if not begins_in_indentation(self.text, at, self.search, edit.replace):
            return False
        lines = list(islice(whitespace_matches(self.text, self.search), 2))
        return len(lines) == 1 and lines[0].start <= at < lines[0].end

    def kept_otherwise(self, match: TextMatch, edit: Edit) -> list[tuple[str, str]] | None:
        instead = edit.replace.replace("\r\n", "\n")
        return differing_kept_lines(self.search, instead, self.text[match.start : match.end])

    def _with_ends(self, start: int, end: int, instead: str) -> str:
        """New lines with the line end of the place. Where it has both, lines that stay keep their own."""
        new = "\r\n" if self._ends_with_return(start) else "\n"
        held = lines_with_ends(self._raw[start:end])
        if not held or len({line.endswith("\r\n") for line in held if line.endswith("\n")}) < 2:
            return instead.replace("\n", new)
        new_lines = lines_with_ends(instead)
        lines: list[str] = []
        for is_kept, ours, theirs in shared_blocks([line.replace("\r\n", "\n") for line in held], new_lines):
            lines += held[ours] if is_kept else [line.replace("\n", new) for line in new_lines[theirs]]
        return "".join(lines)

    def _real(self, at: int) -> int:
        return at + bisect_left(self._returns, at)

    def _ends_with_return(self, at: int) -> bool:
        """Whether the line at a place ends with CRLF; the last line is as the one before it."""
        end = self._raw.find("\n", at)
        if end < 0:
            end = self._raw.rfind("\n")
        return end > 0 and self._raw[end - 1] == "\r"
