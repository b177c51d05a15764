"""Index: which tools have which terms, and how much a term says of each.

The weight of a term in a tool follows BM25F: occurrences count by the part they stand in, less in a long
part, and each further one adds less. Unlike there, the usual length of a part is a constant rather than
the average of the collection, so that no tool changes the weight of another.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handrail.core.define.names import category_of
from handrail.core.define.tool import Tool
from handrail.core.find.planes import Bits, bits_of
from handrail.core.find.registry import every_name
from handrail.core.find.vocabulary import Vocabulary
from handrail.core.find.words import squeezed, terms

TOP = 15
"""The largest impact of a term on a tool."""
_SATURATION = 2.0
_TEXT = 4_000
"""How many characters of a text are read."""
_DEEP = 4
_REMEMBERED = 1_024


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a tool that is searched."""

    name: str
    weight: float
    usual: int
    """Its usual length in terms."""


PARTS = (
    Part("name", 8.0, 3),
    Part("alias", 5.0, 4),
    Part("category", 4.0, 2),
    Part("description", 2.0, 10),
    Part("parameter", 1.2, 5),
    Part("guidance", 0.6, 40),
)


@dataclass(frozen=True, slots=True)
class Posting:
    """The tools that have a term: their slots in order, and for each the impact and the parts it is in."""

    slots: array[int]
    impacts: array[int]
    parts: array[int]


_NOWHERE = Posting(array("I"), array("B"), array("B"))


class Index:
    """Tools by term and by name. Never changed once it is made."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.tools: Sequence[Tool] = sorted(tools, key=lambda tool: tool.id)
        self.slots = {tool: slot for slot, tool in enumerate(self.tools)}
        self._postings: dict[str, Posting] = {}
        self._names: dict[str, list[int]] = {}
        self._classes: dict[str, list[tuple[int, Bits]]] = {}
        for slot, tool in enumerate(self.tools):
            for name in {squeezed(name) or name for name in every_name(tool)}:
                self._names.setdefault(name, []).append(slot)
            for term, (weight, parts) in _weighed(tool).items():
                posting = self._postings.get(term)
                if posting is None:
                    posting = self._postings[term] = Posting(array("I"), array("B"), array("B"))
                posting.slots.append(slot)
                posting.impacts.append(max(1, round(TOP * weight / (weight + _SATURATION))))
                posting.parts.append(parts)
        self.vocabulary = Vocabulary(self._postings)

    def posting(self, term: str) -> Posting:
        return self._postings.get(term, _NOWHERE)

    def classes(self, term: str) -> list[tuple[int, Bits]]:
        """The tools that have a term, by its impact on them, the largest first."""
        known = self._classes.get(term)
        if known is None:
            by_impact: dict[int, list[int]] = {}
            posting = self.posting(term)
            for slot, impact in zip(posting.slots, posting.impacts, strict=True):
                by_impact.setdefault(impact, []).append(slot)
            known = [
                (impact, bits_of(slots, len(self.tools)))
                for impact, slots in sorted(by_impact.items(), reverse=True)
            ]
            if len(self._classes) >= _REMEMBERED:
                self._classes.clear()
            self._classes[term] = known
        return known

    def parts_with(self, term: str, slot: int) -> int:
        """The parts of one tool that have a term, as bits in the order of `PARTS`."""
        posting = self.posting(term)
        at = bisect_left(posting.slots, slot)
        return posting.parts[at] if at < len(posting.slots) and posting.slots[at] == slot else 0

    def named(self, name: str) -> list[int]:
        """The tools of that name, however it is spelled."""
        return self._names.get(squeezed(name) or name, [])


@dataclass(slots=True)
class Shelf:
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


def _weighed(tool: Tool) -> dict[str, tuple[float, int]]:
    """By term: its weight in a tool, and the parts that have it."""
    found: dict[str, tuple[float, int]] = {}
    for number, (part, texts) in enumerate(zip(PARTS, _texts(tool), strict=True)):
        there = [term for text in texts for term in terms(text[:_TEXT])]
        each = part.weight / (0.5 + 0.5 * len(there) / part.usual)
        for term in there:
            weight, parts = found.get(term, (0.0, 0))
            found[term] = (weight + each, parts | 1 << number)
    return found


def _texts(tool: Tool) -> Iterator[list[str]]:
    """The texts of each part, in the order of `PARTS`."""
    own = tool.id.rpartition(".")[2]
    heading = category_of(tool.id) or ""
    params = list(_parameters(tool.input_schema, _DEEP))
    yield [own, *([tool.name] if squeezed(tool.name) != squeezed(own) else [])]
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


def _mapping(given: Any) -> Mapping[Any, Any]:
    return given if isinstance(given, Mapping) else {}
