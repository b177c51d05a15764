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

from handrail.core.define.levels import Source
from handrail.core.define.lookup import ToolDetails, ToolMatch
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.define.validation import positive_int
from handrail.core.errors import ToolError, UsageError
from handrail.core.find.bitsets import bits_of
from handrail.core.find.embeddings import Embedder, EmbeddingIndex, fuse_rankings
from handrail.core.find.index import Index, IndexView
from handrail.core.find.rank import rank
from handrail.core.find.registry import every_name
from handrail.core.find.terms import compact_name, pieces
from handrail.core.run import refusals
from handrail.core.run.catalogue.visible_tools import Catalogue, Listing
from handrail.core.run.find_tool import find_tool
from handrail.core.run.refusals import Refusal
from handrail.core.run.runtime import Runtime

_AT_ONCE = 300
"""More tools than these are indexed in a thread."""
_FUSED = 100
"""How many of the best of each ranking are fused."""
_NEAR = 10


class Search:
    """Tools by words, for those who may see them."""

    def __init__(self, runtime: Runtime, catalogue: Catalogue, embedder: Embedder | None = None) -> None:
        self._runtime = runtime
        self._catalogue = catalogue
        self._meanings = None if embedder is None else EmbeddingIndex(embedder, runtime.clock.ticks)
        self._indexes: WeakValueDictionary[tuple[Tool, ...], Index] = WeakValueDictionary()
        self._newest: Index | None = None
        """The registry's, kept also while no listing needs it."""
        self._views: WeakKeyDictionary[Listing, list[IndexView]] = WeakKeyDictionary()
        self._indexing = threading.Lock()

    async def find(self, words: str, principal: Principal, source: Source, limit: int) -> list[ToolMatch]:
        """The best tools first. Without a word no tool is better than another, and none is found."""
        if not isinstance(words, str):
            raise UsageError(f"A search takes words as text, not {type(words).__name__}.")
        positive_int("The limit of a search", limit)
        listing = await self._catalogue.listing(principal, source, on_demand=True)
        views = await self._views_of(listing)
        if self._meanings is None or not pieces(words):
            return rank(words, views, limit)
        depth = max(limit, _FUSED)
        near = await self._meanings.nearest(words, listing.tools, depth)
        ranked = rank(words, views, depth)
        return (fuse_rankings(ranked, near) if near else ranked)[:limit]

    async def describe(self, name: str, principal: Principal, source: Source) -> ToolDetails:
        """A tool in full. One that is hidden, or certainly refused, answers like an unknown one."""
        guard = self._runtime.guard.of(principal)
        tool = await find_tool(name, principal, self._runtime, source)
        if isinstance(tool, Refusal):
            raise _as_error(tool)
        decision = guard.certain(tool, principal, source)
        if decision.verdict == "deny":
            raise _as_error(refusals.not_found(name, await self.similar(name, principal, source)))
        return ToolDetails(tool, decision, guard.varies(tool))

    async def similar(self, name: str, principal: Principal, source: Source) -> list[str]:
        """Names near the one asked for, among those the principal may see. Nothing is loaded for it."""
        views = await self._views_of(await self._catalogue.listing(principal, source))
        matches = rank(name, views, _NEAR)
        names = {compact_name(name): match.tool.id for match in matches for name in every_name(match.tool)}
        near = difflib.get_close_matches(compact_name(name), names, n=3, cutoff=0.5)
        return list(dict.fromkeys(names[name] for name in near))

    async def _views_of(self, listing: Listing) -> list[IndexView]:
        views = self._views.get(listing)
        if views is None:
            indexes = [await self._index(tools) for tools in listing.given]
            self._newest = indexes[0]
            self._views[listing] = views = _index_views(listing, indexes)
        return views

    async def _index(self, tools: tuple[Tool, ...]) -> Index:
        index = self._indexes.get(tools)
        if index is not None:
            return index
        if len(tools) <= _AT_ONCE:
            return self._build_index(tools)
        return await asyncio.to_thread(self._build_index_once, tools)

    def _build_index_once(self, tools: tuple[Tool, ...]) -> Index:
        """Who needs the same index meanwhile waits for it, rather than make another."""
        with self._indexing:
            return self._indexes.get(tools) or self._build_index(tools)

    def _build_index(self, tools: tuple[Tool, ...]) -> Index:
        index = self._indexes[tools] = Index(tools)
        return index


def _as_error(refused: Refusal) -> ToolError:
    return ToolError(refused.result.error, code=refused.result.code or "TOOL_NOT_FOUND")


def _index_views(listing: Listing, indexes: Sequence[Index]) -> list[IndexView]:
    """What is visible of each index; a tool that two sources give is found in the first."""
    remaining = set(listing.tools)
    views: list[IndexView] = []
    for index in indexes:
        indexed = remaining & index.slots.keys()
        remaining -= indexed
        views.append(IndexView(index, bits_of((index.slots[tool] for tool in indexed), len(index.tools))))
    return views
