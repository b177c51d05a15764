"""Toolsets that give, filter, rename, join or load on demand."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from handrail.core.define.names import slug_of
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool, digest
from handrail.core.define.toolset import Toolset

Resolver = Callable[[str], Awaitable[Tool | None] | Tool | None]


class StaticToolset:
    """A fixed list of tools."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = tuple(tools)

    async def tools(self, principal: Principal, /) -> Sequence[Tool]:
        return self._tools

    async def find(self, name: str, principal: Principal, /) -> Tool | None:
        return next((tool for tool in self._tools if name in tool.names), None)


@dataclass(frozen=True, slots=True)
class FilteredToolset:
    """Of another toolset, only what the test lets through; the rest is unknown. Bundles are this."""

    wrapped: Toolset
    keep: Callable[[Tool, Principal], bool]

    async def tools(self, principal: Principal, /) -> Sequence[Tool]:
        return [tool for tool in await self.wrapped.tools(principal) if self.keep(tool, principal)]

    async def find(self, name: str, principal: Principal, /) -> Tool | None:
        tool = await self.wrapped.find(name, principal)
        return tool if tool is not None and self.keep(tool, principal) else None


@dataclass(frozen=True, slots=True)
class PrefixedToolset:
    """Another toolset under a heading of its own, so that names do not clash."""

    wrapped: Toolset
    prefix: str
    _renamed: dict[Tool, Tool] = field(default_factory=dict, repr=False)

    async def tools(self, principal: Principal, /) -> Sequence[Tool]:
        return [self._rename(tool) for tool in await self.wrapped.tools(principal)]

    async def find(self, name: str, principal: Principal, /) -> Tool | None:
        head = f"{self.prefix}."
        if not name.startswith(head):
            return None
        tool = await self.wrapped.find(name.removeprefix(head), principal)
        return None if tool is None else self._rename(tool)

    def _rename(self, tool: Tool) -> Tool:
        if tool not in self._renamed:
            name = f"{self.prefix}.{tool.id}"
            aliases = {f"{self.prefix}.{alias}": params for alias, params in tool.aliases.items()}
            category = tool.category or self.prefix
            renamed = replace(tool, id=name, aliases=aliases, slug=slug_of(name), category=category)
            self._renamed[tool] = replace(renamed, digest=digest(renamed))
        return self._renamed[tool]


@dataclass(frozen=True, slots=True)
class CombinedToolset:
    """Several toolsets as one; the first that knows a name gives it."""

    parts: tuple[Toolset, ...]

    async def tools(self, principal: Principal, /) -> Sequence[Tool]:
        found: dict[str, Tool] = {}
        for part in self.parts:
            for tool in await part.tools(principal):
                found.setdefault(tool.id, tool)
        return list(found.values())

    async def find(self, name: str, principal: Principal, /) -> Tool | None:
        for part in self.parts:
            if (tool := await part.find(name, principal)) is not None:
                return tool
        return None


@dataclass(frozen=True, slots=True)
class LazyToolset:
    """Tools that exist but are not loaded: known by name and description, resolved when called."""

    resolver: Resolver
    summaries: Mapping[str, str] = field(default_factory=dict)
    """Name to description, for the prompt's menu."""

    async def tools(self, principal: Principal, /) -> Sequence[Tool]:
        return ()

    async def find(self, name: str, principal: Principal, /) -> Tool | None:
        found = self.resolver(name)
        return await found if inspect.isawaitable(found) else found
