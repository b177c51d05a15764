"""Where a search text stands in a file: exactly, but for whitespace, or between its first and last lines.

All three are bounded by construction: texts are sought by `str.find`, and what is compared line by line is
counted against a budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from handrail.toolsets.workspace.files.indentation import BLANKS, SAME, Shift, indent_of, shift_between
from handrail.toolsets.workspace.files.likeness import Likeness

Way = Literal["exact", "whitespace", "anchored"]

_BUDGET = 200_000
"""Lines that one search may compare."""
_ANCHORED_LINES = 4
"""The shortest block that may be found by its first and last lines."""
_ALIKE = 0.5
_SEVERAL = 11
"""Places after which no more are sought."""
_COMPARED = 200
"""Lines of a block up to which search and replacement are compared line by line."""
_SET = str.maketrans("‘’“”–—−‑", "''\"\"----")


@dataclass(frozen=True, slots=True)
class Match:
    """A piece of a text, and how the lines of the search were indented there."""

    start: int
    end: int
    shift: Shift = SAME


class TooManyPlaces(Exception):
    """So many places nearly fit that it cannot be told how many do."""


def exact(text: str, search: str) -> Iterator[Match]:
    """Every place of the search text, those that overlap too."""
    at = text.find(search)
    while at >= 0:
        yield Match(at, at + len(search))
        at = text.find(search, at + 1)


def whitespace(text: str, search: str) -> Iterator[Match]:
    """Whole lines that differ from the search in trailing blanks and by one shift of the indentation."""
    wanted, closed = lines_of(search)
    bare = [line.strip(BLANKS) for line in wanted]
    if not any(bare):
        return
    lines = text.split("\n")
    joined = "\n".join(["", *(line.strip(BLANKS) for line in lines), ""])
    needle = "\n".join(["", *bare, ""])
    places = _Places(lines)
    row, seen, budget = 0, 0, _BUDGET
    at = joined.find(needle)
    while at >= 0:
        row += joined.count("\n", seen, at)
        seen = at
        budget -= len(wanted)
        if budget < 0:
            raise TooManyPlaces
        shift = shift_between(wanted, lines[row : row + len(wanted)])
        if shift is not None:
            yield places.match(row, len(wanted), closed, shift)
        at = joined.find(needle, at + 1)


def anchored(text: str, search: str) -> Iterator[Match]:
    """Blocks of as many lines whose first and last are those of the search and whose middle is alike.

    A single block is taken only when its first or last line stands nowhere else: otherwise the search may
    be meant for another one, which is not as alike.
    """
    wanted, closed = lines_of(search)
    bare = [line.strip(BLANKS) for line in wanted]
    count = len(bare)
    if count < _ANCHORED_LINES or not bare[0] or not bare[-1]:
        return
    lines = text.split("\n")
    held = [line.strip(BLANKS) for line in lines]
    known, likeness, budget = frozenset(held), Likeness(), _BUDGET
    found: list[tuple[int, Shift]] = []
    for row in range(len(held) - count + 1):
        if held[row] != bare[0] or held[row + count - 1] != bare[-1]:
            continue
        budget -= count
        shift = shift_between((wanted[0], wanted[-1]), (lines[row], lines[row + count - 1]))
        if shift is not None and _alike(bare[1:-1], held[row + 1 : row + count - 1], known, likeness):
            found.append((row, shift))
        if budget < 0 or likeness.spent:
            raise TooManyPlaces
        if len(found) == _SEVERAL:
            break
    places = _Places(lines)
    if len(found) > 1 or held.count(bare[0]) == 1 or held.count(bare[-1]) == 1:
        yield from (places.match(row, count, closed, shift) for row, shift in found)


def _alike(wanted: Sequence[str], held: Sequence[str], known: AbstractSet[str], likeness: Likeness) -> bool:
    """Whether at least half of the lines are equal, and the others differ in little.

    A line that the file has somewhere else is not meant for another one.
    """
    unequal = [(ours, theirs) for ours, theirs in zip(wanted, held, strict=True) if ours != theirs]
    if 2 * len(unequal) > len(wanted) or any(ours in known for ours, _ in unequal):
        return False
    return all(likeness(ours, theirs) >= _ALIKE for ours, theirs in unequal)


def lines_of(search: str) -> tuple[list[str], bool]:
    """The lines of a search text, and whether it goes on to the end of its last line."""
    closed = search.endswith("\n")
    return (search[:-1] if closed else search).split("\n"), closed


class _Places:
    """From rows to places in the text, in ascending order of rows."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._row = 0
        self._at = 0

    def match(self, row: int, count: int, closed: bool, shift: Shift) -> Match:
        self._at += sum(len(line) + 1 for line in self._lines[self._row : row])
        self._row = row
        end = self._at + sum(len(line) + 1 for line in self._lines[row : row + count])
        last = row + count == len(self._lines)
        return Match(self._at, end if closed and not last else end - 1, shift)


def reindented(search: str, replace: str, found: str, shift: Shift) -> str:
    """The replacement as it goes in place of what was found by anything but its exact text.

    Its lines are shifted as those of the search were. A line that search and replacement share stays as
    the file has it.
    """
    wanted, _ = lines_of(search)
    given, closed = lines_of(replace)
    held, held_closed = lines_of(found)
    told: list[str] = []
    turned = shift.turning(wanted, given)
    for kept, ours, theirs in steps(wanted, given):
        told += held[ours] if kept else [_shifted(line, turned) for line in given[theirs]]
    if replace == "":
        return ""
    closes = closed and (held_closed or not search.endswith("\n"))
    return "\n".join(told) + ("\n" if closes else "")


def kept_otherwise(search: str, replace: str, found: str) -> list[tuple[str, str]] | None:
    """Lines that stay though the search has them otherwise than the file, as both have them.

    None when the replacement would take one of those away: whoever wrote it does not know what the file says.
    """
    wanted, held = lines_of(search)[0], lines_of(found)[0]
    stay: list[tuple[str, str]] = []
    for kept, ours, _ in steps(wanted, lines_of(replace)[0]):
        for line, theirs in zip(wanted[ours], held[ours], strict=True):
            if kept and line.strip(BLANKS) != theirs.strip(BLANKS):
                stay.append((line, theirs))
            elif not kept and _typed(line) != _typed(theirs):
                return None
    return stay


def _typed(line: str) -> str:
    """A line without what says nothing: blanks, and how quotes and dashes are set."""
    return "".join(line.split()).translate(_SET)


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


def steps(wanted: list[str], given: list[str]) -> Iterator[tuple[bool, slice, slice]]:
    """What search and replacement share, and what they do not; for large blocks only before and after."""
    if max(len(wanted), len(given)) <= _COMPARED:
        for kind, ours, ours_end, theirs, theirs_end in SequenceMatcher(
            None, wanted, given, autojunk=False
        ).get_opcodes():
            yield kind == "equal", slice(ours, ours_end), slice(theirs, theirs_end)
        return
    least = min(len(wanted), len(given))
    front = next((row for row in range(least) if wanted[row] != given[row]), least)
    back = next((row for row in range(least - front) if wanted[-1 - row] != given[-1 - row]), least - front)
    yield True, slice(front), slice(front)
    yield False, slice(front, len(wanted) - back), slice(front, len(given) - back)
    yield True, slice(len(wanted) - back, None), slice(len(given) - back, None)


def _shifted(line: str, shift: Shift) -> str:
    indent = indent_of(line)
    return line if len(indent) == len(line) else shift(indent) + line[len(indent) :]
