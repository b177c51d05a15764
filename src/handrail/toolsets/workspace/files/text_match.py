"""Text match: where a search text stands: exactly, but for whitespace, or by first and last lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal

_MAX_LETTERS = 120
"""Characters of a line up to which it is compared letter by letter, which may take their number squared."""

_MAX_LINE = 500
"""Lines beyond this are equal or not."""

_MAX_WORK = 4_000_000
"""Pairs of letters that are compared for one search."""


class LineSimilarity:
    """Measures until its work is spent; from then on what is not equal is not alike."""

    def __init__(self, work: int = _MAX_WORK) -> None:
        self._left = work

    @property
    def spent(self) -> bool:
        return self._left < 0

    def __call__(self, ours: str, theirs: str) -> float:
        """1 when equal, 0 when nothing is shared or it cannot be told."""
        if ours == theirs:
            return 1.0
        longest = max(len(ours), len(theirs))
        if not ours or not theirs or longest > _MAX_LINE:
            return 0.0
        self._left -= len(ours) * len(theirs) if longest <= _MAX_LETTERS else longest
        if self.spent:
            return 0.0
        if longest <= _MAX_LETTERS:
            return SequenceMatcher(None, ours, theirs, autojunk=False).ratio()
        return _by_pairs(ours, theirs)


def _by_pairs(ours: str, theirs: str) -> float:
    """How many pairs of neighbouring letters two lines share."""
    shared = Counter(pairwise(ours)) & Counter(pairwise(theirs))
    return 2 * shared.total() / (len(ours) + len(theirs) - 2)


BLANKS = " \t"


@dataclass(frozen=True, slots=True)
class IndentShift:
    """Takes something from the front of an indentation, puts something else there, and may turn its tabs."""

    take: str = ""
    put: str = ""
    old: str = ""
    new: str = ""
    """One step of indentation before and after, such as four spaces and a tab."""

    def __call__(self, indent: str) -> str:
        turned = indent.replace(self.old, self.new) if self.old else indent
        if turned.startswith(self.take):
            return self.put + turned[len(self.take) :]
        return self.put

    @property
    def is_aside(self) -> bool:
        """Whether it moves lines, and does more than turn their tabs."""
        return bool(self.take or self.put)

    def turning(self, ours: Sequence[str], new_lines: Sequence[str]) -> IndentShift:
        """The same shift, with tabs for the steps of new lines where those of the search had none to tell."""
        steps = [indent for line in new_lines if (indent := indent_of(line)) != line and indent]
        if self.old or set(self.put) != {"\t"} or any(map(indent_of, ours)) or "\t" in "".join(steps):
            return self
        return replace(self, old=min(steps, key=len, default=""), new="\t")


NO_SHIFT = IndentShift()


def indent_of(line: str) -> str:
    """The blanks before the first other character."""
    return line[: len(line) - len(line.lstrip(BLANKS))]


def shift_between(ours: Sequence[str], theirs: Sequence[str]) -> IndentShift | None:
    """The one shift that turns the indentation of each line of ours into that of theirs, if there is one."""
    pairs = [
        (indent_of(ours_line), indent_of(theirs_line))
        for ours_line, theirs_line in zip(ours, theirs, strict=True)
        if ours_line.strip(BLANKS)
    ]
    if not pairs:
        return NO_SHIFT
    shallowest = min(pairs, key=lambda pair: len(pair[0]))
    plainest = sorted(_shifts(*shallowest), key=lambda shift: shift.is_aside)
    return next((shift for shift in plainest if all(shift(a) == b for a, b in pairs)), None)


def _shifts(ours: str, theirs: str) -> Iterator[IndentShift]:
    """What may have turned one indentation into the other."""
    steps = [("", "")]
    for width in (4, 2, 8, 3):
        steps += [(" " * width, "\t"), ("\t", " " * width)]
    for old, new in steps:
        turned = ours.replace(old, new) if old else ours
        if theirs.endswith(turned):
            yield IndentShift(put=theirs[: len(theirs) - len(turned)], old=old, new=new)
        elif turned.endswith(theirs):
            yield IndentShift(take=turned[: len(turned) - len(theirs)], old=old, new=new)


MatchKind = Literal["exact", "whitespace", "anchored"]

_BUDGET = 200_000
"""Lines that one search may compare."""

_ANCHORED_LINES = 4
"""The shortest block that may be found by its first and last lines."""
_ALIKE = 0.5

_MAX_PLACES = 11
"""Places after which no more are sought."""

_MAX_COMPARED_LINES = 200
"""Lines of a block up to which search and replacement are compared line by line."""
_TYPOGRAPHY = str.maketrans("‘’“”–—−‑", "''\"\"----")


@dataclass(frozen=True, slots=True)
class TextMatch:
    """A piece of a text, and how the lines of the search were indented there."""

    start: int
    end: int
    shift: IndentShift = NO_SHIFT


class TooManyMatches(Exception):
    """So many places nearly fit that it cannot be told how many do."""


def exact_matches(text: str, search: str) -> Iterator[TextMatch]:
    """Every place of the search text, those that overlap too."""
    at = text.find(search)
    while at >= 0:
        yield TextMatch(at, at + len(search))
        at = text.find(search, at + 1)


def whitespace_matches(text: str, search: str) -> Iterator[TextMatch]:
    """Whole lines that differ from the search in trailing blanks and by one shift of the indentation."""
    sought, closed = search_lines(search)
    bare = [line.strip(BLANKS) for line in sought]
    if not any(bare):
        return
    lines = text.split("\n")
    joined = "\n".join(["", *(line.strip(BLANKS) for line in lines), ""])
    needle = "\n".join(["", *bare, ""])
    places = _RowOffsets(lines)
    row, seen, budget = 0, 0, _BUDGET
    at = joined.find(needle)
    while at >= 0:
        row += joined.count("\n", seen, at)
        seen = at
        budget -= len(sought)
        if budget < 0:
            raise TooManyMatches
        shift = shift_between(sought, lines[row : row + len(sought)])
        if shift is not None:
            yield places.match(row, len(sought), closed, shift)
        at = joined.find(needle, at + 1)


def anchored_matches(text: str, search: str) -> Iterator[TextMatch]:
    """Blocks of as many lines whose first and last are those of the search and whose middle is alike.

    A single block is taken only when its first or last line stands nowhere else: otherwise the search may
    be meant for another one, which is not as alike.
    """
    sought, closed = search_lines(search)
    bare = [line.strip(BLANKS) for line in sought]
    count = len(bare)
    if count < _ANCHORED_LINES or not bare[0] or not bare[-1]:
        return
    lines = text.split("\n")
    held = [line.strip(BLANKS) for line in lines]
    existing, likeness, budget = frozenset(held), LineSimilarity(), _BUDGET
    matches: list[tuple[int, IndentShift]] = []
    for row in range(len(held) - count + 1):
        if held[row] != bare[0] or held[row + count - 1] != bare[-1]:
            continue
        budget -= count
        shift = shift_between((sought[0], sought[-1]), (lines[row], lines[row + count - 1]))
        if shift is not None and _is_alike(bare[1:-1], held[row + 1 : row + count - 1], existing, likeness):
            matches.append((row, shift))
        if budget < 0 or likeness.spent:
            raise TooManyMatches
        if len(matches) == _MAX_PLACES:
            break
    places = _RowOffsets(lines)
    if len(matches) > 1 or held.count(bare[0]) == 1 or held.count(bare[-1]) == 1:
        yield from (places.match(row, count, closed, shift) for row, shift in matches)


def _is_alike(
    sought: Sequence[str], held: Sequence[str], existing: AbstractSet[str], likeness: LineSimilarity
) -> bool:
    """Whether at least half of the lines are equal, and the others differ in little.

    A line that the file has somewhere else is not meant for another one.
    """
    unequal = [(ours, theirs) for ours, theirs in zip(sought, held, strict=True) if ours != theirs]
    if 2 * len(unequal) > len(sought) or any(ours in existing for ours, _ in unequal):
        return False
    return all(likeness(ours, theirs) >= _ALIKE for ours, theirs in unequal)


def search_lines(search: str) -> tuple[list[str], bool]:
    """The lines of a search text, and whether it goes on to the end of its last line."""
    closed = search.endswith("\n")
    return (search[:-1] if closed else search).split("\n"), closed


class _RowOffsets:
    """From rows to places in the text, in ascending order of rows."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._row = 0
        self._at = 0

    def match(self, row: int, count: int, closed: bool, shift: IndentShift) -> TextMatch:
        self._at += sum(len(line) + 1 for line in self._lines[self._row : row])
        self._row = row
        end = self._at + sum(len(line) + 1 for line in self._lines[row : row + count])
        last = row + count == len(self._lines)
        return TextMatch(self._at, end if closed and not last else end - 1, shift)


