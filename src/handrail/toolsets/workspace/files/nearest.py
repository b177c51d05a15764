"""The places of a file that come nearest to a text that is not in it.

Bounded by construction: lines vote for where the text may begin, only the best few places are compared, and
lines are compared up to a length.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest

from handrail.toolsets.workspace.files.likeness import Likeness

_COMPARED = 8
"""Places that are compared line by line."""
_SHOWN = 3
_MOST_WANTED = 60
"""Lines of the search that are compared with each place."""
_COMMON = 200
"""A line or word that stands in more places tells nothing about where."""
_LEAST = 0.4
_LONG_LINE = 500
"""Characters of a line that are looked at."""
_FOLD = str.maketrans(
    {"‘": "'", "’": "'", "“": "'", "”": "'", '"': "'", "`": "'", " ": "", "\t": "", "\r": "", "\u00a0": ""}
)
_WORD = re.compile(r"\w{3,}")


@dataclass(frozen=True, slots=True)
class Candidate:
    """Lines that are like a text."""

    row: int
    count: int
    percent: int


def fold(line: str) -> str:
    """A line without what is easily written another way: blanks, case, kinds of quotes."""
    return line[:_LONG_LINE].translate(_FOLD).casefold()


def nearest(lines: Sequence[str], search: str) -> list[Candidate]:
    """At most three places, the most alike first."""
    wanted = search.rstrip("\n").split("\n")[:_MOST_WANTED]
    starts = _by_lines(lines, wanted) or _by_words(lines, wanted)
    likeness = Likeness()
    scored = [(_score(lines, wanted, row, likeness), -row) for row in starts]
    best = nlargest(_SHOWN, (one for one in scored if one[0] >= _LEAST))
    if best and best[0][0] > 0.9:
        best = [one for one in best if one[0] > 0.9]
    count = search.rstrip("\n").count("\n") + 1
    return [
        Candidate(1 - row, min(count, len(lines) + row), min(99, int(100 * score))) for score, row in best
    ]


def _by_lines(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where the text would begin by those of its lines that are in the file, however they are written."""
    sought: dict[str, list[int]] = {}
    for nth, line in enumerate(wanted):
        if len(folded := fold(line)) > 1:
            sought.setdefault(folded, []).append(nth)
    places: dict[str, list[int]] = {folded: [] for folded in sought}
    for row, line in enumerate(lines):
        if (found := places.get(fold(line))) is not None and len(found) <= _COMMON:
            found.append(row)
    votes: Counter[int] = Counter()
    for folded, rows in places.items():
        if len(rows) <= _COMMON:
            for nth in sought[folded][:3]:
                for row in rows:
                    if row >= nth:
                        votes[row - nth] += min(len(folded), 40)
    return [row for row, _ in votes.most_common(_COMPARED)]


def _by_words(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where the line of the text that says most would stand by the words it shares with lines of the file."""
    nth = max(range(len(wanted)), key=lambda at: len(wanted[at].strip()))
    words = {word.casefold() for word in _WORD.findall(wanted[nth])}
    if not words:
        return []
    shared: dict[int, set[str]] = {}
    spread: Counter[str] = Counter()
    for row, line in enumerate(lines):
        found = words.intersection(map(str.casefold, _WORD.findall(line[:2_000])))
        if found:
            shared[row] = found
            spread.update(found)
    best = nlargest(
        _COMPARED, shared, key=lambda row: (sum(len(word) / spread[word] for word in shared[row]), -row)
    )
    return [row - nth for row in best if row >= nth]


def _score(lines: Sequence[str], wanted: Sequence[str], row: int, likeness: Likeness) -> float:
    """How alike the text and the lines from a row on are, by the share of each line."""
    total = sum(len(line.strip()) + 1 for line in wanted)
    alike = 0.0
    for line, held in zip(wanted, lines[row : row + len(wanted)], strict=False):
        ours, theirs = line.strip(), held.strip()
        share = _share(ours, theirs, len(wanted) == 1, likeness)
        alike += share * (len(ours) + 1)
    return alike / total


def _share(ours: str, theirs: str, alone: bool, likeness: Likeness) -> float:
    """How much of a line is in a line of the file; a single one may be a part of it."""
    one, other = fold(ours), fold(theirs)
    if one == other:
        return 1.0
    return 0.95 if alone and one and one in other else likeness(ours, theirs)
