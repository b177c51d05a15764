"""Visibility: the stored rows of tools, and the view of the registry that they give each tenant."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge
from typing import Any, Literal, Protocol, get_args

from handrail.core.define.levels import Danger, Level, PermissionPolicy
from handrail.core.define.names import slug_of
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Origin, Tool, redefine
from handrail.core.find.registry import Snapshot, every_name

DEFAULT_TENANT_ID = "00000000-0000-0000-0000-000000000000"
"""What stands under it holds for every tenant."""
RowKind = Literal["system_override", "tenant_custom"]
ROW_KINDS: tuple[RowKind, ...] = get_args(RowKind)
TEXT_FIELDS = ("name", "description", "category", "icon")

PATCHABLE = ("enabled", "permission_policy", *TEXT_FIELDS)
"""All that a row may change of a tool written in code."""


@dataclass(frozen=True, slots=True)
class ToolRow:
    """What is stored of a tool under one tenant. In an override, None leaves a field as the code has it."""

    tenant: str
    slug: str
    kind: RowKind = "system_override"
    enabled: bool = True
    permission_policy: PermissionPolicy | None = None
    name: str | None = None
    description: str | None = None
    category: str | None = None
    icon: str | None = None
    level: Level | None = None
    """Of a tool of the tenant's own, as all that follows."""
    danger: Danger | None = None
    requires: str | None = None
    input_schema: Mapping[str, Any] | None = field(default=None, hash=False)
    output_schema: Mapping[str, Any] | None = field(default=None, hash=False)
    execution: Mapping[str, Any] | None = field(default=None, hash=False)
    """How it does its work."""


def row_slug(tool: Tool) -> str:
    """The slug under which rows speak of a tool; one that is not initialised yet goes by its id."""
    return tool.slug or slug_of(tool.id)


def is_shown(origin: Origin, mine: bool | None, common: bool | None, embed: bool = False) -> bool:
    """Whether a tool of this origin is shown, by what the rows of its tenant and of the default tenant say.

    Each is enabled, disabled, or None where there is no row. On a published page nobody asks whether a row
    is disabled; a system tool that no row ever named stays hidden there too.
    """
    if not embed and (mine is False or common is False):
        return False
    return origin != "system" or mine is not None or common is not None


def apply_override(tool: Tool, row: ToolRow) -> Tool:
    """The tool with the words of an override. A policy that would loosen it leaves it as it is."""
    changes: dict[str, Any] = {name: text for name in TEXT_FIELDS if (text := getattr(row, name)) is not None}
    if row.permission_policy == "always_ask":
        changes["policy"] = "always_ask"
    if not changes:
        return tool
    return redefine(tool, **changes)


class ToolRows:
    """The rows of one tenant at one moment. What they make of a tool is made once, for all who see it."""

    __slots__ = ("_own", "_patched", "_patches", "_states", "custom", "shut")

    def __init__(self, rows: Iterable[ToolRow] = (), custom: Iterable[tuple[ToolRow, Tool]] = ()) -> None:
        overrides = [row for row in rows if row.kind == "system_override"]
        self._states = {row.slug: row.enabled for row in overrides}
        self._patches = {row.slug: row for row in overrides}
        self._patched: dict[Tool, Tool] = {}
        own = sorted(custom, key=lambda pair: pair[1].id)
        self.custom = tuple(tool for _, tool in own)
        """The tenant's own tools, by id."""
        self.shut = frozenset(tool for row, tool in own if not row.enabled)
        """Those of them that are disabled."""
        self._own = {name: tool for tool in reversed(self.custom) for name in every_name(tool)}

    def state(self, slug: str) -> bool | None:
        """Whether an override enables or disables the tool of that slug; None when there is none."""
        return self._states.get(slug)

    def states(self) -> dict[str, bool]:
        return dict(self._states)

    def own(self, name: str) -> Tool | None:
        return self._own.get(name)

    def patched(self, tool: Tool, slug: str) -> Tool:
        """The tool with the words of its row: the same object each time."""
        row = self._patches.get(slug)
        if row is None:
            return tool
        patched = self._patched.get(tool)
        if patched is None:
            patched = self._patched[tool] = apply_override(tool, row)
        return patched


NO_ROWS = ToolRows()


class TenantView:
    """What one tenant may find and list, at one moment."""

    __slots__ = ("common", "embed", "mine", "snapshot", "tenant")

    def __init__(
        self,
        tenant: str,
        snapshot: Snapshot,
        mine: ToolRows = NO_ROWS,
        common: ToolRows = NO_ROWS,
        embed: bool = False,
    ) -> None:
        self.tenant = tenant
        self.snapshot = snapshot
        self.mine = mine
        self.common = common
        self.embed = embed

    def find(self, name: str) -> Tool | None:
        """The tool of that name as the tenant has it, or nothing."""
        tool = self.candidate(name)
        return None if tool is None else self.shown(tool)

    def shown(self, tool: Tool) -> Tool | None:
        """A tool as the tenant has it, or nothing when it is hidden."""
        if not self._may_have(tool):
            return None
        slug = row_slug(tool)
        mine, common = self.mine, self.common
        if not is_shown(tool.origin, mine.state(slug), common.state(slug), self.embed):
            return None
        if not self.embed and (tool in mine.shut or tool in common.shut):
            return None
        return self.patched(tool, slug)

    def patched(self, tool: Tool, slug: str) -> Tool:
        """The tool with the words of its rows: those for all tenants, then the tenant's."""
        if tool.init is not None:
            return tool
        return self.mine.patched(self.common.patched(tool, slug), slug)

    def tools(self, after: str | None = None) -> Iterator[Tool]:
        """What the tenant has, by id, from after one on; worked out as it is read."""
        for tool in self.candidates(after):
            shown = self.shown(tool)
            if shown is not None:
                yield shown

    def candidates(self, after: str | None = None) -> Iterator[Tool]:
        """All that rows could show the tenant, as it is without them."""
        parts = (tools_after(tools, after) for tools in (self.snapshot.tools, *self._custom()))
        return (tool for tool in merge(*parts, key=lambda tool: tool.id) if self._may_have(tool))

    def candidate(self, name: str) -> Tool | None:
        """The one of that name. Code comes first: no row takes its name."""
        tool = self.snapshot.find(name) or self.mine.own(name) or self.common.own(name)
        return tool if tool is not None and self._may_have(tool) else None

    def _may_have(self, tool: Tool) -> bool:
        return not tool.tenants or self.tenant in tool.tenants

    def _custom(self) -> tuple[tuple[Tool, ...], tuple[Tool, ...]]:
        """Own tools whose names nothing before them has: the tenant's, then those given to all."""
        taken = self.snapshot.find
        mine = tuple(tool for tool in self.mine.custom if not any(map(taken, every_name(tool))))
        if self.common is self.mine:
            return mine, ()
        common = self.common.custom
        free = (
            tool
            for tool in common
            if not any(taken(name) or self.mine.own(name) for name in every_name(tool))
        )
        return mine, tuple(free)


def tools_after(tools: Sequence[Tool], after: str | None) -> Iterator[Tool]:
    """Of tools sorted by id, those that come after an id."""
    start = 0 if after is None else bisect_right(tools, after, key=lambda tool: tool.id)
    return (tools[slot] for slot in range(start, len(tools)))


class TenantViewResolver(Protocol):
    """Gives views fresh enough to decide by. One that cannot be had is an error, never an old one."""

    def at_hand(self, principal: Principal, /) -> TenantView | None:
        """The view, where it need not be read."""
        ...

    async def view(self, principal: Principal, /) -> TenantView:
        """The view, read if it must be."""
        ...
