"""Index: which tools have which search terms, and what a term says of each (BM25F)."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from handrail.core.define.names import category_of
from handrail.core.define.tool import Tool
from handrail.core.find.bitsets import Bits, Planes, add, bits_of, largest, slots_of
from handrail.core.find.registry import every_name
from handrail.core.find.terms import compact_name, terms

_LOOKED_AT = 16
"""How many terms are compared letter by letter."""
_TAKEN = 4
_LONGEST = 40


class Vocabulary:
    """Terms in order. `counted` says which of them count: those of tools that whoever searches may see."""

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

    def near(self, word: str, counted: Bits) -> set[str]:
        """Terms that a word may be meant for: longer ones, a shorter one, others with nearly its letters."""
        if not 3 <= len(word) <= _LONGEST or not word.isalpha():
            return set()
        return {
            *self._begun_by(word, counted),
            *self._beginning(word, counted),
            *self._spelled_like(word, counted),
        }

    def split(self, word: str, counted: Bits) -> tuple[str, str] | None:
        """The two terms that a word is made of: webfetch is web and fetch."""
        for at in range(len(word) - 3, 2, -1):
            if self.has(word[:at], counted) and self.has(word[at:], counted):
                return word[:at], word[at:]
        return None

    def has(self, term: str, counted: Bits) -> bool:
        slot = bisect_left(self.terms, term)
        return slot < len(self.terms) and self.terms[slot] == term and bool(counted >> slot & 1)

    def _begun_by(self, word: str, counted: Bits) -> list[str]:
        """The first few terms that begin with a word: auth is meant for authenticate."""
        start, end = bisect_left(self.terms, word), bisect_left(self.terms, f"{word}\U0010ffff")
        span = (counted >> start) & ((1 << (end - start)) - 1)
        return [self.terms[start + slot] for slot in islice(slots_of(span), _TAKEN)]

    def _beginning(self, word: str, counted: Bits) -> list[str]:
        """The longest term that a word begins with: deployment is meant for deploy."""
        least = max(4, len(word) // 2)
        starts = (word[:length] for length in range(len(word) - 1, least - 1, -1))
        return [start for start in starts if self.has(start, counted)][:1]

    def _spelled_like(self, word: str, counted: Bits) -> list[str]:
        """The terms with the fewest slips of the pen between them and the word."""
        slips = len(word) // 4
        shared: Planes = []
        for pair in _pairs(word):
            add(shared, [self._by_pair.get(pair, 0)])
        as_long = 0
        for length in range(len(word) - slips, len(word) + slips + 1):
            as_long |= self._by_length.get(length, 0)
        candidates = [self.terms[slot] for slot in slots_of(largest(shared, counted & as_long, _LOOKED_AT))]
        apart = {term: distance(word, term) for term in candidates}
        fewest = min(apart.values(), default=slips + 1)
        return [term for term, slipped in apart.items() if slipped == fewest <= slips][:_TAKEN]


def _pairs(term: str) -> set[str]:
    """The pairs of letters that stand together, the ends of the term included."""
    return {f"^{term}"[:2], f"{term}$"[-2:], *(term[at : at + 2] for at in range(len(term) - 1))}


def distance(word: str, other: str) -> int:
    """How many letters are added, left out, changed or swapped with their neighbour."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        before, last, row = row, before, [i]
        for j, other_letter in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other_letter))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == other_letter:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]


MAX_IMPACT = 15
"""The largest impact of a term on a tool."""
_SATURATION = 2.0

_MAX_TEXT = 4_000
"""How many characters of a text are read."""
_MAX_DEPTH = 4
_REMEMBERED = 1_024


@dataclass(frozen=True, slots=True)
class SearchField:
    """A part of a tool that is searched."""

    name: str
    weight: float
    usual: int
    """Its usual length in terms."""


SEARCH_FIELDS = (
    SearchField("name", 8.0, 3),
    SearchField("alias", 5.0, 4),
    SearchField("category", 4.0, 2),
    SearchField("description", 2.0, 10),
    SearchField("parameter", 1.2, 5),
    SearchField("guidance", 0.6, 40),
)


@dataclass(frozen=True, slots=True)
class Posting:
    """The tools that have a term: their slots in order, and for each the impact and the parts it is in."""

    slots: array[int]
    impacts: array[int]
    parts: array[int]


_NO_POSTING = Posting(array("I"), array("B"), array("B"))


