"""Likeness: how alike two lines are, within a bound on the work that one search may cause."""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher
from itertools import pairwise

_LETTERS = 120
"""Characters of a line up to which it is compared letter by letter, which may take their number squared."""
_LONG_LINE = 500
"""Lines beyond this are equal or not."""
_WORK = 4_000_000
"""Pairs of letters that are compared for one search."""


class Likeness:
    """Measures until its work is spent; from then on what is not equal is not alike."""

    def __init__(self, work: int = _WORK) -> None:
        self._left = work

    @property
    def spent(self) -> bool:
        return self._left < 0

    def __call__(self, one: str, other: str) -> float:
        """1 when equal, 0 when nothing is shared or it cannot be told."""
        if one == other:
            return 1.0
        longest = max(len(one), len(other))
        if not one or not other or longest > _LONG_LINE:
            return 0.0
        self._left -= len(one) * len(other) if longest <= _LETTERS else longest
        if self.spent:
            return 0.0
        if longest <= _LETTERS:
            return SequenceMatcher(None, one, other, autojunk=False).ratio()
        return _by_pairs(one, other)


def _by_pairs(one: str, other: str) -> float:
    """How many pairs of neighbouring letters two lines share."""
    shared = Counter(pairwise(one)) & Counter(pairwise(other))
    return 2 * shared.total() / (len(one) + len(other) - 2)
