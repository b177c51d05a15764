"""Search: authority first, then ranking.

There is one index for all the tools of a source, and for each principal the set of those it may see. All
that a ranking is made of is counted within that set, so whoever searches gets the results, scores and
suggestions it would get if the other tools did not exist. An index for each principal would give the same,
and take a second for each of them where there are ten thousand tools.
"""

from __future__ import annotations

import asyncio
import difflib
import threading
from collections.abc import Sequence
from weakref import WeakKeyDictionary, WeakValueDictionary

from handrail.core.define.call import Call
from handrail.core.define.found import Described, Found
from handrail.core.define.numbers import at_least_one
from handrail.core.define.permission import Source
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError, UsageError
from handrail.core.find.index import Index, Shelf
from handrail.core.find.meaning import Embedder, Meanings, fuse
from handrail.core.find.planes import bits_of
from handrail.core.find.ranking import rank
from handrail.core.find.registry import every_name
from handrail.core.find.words import pieces, squeezed
from handrail.core.run import refusal
from handrail.core.run.catalogue import Catalogue, Listing
from handrail.core.run.house import House
from handrail.core.run.refusal import Refusal
from handrail.core.run.seek import seek

_AT_ONCE = 300
"""More tools than these are indexed in a thread."""
_FUSED = 100
"""How many of the best of each ranking are fused."""
_NEAR = 10


class Search:
    """Tools by words, for those who may see them."""

    def __init__(self, house: House, catalogue: Catalogue, embedder: Embedder | None = None) -> None:
        self._house = house
        self._catalogue = catalogue
        self._meanings = None if embedder is None else Meanings(embedder, house.clock.ticks)
        self._indexes: WeakValueDictionary[tuple[Tool, ...], Index] = WeakValueDictionary()
        self._newest: Index | None = None
        """The registry's, kept also while no listing needs it."""
        self._shelves: WeakKeyDictionary[Listing, list[Shelf]] = WeakKeyDictionary()
        self._indexing = threading.Lock()

    async def find(self, words: str, principal: Principal, source: Source, limit: int) -> list[Found]:
        """The best tools first. Without a word no tool is better than another, and none is found."""
        if not isinstance(words, str):
            raise UsageError(f"A search takes words as text, not {type(words).__name__}.")
        at_least_one("The limit of a search", limit)
        listing = await self._catalogue.listing(principal, source, on_demand=True)
        shelves = await self._shelves_of(listing)
        if self._meanings is None or not pieces(words):
            return rank(words, shelves, limit)
        depth = max(limit, _FUSED)
        near = await self._meanings.nearest(words, listing.tools, depth)
        found = rank(words, shelves, depth)
        return (fuse(found, near) if near else found)[:limit]

    async def describe(self, name: str, principal: Principal, source: Source) -> Described:
        """A tool in full. One that is hidden, or certainly refused, answers like an unknown one."""
        guard = self._house.guard.of(principal)
        call = Call(name, None, principal, source)
        found = await seek(call, self._house)
        if isinstance(found, Refusal):
            raise _as_error(found)
        decision = guard.certain(found, principal, source)
        if decision.verdict == "deny":
            raise _as_error(refusal.not_found(name, await self.similar(call)))
        return Described(found, decision, guard.varies(found))

    async def similar(self, call: Call) -> list[str]:
        """Names near the one asked for, among those the principal may see. Nothing is loaded for it."""
        assert call.principal is not None
        shelves = await self._shelves_of(await self._catalogue.listing(call.principal, call.source))
        found = rank(call.tool, shelves, _NEAR)
        names = {squeezed(name): one.tool.id for one in found for name in every_name(one.tool)}
        near = difflib.get_close_matches(squeezed(call.tool), names, n=3, cutoff=0.5)
        return list(dict.fromkeys(names[name] for name in near))

    async def _shelves_of(self, listing: Listing) -> list[Shelf]:
        shelves = self._shelves.get(listing)
        if shelves is None:
            indexes = [await self._index(tools) for tools in listing.given]
            self._newest = indexes[0]
            self._shelves[listing] = shelves = _shelved(listing, indexes)
        return shelves

    async def _index(self, tools: tuple[Tool, ...]) -> Index:
        known = self._indexes.get(tools)
        if known is not None:
            return known
        if len(tools) <= _AT_ONCE:
            return self._made(tools)
        return await asyncio.to_thread(self._made_once, tools)

    def _made_once(self, tools: tuple[Tool, ...]) -> Index:
        """Who needs the same index meanwhile waits for it, rather than make another."""
        with self._indexing:
            return self._indexes.get(tools) or self._made(tools)

    def _made(self, tools: tuple[Tool, ...]) -> Index:
        index = self._indexes[tools] = Index(tools)
        return index


def _as_error(refused: Refusal) -> ToolError:
    return ToolError(refused.result.error, code=refused.result.code or "TOOL_NOT_FOUND")


def _shelved(listing: Listing, indexes: Sequence[Index]) -> list[Shelf]:
    """What is visible of each index; a tool that two sources give is found in the first."""
    left = set(listing.tools)
    shelves: list[Shelf] = []
    for index in indexes:
        here = left & index.slots.keys()
        left -= here
        shelves.append(Shelf(index, bits_of((index.slots[tool] for tool in here), len(index.tools))))
    return shelves