def reindent(search: str, replace: str, matched: str, shift: IndentShift) -> str:
    """The replacement as it goes in place of what was found by anything but its exact text.

    Its lines are shifted as those of the search were. A line that search and replacement share stays as
    the file has it.
    """
    sought, _ = search_lines(search)
    replacement, closed = search_lines(replace)
    held, held_closed = search_lines(matched)
    lines: list[str] = []
    turned = shift.turning(sought, replacement)
    for is_kept, ours, theirs in shared_blocks(sought, replacement):
        lines += held[ours] if is_kept else [_shift_line(line, turned) for line in replacement[theirs]]
    if replace == "":
        return ""
    closes = closed and (held_closed or not search.endswith("\n"))
    return "\n".join(lines) + ("\n" if closes else "")


def differing_kept_lines(search: str, replace: str, matched: str) -> list[tuple[str, str]] | None:
    """Lines that stay though the search has them otherwise than the file, as both have them.

    None when the replacement would take one of those away: whoever wrote it does not know what the file says.
    """
    sought, held = search_lines(search)[0], search_lines(matched)[0]
    stay: list[tuple[str, str]] = []
    for is_kept, ours, _ in shared_blocks(sought, search_lines(replace)[0]):
        for line, theirs in zip(sought[ours], held[ours], strict=True):
            if is_kept and line.strip(BLANKS) != theirs.strip(BLANKS):
                stay.append((line, theirs))
            elif not is_kept and _without_typography(line) != _without_typography(theirs):
                return None
    return stay


