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

from handrail.core.define.lookup import EXACT_SCORE, MAX_INEXACT_SCORE, ToolMatch
from handrail.core.find.bitsets import Bits, Planes, add, largest, put, slots_of
from handrail.core.find.index import MAX_IMPACT, SEARCH_FIELDS, IndexView
from handrail.core.find.registry import every_name
from handrail.core.find.terms import STOP_TERMS, SYNONYMS, pieces, stem

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
class QueryTerm:
    """A word of the query, and how much each of the terms counts that it is looked for with."""

    word: str
    terms: dict[str, float]
    weight: float


Matches = list[tuple[float, Bits]]
"""Visible tools that have a term for a word, by the impact it has on them."""


def rank(query: str, views: Sequence[IndexView], limit: int) -> list[ToolMatch]:
    """The best tools first, equal ones by id; none when no word of the query fits any."""
    text = query[:_TEXT].strip()
    query_terms = _query_terms(text, views)
    matches = [[_matches(term, view) for view in views] for term in query_terms]
    total = sum(view.visible.bit_count() for view in views)
    worth = [
        _GRAIN * term.weight * _rarity(by_view, total)
        for term, by_view in zip(query_terms, matches, strict=True)
    ]
    best = MAX_IMPACT * sum(worth)
    ranked: list[tuple[tuple[bool, bool, int, str], ToolMatch]] = []
    for number, view in enumerate(views):
        sums, fitting = _total_points([by_view[number] for by_view in matches], worth)
        named = {slot for slot in view.index.named(text) if view.visible >> slot & 1}
        for slot in named.union(slots_of(largest(sums, fitting, limit))):
            tool, exact = view.index.tools[slot], slot in named
            points = sum(1 << plane for plane, bits in enumerate(sums) if bits >> slot & 1)
            order = (not (exact and text in every_name(tool)), not exact, -points, tool.id)
            score = EXACT_SCORE if exact else min(MAX_INEXACT_SCORE, points / best)
            ranked.append((order, ToolMatch(tool, score, _matched(query_terms, view, slot))))
    ranked.sort(key=itemgetter(0))
    return [match for _, match in ranked[:limit]]


def _query_terms(text: str, views: Sequence[IndexView]) -> list[QueryTerm]:
    """The words of the query that are looked for, each once."""
    read = pieces(text)[:_WORDS]
    query_terms: dict[str, QueryTerm] = {}
    for word in (word for piece in read for word in _known_words(piece, views)):
        term = stem(word)
        if term not in query_terms:
            query_terms[term] = _expanded(word, term, views)
    for (word, *_), (next_word, *_) in pairwise(read):
        if _has(term := stem(word + next_word), views):
            query_terms.setdefault(term, QueryTerm(f"{word} {next_word}", {term: 1.0}, _TWO_WORDS))
    return list(query_terms.values())


def _known_words(piece: tuple[str, ...], views: Sequence[IndexView]) -> Iterator[str]:
    """A piece as tools have it: in one, in its parts, or in the two words that were written as one."""
    word, *parts = piece
    if _has(stem(word), views):
        yield word
    elif not parts:
        split = (view.index.vocabulary.split(stem(word), view.known) for view in views)
        yield from next((two for two in split if two is not None), (word,))
    yield from parts


def _expanded(word: str, term: str, views: Sequence[IndexView]) -> QueryTerm:
    if term in STOP_TERMS:
        return QueryTerm(word, {term: 1.0}, _WEAK)
    looked_for = {term: 1.0} | dict.fromkeys(SYNONYMS.get(term, ()), _SYNONYM)
    if not any(_has(other, views) for other in looked_for):
        for view in views:
            looked_for |= dict.fromkeys(view.index.vocabulary.near(term, view.known), _NEAR)
    return QueryTerm(word, looked_for, 1.0)


def _has(term: str, views: Sequence[IndexView]) -> bool:
    return any(view.has(term) for view in views)


def _matches(query_term: QueryTerm, view: IndexView) -> Matches:
    """Each visible tool once, by the largest impact."""
    classes = [
        (weight * impact, bits)
        for term, weight in query_term.terms.items()
        for impact, bits in view.index.classes(term)
    ]
    classes.sort(key=itemgetter(0), reverse=True)
    remaining, met = view.visible, []
    for impact, bits in classes:
        if matched := bits & remaining:
            met.append((impact, matched))
            remaining ^= matched
    return met


def _rarity(met: Iterable[Matches], total: int) -> float:
    """How much it says of a tool to be among those that were met, of so many in all."""
    number = sum(bits.bit_count() for by_impact in met for _, bits in by_impact)
    return log(1 + (total - number + 0.5) / (number + 0.5))


def _total_points(met: Iterable[Matches], worth: Iterable[float]) -> tuple[Planes, Bits]:
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


def _matched(query_terms: list[QueryTerm], view: IndexView, slot: int) -> dict[str, tuple[str, ...]]:
    """By part of a tool, the words of the query that say something and are met there."""
    words: dict[str, list[str]] = {}
    for query_term in query_terms:
        if query_term.weight == _WEAK:
            continue
        parts = 0
        for term in query_term.terms:
            parts |= view.index.parts_with(term, slot)
        for number in slots_of(parts):
            words.setdefault(SEARCH_FIELDS[number].name, []).append(query_term.word)
    return {part: tuple(met) for part, met in words.items()}
