"""What a change did to a text, as a unified diff of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from handrail.toolsets.workspace.files.comparing import Opcode, compared

_AROUND = 3
"""Unchanged lines that are shown around a change."""
_MOST_LINES = 300
_MOST_CHARACTERS = 12_000
_LONG_LINE = 500


@dataclass(frozen=True, slots=True)
class Diff:
    """The lines of a diff, and how many lines came and went altogether."""

    text: str
    added: int
    removed: int

    def __str__(self) -> str:
        return self.text


class Same(NamedTuple):
    """What two texts are known to share."""

    front: int = 0
    """Characters at the front."""
    back: int = 0
    """Characters at the back."""
    ended: int = 0
    """Lines that end in the front."""


_UNKNOWN = Same()


def diff(before: str, after: str, name: str, same: Same = _UNKNOWN) -> Diff:
    """The unified diff of two texts; empty when they are the same."""
    if before == after:
        return Diff("", 0, 0)
    front = _line_start(before, _common_front(before, after, same.front, same.back))
    back = _common_back(before, after, front, same.back)
    above = same.ended + before.count("\n", same.front, front)
    gone, came = ended(before[front : len(before) - back]), ended(after[front : len(after) - back])
    lead = ended(before[_back_over(before, front) : front])
    tail = ended(before[len(before) - back : _on_over(before, len(before) - back)])
    told = [
        "--- /dev/null" if not before else f"--- a/{name}",
        "+++ /dev/null" if not after else f"+++ b/{name}",
    ]
    above -= len(lead)
    old, new = [*lead, *gone, *tail], [*lead, *came, *tail]
    if set(gone).isdisjoint(came):
        told.append(f"@@ -{_span(0, len(old), above)} +{_span(0, len(new), above)} @@")
        told += [*_marked(" ", lead), *_marked("-", gone), *_marked("+", came), *_marked(" ", tail)]
        return Diff(_bounded(told), len(came), len(gone))
    opcodes = compared(old, new)
    changed = [one for one in opcodes if one[0] != "equal"]
    added = sum([end - start for _, _, _, start, end in changed])
    removed = sum([end - start for _, start, end, _, _ in changed])
    return Diff(_bounded(told + _unified(old, new, opcodes, above)), added, removed)


def _common_front(one: str, other: str, known: int, back: int) -> int:
    """How many characters two texts share at the front, without what they share at the back."""
    low, high = known, min(len(one), len(other)) - back
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_back(one: str, other: str, front: int, known: int) -> int:
    """How many characters of whole lines two texts share at the back, beyond what they share in front."""
    ours, theirs = len(one), len(other)
    high = min(ours, theirs) - front
    low = min(known, high)
    while low < high:
        middle = (low + high + 1) // 2
        if one[ours - middle : ours - low] == other[theirs - middle : theirs - low]:
            low = middle
        else:
            high = middle - 1
    begins, begin = ours - low, theirs - low
    if low and (begins == front or one[begins - 1] == "\n") and (begin == front or other[begin - 1] == "\n"):
        return low
    end = one.find("\n", begins)
    return 0 if end < 0 else ours - end - 1


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _back_over(text: str, at: int) -> int:
    """Where the lines begin that are shown before a place at the start of a line."""
    for _ in range(_AROUND):
        if at == 0:
            break
        at = text.rfind("\n", 0, at - 1) + 1
    return at


def _on_over(text: str, at: int) -> int:
    for _ in range(_AROUND):
        end = text.find("\n", at)
        if end < 0:
            return len(text)
        at = end + 1
    return at


def ended(text: str) -> list[str]:
    """Lines with their ends."""
    if not text:
        return []
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _unified(old: list[str], new: list[str], opcodes: list[Opcode], above: int) -> list[str]:
    told: list[str] = []
    for group in _groups(opcodes):
        (_, a, _, c, _), (_, _, b, _, d) = group[0], group[-1]
        told.append(f"@@ -{_span(a, b, above)} +{_span(c, d, above)} @@")
        for kind, ours, ours_end, theirs, theirs_end in group:
            if kind == "equal":
                told += _marked(" ", old[ours:ours_end])
            else:
                told += _marked("-", old[ours:ours_end])
                told += _marked("+", new[theirs:theirs_end])
    return told


def _groups(opcodes: list[Opcode]) -> Iterator[list[Opcode]]:
    """Changes that stand near each other, with the unchanged lines around them."""
    group: list[Opcode] = []
    for nth, (kind, a, b, c, d) in enumerate(opcodes):
        if kind != "equal":
            group.append((kind, a, b, c, d))
            continue
        first, last = nth == 0, nth == len(opcodes) - 1
        if not first and not last and b - a <= 2 * _AROUND:
            group.append((kind, a, b, c, d))
            continue
        if not first:
            group.append((kind, a, min(b, a + _AROUND), c, min(d, c + _AROUND)))
            yield group
            group = []
        if not last:
            group.append((kind, max(a, b - _AROUND), b, max(c, d - _AROUND), d))
    if any(kind != "equal" for kind, *_ in group):
        yield group


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
    if len(lines) <= _MOST_LINES and max(map(len, lines)) <= _LONG_LINE:
        text = "\n".join(lines)
        if len(text) <= _MOST_CHARACTERS:
            return text
    return "\n".join(_first(lines))


def _first(lines: Sequence[str]) -> Iterator[str]:
    room = _MOST_CHARACTERS
    for nth, line in enumerate(lines):
        short = (
            line
            if len(line) <= _LONG_LINE
            else f"{line[:_LONG_LINE]}… [{len(line) - _LONG_LINE} more characters]"
        )
        room -= len(short) + 1
        if nth >= _MOST_LINES or room < 0:
            yield f"… [{len(lines) - nth} more lines of this diff are left out]"
            return
        yield short