def _without_typography(line: str) -> str:
    """A line without what says nothing: blanks, and how quotes and dashes are set."""
    return "".join(line.split()).translate(_TYPOGRAPHY)


def begins_in_indentation(text: str, at: int, search: str, replace: str) -> bool:
    """Whether an exact place begins among the blanks of its line, and new lines would stand further out.

    Then the search is likely indented less than the file, and so is the replacement.
    """
    if search[0] not in BLANKS or at == 0 or text[at - 1] not in BLANKS:
        return False
    start = text.rfind("\n", 0, at) + 1
    if text[start:at].strip(BLANKS):
        return False
    depth = len(indent_of(text[start : at + len(search)]))
    return any(len(indent_of(line)) < depth for line in replace.split("\n")[1:] if line.strip(BLANKS))


def shared_blocks(sought: list[str], replacement: list[str]) -> Iterator[tuple[bool, slice, slice]]:
    """What search and replacement share, and what they do not; for large blocks only before and after."""
    if max(len(sought), len(replacement)) <= _MAX_COMPARED_LINES:
        for kind, ours, ours_end, theirs, theirs_end in SequenceMatcher(
            None, sought, replacement, autojunk=False
        ).get_opcodes():
            yield kind == "equal", slice(ours, ours_end), slice(theirs, theirs_end)
        return
    least = min(len(sought), len(replacement))
    front = next((row for row in range(least) if sought[row] != replacement[row]), least)
    back = next(
        (row for row in range(least - front) if sought[-1 - row] != replacement[-1 - row]), least - front
    )
    yield True, slice(front), slice(front)
    yield False, slice(front, len(sought) - back), slice(front, len(replacement) - back)
    yield True, slice(len(sought) - back, None), slice(len(replacement) - back, None)


def _shift_line(line: str, shift: IndentShift) -> str:
    indent = indent_of(line)
    return line if len(indent) == len(line) else shift(indent) + line[len(indent) :]
