"""Catalogue: what a principal may see."""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.define.validation import positive_int
from handrail.core.find.registry import Snapshot, every_name
from handrail.core.find.toolsets import OnDemandToolset, Toolset
from handrail.core.find.visibility import TenantView, tools_after
from handrail.core.guard.guard import Guard
from handrail.core.run.catalogue.export import short_menu
from handrail.core.run.find_tool import initialise_tool, view_of
from handrail.core.run.runtime import Runtime

_log = logging.getLogger("handrail.find")
_REMEMBERED = 256
_ON_PAGES = 100_000
"""How many tools are remembered on single pages."""
_AT_ONCE = 100


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Listing:
    """What one principal may see, while nothing changes."""

    tools: tuple[Tool, ...]
    """Sorted by id."""
    given: tuple[tuple[Tool, ...], ...]
    """All that it was chosen from: the registry's tools, then those of each toolset, then what only the
    principal's tenant has: tools of its own, and others with words of its own."""
    view: TenantView | None
    """Through which it was chosen, where some of it is stored."""


class Catalogue:
    """Listings by principal, remembered while nothing changes."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._snapshot: Snapshot | None = None
        self._waiting: tuple[Tool, ...] = ()
        self._policy = runtime.guard.policy
        self._listed: dict[tuple[Principal, Source, bool], Listing] = {}
        self._pages: dict[tuple[Principal, Source, str | None, int], Listing] = {}
        self._on_pages = 0

    async def tools(
        self,
        principal: Principal,
        source: Source = "agent",
        after: str | None = None,
        limit: int | None = None,
        on_demand: bool = False,
    ) -> list[Tool]:
        """The tools this principal may see, sorted by id: all, or a page of those that come after an id."""
        if limit is not None:
            positive_int("The number of tools on a page", limit)
            if not self._runtime.toolsets:
                return list(await self._page(principal, source, after, limit))
        listed = (await self.listing(principal, source, on_demand)).tools
        start = 0 if after is None else bisect_right(listed, after, key=lambda tool: tool.id)
        return list(listed[start : None if limit is None else start + limit])

    async def _page(
        self, principal: Principal, source: Source, after: str | None, limit: int
    ) -> tuple[Tool, ...]:
        """A page of what is registered and stored. No tool is looked at that comes after its last one."""
        runtime = self._runtime
        snapshot = await self._ready()
        view = await view_of(principal, runtime)
        key = (principal, source, after, limit)
        page = self._pages.get(key)
        if page is None or page.view is not view:
            candidates = tools_after(snapshot.tools, after) if view is None else view.tools(after)
            visible: list[Tool] = []
            for number, tool in enumerate(candidates, 1):
                if _may_see(tool, principal, source, runtime.guard):
                    visible.append(tool)
                    if len(visible) == limit:
                        break
                if number % _AT_ONCE == 0:
                    await asyncio.sleep(0)
            self._on_pages += 1 + len(visible)
            if self._on_pages > _ON_PAGES:
                self._pages.clear()
                self._on_pages = 1 + len(visible)
            self._pages[key] = page = Listing(tuple(visible), (), view)
        return page.tools

    async def listing(
        self, principal: Principal, source: Source = "agent", on_demand: bool = False
    ) -> Listing:
        """What this principal may see, also what is loaded on demand. What is certainly refused is not there.

        Of that which is not loaded, policy judges no more than it knows: names, and levels that are claimed.
        """
        runtime = self._runtime
        await self._ready()
        offered: list[tuple[Tool, ...]] = []
        for toolset in runtime.toolsets:
            try:
                offered.append(tuple(await toolset.tools(principal)))
            except Exception:
                _log.exception("a toolset could not list its tools; the others are listed")
        if on_demand:
            offered += await _on_demand_tools(runtime.toolsets, principal)
        view = await view_of(principal, runtime)
        sources = (self._refresh().tools, *offered)
        key = (principal, source, on_demand)
        listing = self._listed.get(key)
        if listing is None or listing.view is not view or listing.given[: len(sources)] != sources:
            listing = await self._chosen(principal, source, sources, view)
            if len(self._listed) >= _REMEMBERED:
                self._listed.clear()
            self._listed[key] = listing
        return listing

    async def _chosen(
        self,
        principal: Principal,
        source: Source,
        sources: tuple[tuple[Tool, ...], ...],
        view: TenantView | None,
    ) -> Listing:
        visible: dict[str, Tool] = {}
        for number, tool in enumerate(_through(view, sources), 1):
            if _may_see(tool, principal, source, self._runtime.guard):
                visible.setdefault(tool.id, tool)
            if number % _AT_ONCE == 0:
                await asyncio.sleep(0)  # thousands take a while; others go on meanwhile
        tools = tuple(tool for _, tool in sorted(visible.items()))
        if view is None:
            return Listing(tools, sources, None)
        offered = set(chain(*sources))
        return Listing(tools, (*sources, tuple(tool for tool in tools if tool not in offered)), view)

    async def _ready(self) -> Snapshot:
        """The registry once every tool in it that waited for its initialiser is ready."""
        self._refresh()
        for waiting in self._waiting:
            try:
                await initialise_tool(waiting, self._runtime)
            except Exception:
                _log.exception("tool %s could not be initialised and is not listed", waiting.id)
        return self._refresh()

    def _refresh(self) -> Snapshot:
        """The registry as it is now. What was remembered of an older one, or another policy, is forgotten."""
        runtime = self._runtime
        snapshot = runtime.registry.snapshot()
        if snapshot is not self._snapshot or runtime.guard.policy is not self._policy:
            self._snapshot, self._policy = snapshot, runtime.guard.policy
            self._waiting = tuple(tool for tool in snapshot.tools if not tool.ready)
            self._listed.clear()
            self._pages.clear()
            self._on_pages = 0
        return snapshot

    async def menu(
        self, principal: Principal, source: Source, loaded: Iterable[str | Tool], max_tokens: int
    ) -> str:
        """What may be seen and is not loaded, by category."""
        names = {item.id if isinstance(item, Tool) else item for item in loaded}
        listed = (await self.listing(principal, source, on_demand=True)).tools
        unloaded = [tool for tool in listed if not names or names.isdisjoint(every_name(tool))]
        entries = [(tool.id, tool.category, tool.description) for tool in unloaded]
        return short_menu(entries, max_tokens, any(tool.id == "search_tools" for tool in listed))


async def _on_demand_tools(toolsets: Iterable[Toolset], principal: Principal) -> list[tuple[Tool, ...]]:
    """What each toolset would load. They are asked at once: one that takes long delays no other."""
    lazy = [toolset for toolset in toolsets if isinstance(toolset, OnDemandToolset)]
    answers = await asyncio.gather(*(source.known(principal) for source in lazy), return_exceptions=True)
    offered: list[tuple[Tool, ...]] = []
    for answer in answers:
        if isinstance(answer, Exception):
            _log.error("a toolset could not say what it has; the others are listed", exc_info=answer)
        elif isinstance(answer, BaseException):
            raise answer
        else:
            offered.append(tuple(answer))
    return offered


def _through(view: TenantView | None, sources: tuple[tuple[Tool, ...], ...]) -> Iterable[Tool]:
    """What is given, as the tenant has it; of the registry's tools, those its view holds."""
    if view is None:
        return chain(*sources)
    offered = (shown for tool in chain(*sources[1:]) if (shown := view.shown(tool)) is not None)
    return chain(view.tools(), offered)


def _may_see(tool: Tool, principal: Principal, source: Source, guard: Guard) -> bool:
    """Whether a call could ever be allowed; what says no to the sight of a tool says no to every call too."""
    return tool.ready and guard.certain(tool, principal, source).verdict != "deny"
