"""Toolsets: sources of tools that are asked, filtered, renamed, joined or loaded on demand."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from handrail.core.define.names import WIRE_LIMIT, category_of, slug_of, wire_name
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool, redefine
from handrail.core.find.registry import every_name


@runtime_checkable
class Toolset(Protocol):
    """Gives tools to those who may have them. What it holds back is unknown to the principal."""

    async def tools(self, principal: Principal, /) -> Sequence[Tool]:
        """What this principal gets from here, loaded."""
        ...

    async def find(self, name: str, principal: Principal, /) -> Tool | None:
        """The tool of that name for this principal, or nothing."""
        ...


@runtime_checkable
class OnDemandToolset(Protocol):
    """A toolset that loads a tool when it is called. Until then its name and description are known."""

    async def known(self, principal: Principal, /) -> Sequence[Tool]:
        """What is there for this principal and is not loaded: the same objects while nothing changes.

        They have no schema and no body. They are shown and found by their words, never called.
        """
        ...


@runtime_checkable
class AttachableToolset(Protocol):
    """A toolset that works with what the Handrail has that it is given to, and holds something open."""

    def attach(self, secrets: Callable[[str, Any], str | None] | None, pins: Any, /) -> None:
        """Take `(name, principal) -> the secret, or None`, and where pins are kept; None without any."""
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...


ToolLoader = Callable[[str], Awaitable[Tool | None] | Tool | None]


class StaticToolset:
    """A fixed list of tools."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = tuple(tools)
        self._names = {name: tool for tool in reversed(self._tools) for name in every_name(tool)}

    async def tools(self, principal: Principal, /) -> Sequence[Tool]:
        return self._tools

    async def find(self, name: str, principal: Principal, /) -> Tool | None:
        return self._names.get(name)


class _Wrapper:
    """What a toolset brings beside its tools comes along when it is wrapped."""

    __slots__ = ()
    wrapped: Toolset

    @property
    def hooks(self) -> tuple[Any, ...]:
        return toolset_extras(self.wrapped, "hooks")

    @property
    def safety(self) -> tuple[Any, ...]:
        return toolset_extras(self.wrapped, "safety")


def toolset_extras(toolset: Toolset, what: Literal["hooks", "safety"]) -> tuple[Any, ...]:
    """The hooks or safety checks of a toolset; one that has none brings none."""
    return tuple(getattr(toolset, what, ()))


@dataclass(frozen=True, slots=True)
class FilteredToolset(_Wrapper):
    """Of another toolset, only what the test lets through; the rest is unknown. Bundles are this."""

    wrapped: Toolset
    keep: Callable[[Tool, Principal], bool]

    async def tools(self, principal: Principal, /) -> Sequence[Tool]:
        return [tool for tool in await self.wrapped.tools(principal) if self.keep(tool, principal)]

    async def find(self, name: str, principal: Principal, /) -> Tool | None:
        tool = await self.wrapped.find(name, principal)
        return tool if tool is not None and self.keep(tool, principal) else None


@dataclass(frozen=True, slots=True)
class PrefixedToolset(_Wrapper):
    """Another toolset under a heading of its own, so that names do not clash."""

    wrapped: Toolset
    prefix: str
    _renamed: dict[str, tuple[Tool, Tool]] = field(default_factory=dict, repr=False)
    """By id: a tool of the other toolset, and the same under its new name."""

    async def tools(self, principal: Principal, /) -> Sequence[Tool]:
        return [self._rename(tool) for tool in await self.wrapped.tools(principal)]

    async def find(self, name: str, principal: Principal, /) -> Tool | None:
        for head in (f"{self.prefix}.", wire_name(f"{self.prefix}."), f"{slug_of(self.prefix)}-"):
            if name.startswith(head):
                tool = await self.wrapped.find(name.removeprefix(head), principal)
                if tool is not None:
                    return self._rename(tool)
        # A wire name that had to be cut does not show what it was made of.
        tools = await self.tools(principal) if len(name) == WIRE_LIMIT else ()
        return next((tool for tool in tools if name in every_name(tool)), None)

    def _rename(self, tool: Tool) -> Tool:
        before, renamed = self._renamed.get(tool.id, (None, tool))
        if before is not tool:
            renamed = self._under_prefix(tool)
            self._renamed[tool.id] = (tool, renamed)
        return renamed

    def _under_prefix(self, tool: Tool) -> Tool:
        name = f"{self.prefix}.{tool.id}"
        aliases = {f"{self.prefix}.{alias}": params for alias, params in tool.aliases.items()}
        slug = slug_of(name) if tool.slug else ""
        return redefine(tool, id=name, aliases=aliases, slug=slug, category=tool.category or self.prefix)


@dataclass(frozen=True, slots=True)
class CombinedToolset:
    """Several toolsets as one; the first that knows a name gives it."""

    parts: tuple[Toolset, ...]

    @property
    def hooks(self) -> tuple[Any, ...]:
        return tuple(hook for part in self.parts for hook in toolset_extras(part, "hooks"))

    @property
    def safety(self) -> tuple[Any, ...]:
        return tuple(check for part in self.parts for check in toolset_extras(part, "safety"))

    async def tools(self, principal: Principal, /) -> Sequence[Tool]:
        tools: dict[str, Tool] = {}
        for part in self.parts:
            for tool in await part.tools(principal):
                tools.setdefault(tool.id, tool)
        return list(tools.values())

    async def find(self, name: str, principal: Principal, /) -> Tool | None:
        for part in self.parts:
            if (tool := await part.find(name, principal)) is not None:
                return tool
        return None


@dataclass(frozen=True, slots=True)
class LazyToolset:
    """Tools that exist but are not loaded: known by name and description, resolved when called."""

    resolver: ToolLoader
    summaries: Mapping[str, str] = field(default_factory=dict)
    """Name to description, for the prompt's menu."""
    _spelled: dict[str, str] = field(default_factory=dict, init=False, repr=False)
    """Wire name or slug to name."""
    _known: list[Tool] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        self._spelled.update({spell(name): name for name in self.summaries for spell in (slug_of, wire_name)})
        self._known.extend(
            Tool(id=name, description=text, category=category_of(name))
            for name, text in self.summaries.items()
        )

    async def known(self, principal: Principal, /) -> Sequence[Tool]:
        return self._known

    async def tools(self, principal: Principal, /) -> Sequence[Tool]:
        return ()

    async def find(self, name: str, principal: Principal, /) -> Tool | None:
        tool = self.resolver(self._spelled.get(name, name))
        return await tool if inspect.isawaitable(tool) else tool
