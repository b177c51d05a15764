"""What a change did to a text, as a unified diff of bounded size."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from io import StringIO
from typing import NamedTuple

Opcode = tuple[str, int, int, int, int]

_MAX_COMPARED_LINES = 2_000
"""Lines up to which two sides are compared with each other; beyond, one is gone and the other is new."""


def line_opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """What turns one side into the other, as `difflib` tells it.

    Long sides are cut at lines that each of them has once, so that it takes little more than their length.
    """
    if max(len(old), len(new)) <= _MAX_COMPARED_LINES:
        return list(SequenceMatcher(None, old, new).get_opcodes())
    opcodes: list[Opcode] = []
    ours = theirs = 0
    for row, other in (*_unique_common_lines(old, new), (len(old), len(new))):
        for opcode in _opcodes_between(old[ours:row], new[theirs:other], ours, theirs):
            _append_opcode(opcodes, opcode)
        if row < len(old):
            _append_opcode(opcodes, ("equal", row, row + 1, other, other + 1))
        ours, theirs = row + 1, other + 1
    return opcodes


def _opcodes_between(old: Sequence[str], new: Sequence[str], row: int, other: int) -> Iterator[Opcode]:
    """The same of two pieces that begin at these lines."""
    if not old and not new:
        return
    if max(len(old), len(new)) > _MAX_COMPARED_LINES or set(old).isdisjoint(new):
        kind = "replace" if old and new else "delete" if old else "insert"
        yield kind, row, row + len(old), other, other + len(new)
        return
    for kind, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
        yield kind, row + a, row + b, other + c, other + d


def _append_opcode(opcodes: list[Opcode], opcode: Opcode) -> None:
    """Put it behind the others, as one with the last where that is of its kind."""
    if opcodes and opcodes[-1][0] == opcode[0]:
        _, a, _, c, _ = opcodes.pop()
        opcode = (opcode[0], a, opcode[2], c, opcode[4])
    opcodes.append(opcode)


def _unique_common_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Lines that both sides have once and in the same order: as many as there are."""
    ours, theirs = Counter(old), Counter(new)
    places = {line: row for row, line in enumerate(new) if theirs[line] == 1}
    pairs = [(row, places[line]) for row, line in enumerate(old) if ours[line] == 1 and line in places]
    ends: list[int] = []
    chains: list[_Chain] = []
    for pair in pairs:
        at = bisect_left(ends, pair[1])
        ends[at : at + 1] = [pair[1]]
        chains[at : at + 1] = [_Chain(pair, chains[at - 1] if at else None)]
    longest: list[tuple[int, int]] = []
    chain = chains[-1] if chains else None
    while chain is not None:
        longest.append(chain.pair)
        chain = chain.before
    return longest[::-1]


class _Chain(NamedTuple):
    """The longest row of pairs in ascending order that ends with one."""

    pair: tuple[int, int]
    before: _Chain | None


_CONTEXT_LINES = 3
"""Unchanged lines that are shown around a change."""
_MAX_LINES = 300
_MAX_CHARACTERS = 12_000
_LONG_LINE = 500


@dataclass(frozen=True, slots=True)
class Diff:
    """The lines of a diff, and how many lines came and went altogether."""

    text: str
    added: int
    removed: int

    def __str__(self) -> str:
        return self.text


class UnchangedText(NamedTuple):
    """What two texts are known to share."""

    front: int = 0
    """Characters at the front."""
    back: int = 0
    """Characters at the back."""
    ended: int = 0
    """Lines that end in the front."""


_NOTHING_KNOWN = UnchangedText()


def diff(before: str, after: str, name: str, same: UnchangedText = _NOTHING_KNOWN) -> Diff:
    """The unified diff of two texts; empty when they are the same."""
    if before == after:
        return Diff("", 0, 0)
    front = before.rfind("\n", 0, _common_front(before, after, same.front, same.back)) + 1
    back = _common_back(before, after, front, same.back)
    above = same.ended + before.count("\n", same.front, front)
    gone, came = (
        lines_with_ends(before[front : len(before) - back]),
        lines_with_ends(after[front : len(after) - back]),
    )
    lead = lines_with_ends(before[_back_over(before, front) : front])
    tail = lines_with_ends(before[len(before) - back : _on_over(before, len(before) - back)])
    lines = [
        "--- /dev/null" if not before else f"--- a/{name}",
        "+++ /dev/null" if not after else f"+++ b/{name}",
    ]
    above -= len(lead)
    old, new = [*lead, *gone, *tail], [*lead, *came, *tail]
    if set(gone).isdisjoint(came):
        lines.append(f"@@ -{_span(0, len(old), above)} +{_span(0, len(new), above)} @@")
        lines += [*_marked(" ", lead), *_marked("-", gone), *_marked("+", came), *_marked(" ", tail)]
        return Diff(_bounded(lines), len(came), len(gone))
    opcodes = line_opcodes(old, new)
    changed = [opcode for opcode in opcodes if opcode[0] != "equal"]
    added = sum([end - start for _, _, _, start, end in changed])
    removed = sum([end - start for _, start, end, _, _ in changed])
    return Diff(_bounded(lines + _unified(old, new, opcodes, above)), added, removed)


