"""rank: the visible tools that fit some words best.

A word is looked for with every term that may stand for it: its synonyms, and where no visible tool has
any of these, terms that begin with it or are spelled nearly like it. A tool gets the best of them, times
how rare they are together. Of what is hidden nothing counts: not as a result, not in how rare a word is,
not among the terms that a misspelled word may be meant for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from operator import itemgetter

from handrail.core.define.found import BELOW_EXACT, EXACT, Found
from handrail.core.find.index import PARTS, TOP, Shelf
from handrail.core.find.planes import Bits, Planes, add, largest, put, slots_of
from handrail.core.find.registry import every_name
from handrail.core.find.synonyms import SYNONYMS
from handrail.core.find.words import WEAK, pieces, stem

_TEXT = 2_000
"""How many characters of a query are read."""
_WORDS = 32
"""How many words of it are looked for."""
_SYNONYM, _NEAR, _WEAK, _TWO_WORDS = 0.5, 0.5, 0.1, 2.0
"""What counts less or more than a plain word: a synonym, what it may be meant for, what says little, and two
words that some tool has as one."""
_GRAIN = 64
"""Steps to one unit of a score, which is added up in whole numbers."""


@dataclass(frozen=True, slots=True)
class Sought:
    """A word of the query, and how much each of the terms counts that it is looked for with."""

    word: str
    terms: dict[str, float]
    weight: float


Met = list[tuple[float, Bits]]
"""Visible tools that have a term for a word, by the impact it has on them."""


def rank(query: str, shelves: Sequence[Shelf], limit: int) -> list[Found]:
    """The best tools first, equal ones by id; none when no word of the query fits any."""
    text = query[:_TEXT].strip()
    sought = _sought(text, shelves)
    met = [[_meet(one, shelf) for shelf in shelves] for one in sought]
    total = sum(shelf.visible.bit_count() for shelf in shelves)
    worth = [
        _GRAIN * one.weight * _rarity(by_shelf, total) for one, by_shelf in zip(sought, met, strict=True)
    ]
    best = TOP * sum(worth)
    found: list[tuple[tuple[bool, bool, int, str], Found]] = []
    for number, shelf in enumerate(shelves):
        sums, fitting = _added([by_shelf[number] for by_shelf in met], worth)
        named = {slot for slot in shelf.index.named(text) if shelf.visible >> slot & 1}
        for slot in named.union(slots_of(largest(sums, fitting, limit))):
            tool, exact = shelf.index.tools[slot], slot in named
            points = sum(1 << plane for plane, bits in enumerate(sums) if bits >> slot & 1)
            order = (not (exact and text in every_name(tool)), not exact, -points, tool.id)
            score = EXACT if exact else min(BELOW_EXACT, points / best)
            found.append((order, Found(tool, score, _matched(sought, shelf, slot))))
    found.sort(key=itemgetter(0))
    return [one for _, one in found[:limit]]


def _sought(text: str, shelves: Sequence[Shelf]) -> list[Sought]:
    """The words of the query that are looked for, each once."""
    read = pieces(text)[:_WORDS]
    found: dict[str, Sought] = {}
    for word in (word for piece in read for word in _known_words(piece, shelves)):
        term = stem(word)
        if term not in found:
            found[term] = _looked_for(word, term, shelves)
    for (one, *_), (other, *_) in pairwise(read):
        if _has(term := stem(one + other), shelves):
            found.setdefault(term, Sought(f"{one} {other}", {term: 1.0}, _TWO_WORDS))
    return list(found.values())


def _known_words(piece: tuple[str, ...], shelves: Sequence[Shelf]) -> Iterator[str]:
    """A piece as tools have it: in one, in its parts, or in the two words that were written as one."""
    whole, *parts = piece
    if _has(stem(whole), shelves):
        yield whole
    elif not parts:
        split = (shelf.index.vocabulary.split(stem(whole), shelf.known) for shelf in shelves)
        yield from next((two for two in split if two is not None), (whole,))
    yield from parts


def _looked_for(word: str, term: str, shelves: Sequence[Shelf]) -> Sought:
    if term in WEAK:
        return Sought(word, {term: 1.0}, _WEAK)
    looked_for = {term: 1.0} | dict.fromkeys(SYNONYMS.get(term, ()), _SYNONYM)
    if not any(_has(one, shelves) for one in looked_for):
        for shelf in shelves:
            looked_for |= dict.fromkeys(shelf.index.vocabulary.near(term, shelf.known), _NEAR)
    return Sought(word, looked_for, 1.0)


def _has(term: str, shelves: Sequence[Shelf]) -> bool:
    return any(shelf.has(term) for shelf in shelves)


def _meet(one: Sought, shelf: Shelf) -> Met:
    """Each visible tool once, by the largest impact."""
    classes = [
        (weight * impact, bits)
        for term, weight in one.terms.items()
        for impact, bits in shelf.index.classes(term)
    ]
    classes.sort(key=itemgetter(0), reverse=True)
    left, met = shelf.visible, []
    for impact, bits in classes:
        if here := bits & left:
            met.append((impact, here))
            left ^= here
    return met


def _rarity(met: Iterable[Met], total: int) -> float:
    """How much it says of a tool to be among those that were met, of so many in all."""
    number = sum(bits.bit_count() for by_impact in met for _, bits in by_impact)
    return log(1 + (total - number + 0.5) / (number + 0.5))


def _added(met: Iterable[Met], worth: Iterable[float]) -> tuple[Planes, Bits]:
    """For every tool of a shelf the points of all words together, and the tools that have any."""
    sums: Planes = []
    fitting = 0
    for by_impact, value in zip(met, worth, strict=True):
        points: Planes = []
        for impact, bits in by_impact:
            put(points, max(1, round(value * impact)), bits)
            fitting |= bits
        add(sums, points)
    return sums, fitting


def _matched(sought: list[Sought], shelf: Shelf, slot: int) -> dict[str, tuple[str, ...]]:
    """By part of a tool, the words of the query that say something and are met there."""
    words: dict[str, list[str]] = {}
    for one in sought:
        if one.weight == _WEAK:
            continue
        parts = 0
        for term in one.terms:
            parts |= shelf.index.parts_with(term, slot)
        for number in slots_of(parts):
            words.setdefault(PARTS[number].name, []).append(one.word)
    return {part: tuple(met) for part, met in words.items()}
