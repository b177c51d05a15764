"""Catalogue: what a principal may see, and what is near to a name it got wrong."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterable

from handrail.core.define.call import Call
from handrail.core.define.names import words
from handrail.core.define.permission import Source
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.find.registry import Snapshot
from handrail.core.run.house import House
from handrail.core.run.seek import make_ready

_log = logging.getLogger("handrail.find")
_REMEMBERED = 256


class Catalogue:
    """Listings by principal, remembered while nothing changes."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._snapshot: Snapshot | None = None
        self._policy = house.guard.policy
        self._listed: dict[tuple[Principal, Source], tuple[Tool, ...]] = {}

    async def tools(self, principal: Principal, source: Source = "agent") -> list[Tool]:
        """The tools this principal may see, sorted by id. Whatever is certainly refused is not there."""
        house = self._house
        for waiting in [tool for tool in house.registry.snapshot().tools if not tool.ready]:
            try:
                await make_ready(waiting, house)
            except Exception:
                _log.exception("tool %s could not be initialised and is not listed", waiting.id)
        listed = self._registered(principal, source)
        if not house.toolsets:
            return list(listed)
        found = {tool.id: tool for tool in listed}
        for toolset in house.toolsets:
            try:
                given = await toolset.tools(principal)
            except Exception:
                _log.exception("a toolset could not list its tools; the others are listed")
                continue
            for tool in self._visible(given, principal, source):
                found.setdefault(tool.id, tool)
        return [tool for _, tool in sorted(found.items())]

    def _registered(self, principal: Principal, source: Source) -> tuple[Tool, ...]:
        house = self._house
        snapshot = house.registry.snapshot()
        if snapshot is not self._snapshot or house.guard.policy is not self._policy:
            self._snapshot, self._policy = snapshot, house.guard.policy
            self._listed.clear()
        key = (principal, source)
        listed = self._listed.get(key)
        if listed is None:
            listed = tuple(self._visible(snapshot.tools, principal, source))
            if len(self._listed) >= _REMEMBERED:
                self._listed.clear()
            self._listed[key] = listed
        return listed

    def _visible(self, tools: Iterable[Tool], principal: Principal, source: Source) -> Iterable[Tool]:
        guard = self._house.guard
        for tool in tools:
            if not tool.ready or guard.see(tool, principal).verdict == "deny":
                continue
            if guard.certain(tool, principal, source).verdict != "deny":
                yield tool

    async def similar(self, call: Call) -> list[str]:
        """Names near the one asked for, among those the principal may see."""
        assert call.principal is not None
        tools = await self.tools(call.principal, call.source)
        asked = {word.lower() for word in words(call.tool)}
        near = [tool.id for tool in tools if asked & {word.lower() for word in words(tool.id)}]
        candidates = near if len(near) > 0 else [tool.id for tool in tools[:500]]
        return difflib.get_close_matches(call.tool, candidates[:500], n=3, cutoff=0.5)
