"""What tells a search text from the lines it was meant to be, in words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import zip_longest

_NUMBERED = re.compile(r"\s*\d+(\t|→|\||: )")
_MOST = 3
_SHOWN = 160
_LONG_LINE = 1_000
"""Lines beyond this are shown, not compared."""
_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": "'", "”": "'", '"': "'", "`": "'"})
_DASHES = str.maketrans({"–": "-", "—": "-", "−": "-", "‑": "-"})
_LEFT_OUT = re.compile(r"\s*(?:#|//|--|/\*|<!--)?\s*(?:\.\.\.|…).*")
_EXPRESSION = re.compile(r"\.[*+]|\\[sdwb.()\[]|\[\^")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|#\d+);")


def slips(search: str) -> list[str]:
    """What is likely wrong with a search text, whatever the file holds."""
    told = []
    if without_numbers(search) != search:
        told.append("search begins with line numbers, which are not part of the file: leave them out.")
    if "\n" not in search and "\\n" in search:
        told.append("search has a backslash and an n where a line should end: write real line ends.")
    if _ENTITY.search(search):
        told.append("search has HTML entities such as &lt;: write the characters themselves.")
    if any(_LEFT_OUT.fullmatch(line) for line in search.split("\n")):
        told.append("search leaves lines out with dots: write all of them, or search for fewer lines.")
    if _EXPRESSION.search(search):
        told.append("search is taken as it is written, not as a regular expression.")
    return told


def without_numbers(search: str) -> str:
    """The search without the line numbers of a listing, if all of its lines have one."""
    lines = ["" if line.strip().isdecimal() else line for line in search.split("\n")]
    said = [line for line in lines if line.strip()]
    if not said or not all(map(_NUMBERED.match, said)):
        return search
    return "\n".join(_NUMBERED.sub("", line, count=1) for line in lines)


def differences(wanted: Sequence[str], held: Sequence[str], row: int) -> list[str]:
    """The first lines that differ, and in what."""
    told: list[str] = []
    unequal = 0
    for nth, (ours, theirs) in enumerate(zip_longest(wanted, held)):
        if ours == theirs:
            continue
        unequal += 1
        if unequal <= _MOST:
            told.append(_difference(ours, theirs, row + nth, alone=len(wanted) == 1))
    if unequal > _MOST:
        told.append(f"and {unequal - _MOST} more lines")
    return told


def _difference(ours: str | None, theirs: str | None, row: int, *, alone: bool) -> str:
    """A line that differs. What is around a single one does not matter: it may stand anywhere in a line."""
    if theirs is None:
        return f"the file ends before line {row}, search goes on with {quoted(ours or '')}"
    if ours is None:
        return f"search ends before line {row}"
    if alone:
        ours, theirs = ours.strip(), theirs.strip()
    reasons = "" if max(len(ours), len(theirs)) > _LONG_LINE else " and ".join(_reasons(ours, theirs))
    where = f"line {row}"
    if reasons:
        where += f" in {reasons}"
    return f"{where}: search has {quoted(ours)}, the file has {quoted(theirs)}"


def _reasons(ours: str, theirs: str) -> Iterator[str]:
    """The kinds of difference that together are the whole difference, or none."""
    left = ours, theirs
    told = []
    for name, plain in _KINDS:
        less = plain(left[0]), plain(left[1])
        if less[0] == less[1] or (less != left and _nearer(left, less)):
            told.append(name)
            left = less
        if left[0] == left[1]:
            yield from told
            return


def _nearer(before: tuple[str, str], after: tuple[str, str]) -> bool:
    """Whether the two texts differ in fewer places after what was done to both."""
    return _unequal(*after) < _unequal(*before)


def _unequal(one: str, other: str) -> int:
    return sum(a != b for a, b in zip_longest(one, other))


def _tabless(line: str) -> str:
    return line.replace("\t", "    ")


def _blankless(line: str) -> str:
    return "".join(line.split())


_KINDS = (
    ("a carriage return", lambda line: line.replace("\r", "")),
    ("trailing blanks", str.rstrip),
    ("tabs and spaces", _tabless),
    ("blanks", _blankless),
    ("kinds of quotes", lambda line: line.translate(_QUOTES)),
    ("kinds of dashes", lambda line: line.translate(_DASHES)),
    ("how its letters are composed", lambda line: unicodedata.normalize("NFKC", line)),
    ("case", str.casefold),
)


def quoted(line: str) -> str:
    """A line with its tabs and other characters that cannot be seen written out."""
    shown = line if len(line) <= _SHOWN else line[:_SHOWN] + "…"
    plain = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in shown)
    return f"`{plain}`"
