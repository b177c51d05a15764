"""Which lines two texts share, however long they are."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

Opcode = tuple[str, int, int, int, int]

_COMPARED = 2_000
"""Lines up to which two sides are compared with each other; beyond, one is gone and the other is new."""


def compared(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """What turns one side into the other, as `difflib` tells it.

    Long sides are cut at lines that each of them has once, so that it takes little more than their length.
    """
    if max(len(old), len(new)) <= _COMPARED:
        return list(SequenceMatcher(None, old, new).get_opcodes())
    told: list[Opcode] = []
    ours = theirs = 0
    for row, other in (*_fixed(old, new), (len(old), len(new))):
        for one in _between(old[ours:row], new[theirs:other], ours, theirs):
            _add(told, one)
        if row < len(old):
            _add(told, ("equal", row, row + 1, other, other + 1))
        ours, theirs = row + 1, other + 1
    return told


def _between(old: Sequence[str], new: Sequence[str], row: int, other: int) -> Iterator[Opcode]:
    """The same of two pieces that begin at these lines."""
    if not old and not new:
        return
    if max(len(old), len(new)) > _COMPARED or set(old).isdisjoint(new):
        kind = "replace" if old and new else "delete" if old else "insert"
        yield kind, row, row + len(old), other, other + len(new)
        return
    for kind, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
        yield kind, row + a, row + b, other + c, other + d


def _add(told: list[Opcode], one: Opcode) -> None:
    """Put it behind the others, as one with the last where that is of its kind."""
    if told and told[-1][0] == one[0]:
        _, a, _, c, _ = told.pop()
        one = (one[0], a, one[2], c, one[4])
    told.append(one)


def _fixed(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
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
    return list(_Chain.whole(chains[-1] if chains else None))[::-1]


class _Chain(NamedTuple):
    """The longest row of pairs in ascending order that ends with one."""

    pair: tuple[int, int]
    before: _Chain | None

    @staticmethod
    def whole(chain: _Chain | None) -> Iterator[tuple[int, int]]:
        """Its pairs, the last one first."""
        while chain is not None:
            yield chain.pair
            chain = chain.before
