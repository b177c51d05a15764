"""Why an edit found nothing or too much, told so that the next call is right."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import zip_longest

from handrail.toolsets.workspace.files.text_match import LineSimilarity

_LINE_NUMBER = re.compile(r"\s*\d+(\t|→|\||: )")
_MAX_DIFFERENCES = 3
_MAX_QUOTED = 160

_MAX_COMPARED_LINE = 1_000
"""Lines beyond this are shown, not compared."""
_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": "'", "”": "'", '"': "'", "`": "'"})
_DASHES = str.maketrans({"–": "-", "—": "-", "−": "-", "‑": "-"})
_ELLIPSIS = re.compile(r"\s*(?:#|//|--|/\*|<!--)?\s*(?:\.\.\.|…).*")
_REGEX_SYNTAX = re.compile(r"\.[*+]|\\[sdwb.()\[]|\[\^")
_HTML_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|#\d+);")


def likely_mistakes(search: str) -> list[str]:
    """What is likely wrong with a search text, whatever the file holds."""
    hints = []
    if strip_line_numbers(search) != search:
        hints.append("search begins with line numbers, which are not part of the file: leave them out.")
    if "\n" not in search and "\\n" in search:
        hints.append("search has a backslash and an n where a line should end: write real line ends.")
    if _HTML_ENTITY.search(search):
        hints.append("search has HTML entities such as &lt;: write the characters themselves.")
    if any(_ELLIPSIS.fullmatch(line) for line in search.split("\n")):
        hints.append("search leaves lines out with dots: write all of them, or search for fewer lines.")
    if _REGEX_SYNTAX.search(search):
        hints.append("search is taken as it is written, not as a regular expression.")
    return hints


def strip_line_numbers(search: str) -> str:
    """The search without the line numbers of a listing, if all of its lines have one."""
    lines = ["" if line.strip().isdecimal() else line for line in search.split("\n")]
    filled = [line for line in lines if line.strip()]
    if not filled or not all(map(_LINE_NUMBER.match, filled)):
        return search
    return "\n".join(_LINE_NUMBER.sub("", line, count=1) for line in lines)


def describe_differences(search_lines: Sequence[str], held: Sequence[str], row: int) -> list[str]:
    """The first lines that differ, and in what."""
    lines: list[str] = []
    unequal = 0
    for nth, (ours, theirs) in enumerate(zip_longest(search_lines, held)):
        if ours == theirs:
            continue
        unequal += 1
        if unequal <= _MAX_DIFFERENCES:
            lines.append(_describe_difference(ours, theirs, row + nth, alone=len(search_lines) == 1))
    if unequal > _MAX_DIFFERENCES:
        lines.append(f"and {unequal - _MAX_DIFFERENCES} more lines")
    return lines


def _describe_difference(ours: str | None, theirs: str | None, row: int, *, alone: bool) -> str:
    """A line that differs. What is around a single one does not matter: it may stand anywhere in a line."""
    if theirs is None:
        return f"the file ends before line {row}, search goes on with {quote_line(ours or '')}"
    if ours is None:
        return f"search ends before line {row}"
    if alone:
        ours, theirs = ours.strip(), theirs.strip()
    reasons = "" if max(len(ours), len(theirs)) > _MAX_COMPARED_LINE else " and ".join(_reasons(ours, theirs))
    where = f"line {row}"
    if reasons:
        where += f" in {reasons}"
    return f"{where}: search has {quote_line(ours)}, the file has {quote_line(theirs)}"


def _reasons(ours: str, theirs: str) -> list[str]:
    """The kinds of difference that together are the whole difference, or none."""
    remaining = ours, theirs
    reasons = []
    for name, plain in _DIFFERENCE_KINDS:
        less = plain(remaining[0]), plain(remaining[1])
        if less[0] == less[1] or (less != remaining and _unequal(*less) < _unequal(*remaining)):
            reasons.append(name)
            remaining = less
        if remaining[0] == remaining[1]:
            return reasons
    return []


def _unequal(ours: str, theirs: str) -> int:
    """In how many places two texts differ."""
    return sum(a != b for a, b in zip_longest(ours, theirs))


_DIFFERENCE_KINDS = (
    ("a carriage return", lambda line: line.replace("\r", "")),
    ("trailing blanks", str.rstrip),
    ("tabs and spaces", lambda line: line.replace("\t", "    ")),
    ("blanks", lambda line: "".join(line.split())),
    ("kinds of quotes", lambda line: line.translate(_QUOTES)),
    ("kinds of dashes", lambda line: line.translate(_DASHES)),
    ("how its letters are composed", lambda line: unicodedata.normalize("NFKC", line)),
    ("case", str.casefold),
)


def quote_line(line: str) -> str:
    """A line with its tabs and other characters that cannot be seen written out."""
    shown = _cut(line, _MAX_QUOTED)
    plain = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in shown)
    return f"`{plain}`"


_MAX_COMPARED_PLACES = 8
"""Places that are compared line by line."""
_MAX_CANDIDATES = 3

_MAX_SEARCH_LINES = 60
"""Lines of the search that are compared with each place."""

_TOO_COMMON = 200
"""A line or word that stands in more places tells nothing about where."""
_MIN_SIMILARITY = 0.4

_MAX_FOLDED = 500
"""Characters of a line that are looked at."""

_FOLD = _QUOTES | str.maketrans({" ": "", "\t": "", "\r": "", "\u00a0": ""})
_WORD = re.compile(r"\w{3,}")


@dataclass(frozen=True, slots=True)
class SimilarLines:
    """Lines that are like a text."""

    row: int
    count: int
    percent: int


def fold_line(line: str) -> str:
    """A line without what is easily written another way: blanks, case, kinds of quotes."""
    return line[:_MAX_FOLDED].translate(_FOLD).casefold()


def most_similar(lines: Sequence[str], search: str) -> list[SimilarLines]:
    """At most three places, the most alike first."""
    search_lines = search.rstrip("\n").split("\n")[:_MAX_SEARCH_LINES]
    starts = _by_lines(lines, search_lines) or _by_words(lines, search_lines)
    likeness = LineSimilarity()
    scored = [(_score(lines, search_lines, row, likeness), -row) for row in starts]
    best = nlargest(_MAX_CANDIDATES, (candidate for candidate in scored if candidate[0] >= _MIN_SIMILARITY))
    if best and best[0][0] > 0.9:
        best = [candidate for candidate in best if candidate[0] > 0.9]
    count = search.rstrip("\n").count("\n") + 1
    return [
        SimilarLines(1 - row, min(count, len(lines) + row), min(99, int(100 * score))) for score, row in best
    ]


def _by_lines(lines: Sequence[str], search_lines: Sequence[str]) -> list[int]:
    """Where the text would begin by those of its lines that are in the file, however they are written."""
    sought: dict[str, list[int]] = {}
    for nth, line in enumerate(search_lines):
        if len(folded := fold_line(line)) > 1:
            sought.setdefault(folded, []).append(nth)
    places: dict[str, list[int]] = {folded: [] for folded in sought}
    for row, line in enumerate(lines):
        if (rows_of_line := places.get(fold_line(line))) is not None and len(rows_of_line) <= _TOO_COMMON:
            rows_of_line.append(row)
    votes: Counter[int] = Counter()
    for folded, rows in places.items():
        if len(rows) <= _TOO_COMMON:
            for nth in sought[folded][:3]:
                for row in rows:
                    if row >= nth:
                        votes[row - nth] += min(len(folded), 40)
    return [row for row, _ in votes.most_common(_MAX_COMPARED_PLACES)]


def _by_words(lines: Sequence[str], search_lines: Sequence[str]) -> list[int]:
    """Where the line of the text that says most would stand by the words it shares with lines of the file."""
    nth = max(range(len(search_lines)), key=lambda at: len(search_lines[at].strip()))
    words = {word.casefold() for word in _WORD.findall(search_lines[nth])}
    if not words:
        return []
    shared: dict[int, set[str]] = {}
    spread: Counter[str] = Counter()
    for row, line in enumerate(lines):
        common = words.intersection(map(str.casefold, _WORD.findall(line[:2_000])))
        if common:
            shared[row] = common
            spread.update(common)
    best = nlargest(
        _MAX_COMPARED_PLACES,
        shared,
        key=lambda row: (sum(len(word) / spread[word] for word in shared[row]), -row),
    )
    return [row - nth for row in best if row >= nth]


def _score(lines: Sequence[str], search_lines: Sequence[str], row: int, likeness: LineSimilarity) -> float:
    """How alike the text and the lines from a row on are, by the share of each line."""
    total = sum(len(line.strip()) + 1 for line in search_lines)
    alike = 0.0
    for line, held in zip(search_lines, lines[row : row + len(search_lines)], strict=False):
        ours, theirs = line.strip(), held.strip()
        share = _share(ours, theirs, len(search_lines) == 1, likeness)
        alike += share * (len(ours) + 1)
    return alike / total


def _share(ours: str, theirs: str, alone: bool, likeness: LineSimilarity) -> float:
    """How much of a line is in a line of the file; a single one may be a part of it."""
    folded, folded_theirs = fold_line(ours), fold_line(theirs)
    if folded == folded_theirs:
        return 1.0
    return 0.95 if alone and folded and folded in folded_theirs else likeness(ours, theirs)


MAX_PLACES = 10
_MAX_SHOWN_LINES = 12
_MAX_SHOWN_CHARACTERS = 200
_MATCH_NOTES = {"whitespace": " but for whitespace", "anchored": " by its first and last lines"}
SAME_TEXT = "search and replace are the same text, so nothing would change. Give the new text as replace."


def empty_search(name: str) -> str:
    return (
        f"search is empty, but {name} is not. An empty search fills an empty or new file only: "
        "give the lines to be replaced as search, or use write_file to replace the whole file."
    )


def several_matches(text: str, search: str, rows: Sequence[int], way: str, name: str) -> str:
    """More than one place fits: where they are, and what would tell them apart."""
    shown = rows[:MAX_PLACES]
    lines = text.removesuffix("\n").split("\n")
    count = search.rstrip("\n").count("\n") + 1
    more = f"{len(shown)} or more" if len(rows) > len(shown) else str(len(rows))
    report = [f"the search text fits {more} places in {name}{_MATCH_NOTES.get(way, '')}:"]
    for row, places in Counter(shown).items():
        report.append(f"line {row}:" if places == 1 else f"line {row}, {places} times:")
        report += _with_line_numbers(lines, max(1, row - 1), min(len(lines), row + min(count, 3)))
    return "\n".join([*report, _how_to_distinguish(rows, way)])


def too_many_matches(name: str) -> str:
    """More places nearly fit than can be compared."""
    return (
        f"the search text is not in {name} exactly, and too many places are like it to compare them all. "
        "Copy the lines exactly as the file has them."
    )


def _how_to_distinguish(rows: Sequence[int], way: str) -> str:
    """What tells places apart."""
    if way == "anchored":
        return "Copy the lines of the one you mean exactly as the file has them."
    more = "Add a line before or after it to search"
    if len(set(rows)) < len(rows):
        more = "Add more of its line to search"
    return f"{more} so that one place fits, or set replace_all to true."


def no_match(text: str, search: str, name: str, earlier: bool) -> str:
    """Nothing fits: what comes nearest and how it differs."""
    lines = text.split("\n")
    count = len(lines) - (lines[-1] == "")
    if not count:
        return f"{name} is empty, so there is nothing to find. Give an empty search to fill it."
    report = [f"the search text is not in {name} ({count} line{'s' * (count != 1)})."]
    if earlier:
        report.append(
            "It was there before this call: an earlier edit of the same call has replaced it. "
            "Edits are applied in order, so search for the text as the earlier ones leave it."
        )
    report += likely_mistakes(search)
    meant = strip_line_numbers(search)
    candidates = most_similar(lines, meant)
    if not candidates:
        report.append("Nothing like it was found either. Read the file and copy the lines as they are.")
        return "\n".join(report)
    report.append("Nearest:")
    search_lines = meant.rstrip("\n").split("\n")
    for candidate in candidates:
        report += _describe_candidate(lines, search_lines, candidate)
    report.append("Copy the lines as the file has them, without line numbers, and call again.")
    return "\n".join(report)


def _describe_candidate(lines: Sequence[str], search: Sequence[str], candidate: SimilarLines) -> list[str]:
    first, last = candidate.row, candidate.row + candidate.count - 1
    where = f"line {first}" if first == last else f"lines {first} to {last}"
    return [
        f"{where} ({candidate.percent} % alike):",
        *_with_line_numbers(lines, first, last),
        *(f"  differs: {reason}" for reason in describe_differences(search, lines[first - 1 : last], first)),
    ]


def _with_line_numbers(lines: Sequence[str], first: int, last: int) -> list[str]:
    """Lines with their numbers; of many only the first ones."""
    end = min(last, first + _MAX_SHOWN_LINES - 1)
    numbered = [f"{row:>6}\t{_cut(lines[row - 1], _MAX_SHOWN_CHARACTERS)}" for row in range(first, end + 1)]
    return numbered + ([f"       … {last - end} more lines"] if last > end else [])


def _cut(line: str, most: int) -> str:
    return line if len(line) <= most else line[:most] + "…"
