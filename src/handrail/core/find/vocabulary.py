"""Vocabulary: the terms of many tools, and those of them that a word nobody wrote may stand for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import islice

from handrail.core.find.planes import Bits, Planes, add, bits_of, largest, slots_of

_LOOKED_AT = 16
"""How many terms are compared letter by letter."""
_TAKEN = 4
_LONGEST = 40


class Vocabulary:
    """Terms in order. `known` says which of them count: those of tools that the one who asks may see."""

    def __init__(self, terms: Iterable[str]) -> None:
        self.terms = tuple(sorted(terms))
        by_pair: dict[str, list[int]] = {}
        by_length: dict[int, list[int]] = {}
        for slot, term in enumerate(self.terms):
            by_length.setdefault(len(term), []).append(slot)
            for pair in _pairs(term):
                by_pair.setdefault(pair, []).append(slot)
        self._by_pair = {pair: bits_of(slots, len(self.terms)) for pair, slots in by_pair.items()}
        self._by_length = {length: bits_of(slots, len(self.terms)) for length, slots in by_length.items()}

    def near(self, word: str, known: Bits) -> set[str]:
        """Terms that a word may be meant for: longer ones, a shorter one, others with nearly its letters."""
        if not 3 <= len(word) <= _LONGEST or not word.isalpha():
            return set()
        return {*self._begun_by(word, known), *self._beginning(word, known), *self._spelled_like(word, known)}

    def split(self, word: str, known: Bits) -> tuple[str, str] | None:
        """The two terms that a word is made of: webfetch is web and fetch."""
        for at in range(len(word) - 3, 2, -1):
            if self.has(word[:at], known) and self.has(word[at:], known):
                return word[:at], word[at:]
        return None

    def has(self, term: str, known: Bits) -> bool:
        slot = bisect_left(self.terms, term)
        return slot < len(self.terms) and self.terms[slot] == term and bool(known >> slot & 1)

    def _begun_by(self, word: str, known: Bits) -> list[str]:
        """The first few terms that begin with a word: auth is meant for authenticate."""
        start, end = bisect_left(self.terms, word), bisect_left(self.terms, f"{word}\U0010ffff")
        span = (known >> start) & ((1 << (end - start)) - 1)
        return [self.terms[start + slot] for slot in islice(slots_of(span), _TAKEN)]

    def _beginning(self, word: str, known: Bits) -> list[str]:
        """The longest term that a word begins with: deployment is meant for deploy."""
        least = max(4, len(word) // 2)
        starts = (word[:length] for length in range(len(word) - 1, least - 1, -1))
        return [start for start in starts if self.has(start, known)][:1]

    def _spelled_like(self, word: str, known: Bits) -> list[str]:
        """The terms with the fewest slips of the pen between them and the word."""
        slips = len(word) // 4
        shared: Planes = []
        for pair in _pairs(word):
            add(shared, [self._by_pair.get(pair, 0)])
        as_long = 0
        for length in range(len(word) - slips, len(word) + slips + 1):
            as_long |= self._by_length.get(length, 0)
        candidates = [self.terms[slot] for slot in slots_of(largest(shared, known & as_long, _LOOKED_AT))]
        apart = {term: distance(word, term) for term in candidates}
        fewest = min(apart.values(), default=slips + 1)
        return [term for term, slipped in apart.items() if slipped == fewest <= slips][:_TAKEN]


def _pairs(term: str) -> set[str]:
    """The pairs of letters that stand together, the ends of the term included."""
    return {f"^{term}"[:2], f"{term}$"[-2:], *(term[at : at + 2] for at in range(len(term) - 1))}


def distance(one: str, other: str) -> int:
    """How many letters are added, left out, changed or swapped with their neighbour."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