class Index:
    """Tools by term and by name. Never changed once it is made."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.tools: Sequence[Tool] = sorted(tools, key=lambda tool: tool.id)
        self.slots = {tool: slot for slot, tool in enumerate(self.tools)}
        self._postings: dict[str, Posting] = {}
        self._names: dict[str, list[int]] = {}
        self._classes: dict[str, list[tuple[int, Bits]]] = {}
        for slot, tool in enumerate(self.tools):
            for name in {compact_name(name) or name for name in every_name(tool)}:
                self._names.setdefault(name, []).append(slot)
            for term, (weight, parts) in _term_weights(tool).items():
                posting = self._postings.get(term)
                if posting is None:
                    posting = self._postings[term] = Posting(array("I"), array("B"), array("B"))
                posting.slots.append(slot)
                posting.impacts.append(max(1, round(MAX_IMPACT * weight / (weight + _SATURATION))))
                posting.parts.append(parts)
        self.vocabulary = Vocabulary(self._postings)

    def posting(self, term: str) -> Posting:
        return self._postings.get(term, _NO_POSTING)

    def classes(self, term: str) -> list[tuple[int, Bits]]:
        """The tools that have a term, by its impact on them, the largest first."""
        classes = self._classes.get(term)
        if classes is None:
            by_impact: dict[int, list[int]] = {}
            posting = self.posting(term)
            for slot, impact in zip(posting.slots, posting.impacts, strict=True):
                by_impact.setdefault(impact, []).append(slot)
            classes = [
                (impact, bits_of(slots, len(self.tools)))
                for impact, slots in sorted(by_impact.items(), reverse=True)
            ]
            if len(self._classes) >= _REMEMBERED:
                self._classes.clear()
            self._classes[term] = classes
        return classes

    def parts_with(self, term: str, slot: int) -> int:
        """The parts of one tool that have a term, as bits in the order of `PARTS`."""
        posting = self.posting(term)
        at = bisect_left(posting.slots, slot)
        return posting.parts[at] if at < len(posting.slots) and posting.slots[at] == slot else 0

    def named(self, name: str) -> list[int]:
        """The tools of that name, however it is spelled."""
        return self._names.get(compact_name(name) or name, [])


@dataclass(slots=True)
class IndexView:
    """The tools of an index that somebody may see. Nothing else of the index is used for them."""

    index: Index
    visible: Bits
    _known: Bits | None = None

    def has(self, term: str) -> bool:
        """Whether a visible tool has a term."""
        return any(bits & self.visible for _, bits in self.index.classes(term))

    @property
    def known(self) -> Bits:
        """The terms of the vocabulary that a visible tool has."""
        if self._known is None:
            index = self.index
            shown = self.visible.to_bytes(len(index.tools) // 8 + 1, "little")
            terms_known = (
                number
                for number, term in enumerate(index.vocabulary.terms)
                if any(shown[slot >> 3] >> (slot & 7) & 1 for slot in index.posting(term).slots)
            )
            self._known = bits_of(terms_known, len(index.vocabulary.terms))
        return self._known


def _term_weights(tool: Tool) -> dict[str, tuple[float, int]]:
    """By term: its weight in a tool, and the parts that have it."""
    weights: dict[str, tuple[float, int]] = {}
    for number, (part, texts) in enumerate(zip(SEARCH_FIELDS, _texts(tool), strict=True)):
        field_terms = [term for text in texts for term in terms(text[:_MAX_TEXT])]
        term_weight = part.weight / (0.5 + 0.5 * len(field_terms) / part.usual)
        for term in field_terms:
            weight, parts = weights.get(term, (0.0, 0))
            weights[term] = (weight + term_weight, parts | 1 << number)
    return weights


def _texts(tool: Tool) -> Iterator[list[str]]:
    """The texts of each part, in the order of `PARTS`."""
    own = tool.id.rpartition(".")[2]
    heading = category_of(tool.id) or ""
    params = list(_parameters(tool.input_schema, _MAX_DEPTH))
    yield [own, *([tool.name] if compact_name(tool.name) != compact_name(own) else [])]
    yield list(tool.aliases)
    yield [heading, *([tool.category] if tool.category and tool.category != heading else [])]
    yield [tool.description]
    yield [name for name, _ in params] + [name for names in tool.param_aliases.values() for name in names]
    yield [tool.guidance, *(text for _, text in params)]


def _parameters(schema: Any, deep: int) -> Iterator[tuple[str, str]]:
    """Names and descriptions of the parameters, those inside objects and lists included."""
    if not isinstance(schema, Mapping) or deep == 0:
        return
    for name, inner in _mapping(schema.get("properties")).items():
        yield str(name), str(_mapping(inner).get("description", ""))
        yield from _parameters(inner, deep - 1)
    for key in ("items", "allOf", "anyOf", "oneOf"):
        parts = schema.get(key)
        for part in parts if isinstance(parts, list) else [parts]:
            yield from _parameters(part, deep - 1)
    for part in _mapping(schema.get("$defs")).values():
        yield from _parameters(part, deep - 1)


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}