def _common_front(before: str, after: str, shared: int, back: int) -> int:
    """How many characters two texts share at the front, without what they share at the back."""
    low, high = shared, min(len(before), len(after)) - back
    while low < high:
        middle = (low + high + 1) // 2
        if before[low:middle] == after[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_back(before: str, after: str, front: int, shared: int) -> int:
    """How many characters of whole lines two texts share at the back, beyond what they share in front."""
    ours, theirs = len(before), len(after)
    high = min(ours, theirs) - front
    low = min(shared, high)
    while low < high:
        middle = (low + high + 1) // 2
        if before[ours - middle : ours - low] == after[theirs - middle : theirs - low]:
            low = middle
        else:
            high = middle - 1
    begins, begin = ours - low, theirs - low
    if (
        low
        and (begins == front or before[begins - 1] == "\n")
        and (begin == front or after[begin - 1] == "\n")
    ):
        return low
    end = before.find("\n", begins)
    return 0 if end < 0 else ours - end - 1


def _back_over(text: str, at: int) -> int:
    """Where the lines begin that are shown before a place at the start of a line."""
    for _ in range(_CONTEXT_LINES):
        if at == 0:
            break
        at = text.rfind("\n", 0, at - 1) + 1
    return at


def _on_over(text: str, at: int) -> int:
    for _ in range(_CONTEXT_LINES):
        end = text.find("\n", at)
        if end < 0:
            return len(text)
        at = end + 1
    return at


def lines_with_ends(text: str) -> list[str]:
    """Lines with their ends, which are newlines and nothing else that Python takes for one."""
    return StringIO(text, newline="\n").readlines()


def _unified(old: list[str], new: list[str], opcodes: list[Opcode], above: int) -> list[str]:
    lines: list[str] = []
    for group in _KnownOpcodes(opcodes).get_grouped_opcodes(_CONTEXT_LINES):
        (_, a, _, c, _), (_, _, b, _, d) = group[0], group[-1]
        lines.append(f"@@ -{_span(a, b, above)} +{_span(c, d, above)} @@")
        for kind, ours, ours_end, theirs, theirs_end in group:
            if kind == "equal":
                lines += _marked(" ", old[ours:ours_end])
            else:
                lines += _marked("-", old[ours:ours_end])
                lines += _marked("+", new[theirs:theirs_end])
    return lines


class _KnownOpcodes(SequenceMatcher[str]):
    """Groups changes that stand near each other, with the unchanged lines around them."""

    def __init__(self, opcodes: list[Opcode]) -> None:
        super().__init__()
        self._opcodes = opcodes

    def get_opcodes(self) -> list[Opcode]:  # type: ignore[override]
        return self._opcodes


def _span(start: int, end: int, above: int) -> str:
    count = end - start
    first = above + start + (1 if count else 0)
    return f"{first}" if count == 1 else f"{first},{count}"


def _marked(mark: str, lines: list[str]) -> list[str]:
    """Lines with their mark. Only the last line of a text may have no end."""
    if not lines or lines[-1].endswith("\n"):
        return [mark + line[:-1] for line in lines]
    return [*[mark + line[:-1] for line in lines[:-1]], mark + lines[-1], "\\ No newline at end of file"]


def _bounded(lines: Sequence[str]) -> str:
    """The first lines of a diff, and how many more there are."""
    if len(lines) <= _MAX_LINES and max(map(len, lines)) <= _LONG_LINE:
        text = "\n".join(lines)
        if len(text) <= _MAX_CHARACTERS:
            return text
    return "\n".join(_first_lines(lines))


def _first_lines(lines: Sequence[str]) -> Iterator[str]:
    room = _MAX_CHARACTERS
    for nth, line in enumerate(lines):
        short = (
            line
            if len(line) <= _LONG_LINE
            else f"{line[:_LONG_LINE]}… [{len(line) - _LONG_LINE} more characters]"
        )
        room -= len(short) + 1
        if nth >= _MAX_LINES or room < 0:
            yield f"… [{len(lines) - nth} more lines of this diff are left out]"
            return
        yield short
