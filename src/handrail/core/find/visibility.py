"""Visibility: what is stored of tools, and what that makes of them for a tenant.

A tool written in code has no row. A row under a tenant speaks of that tenant, one under the default tenant
of all. A system tool is shown once a row enables it; any other is shown until a row disables it. A disabled
row in either scope hides. Rows may change words and make a tool ask; they never make it ask less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from handrail.core.define.names import slug_of
from handrail.core.define.permission import Danger, Level, PermissionPolicy
from handrail.core.define.tool import Origin, Tool, digest

DEFAULT_TENANT_ID = "00000000-0000-0000-0000-000000000000"
"""What stands under it holds for every tenant."""

RowKind = Literal["system_override", "tenant_custom"]
ROW_KINDS: tuple[RowKind, ...] = get_args(RowKind)

WORDS = ("name", "description", "category", "icon")
PATCHABLE = ("enabled", "permission_policy", *WORDS)
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


def patch(tool: Tool, row: ToolRow) -> Tool:
    """The tool with the words of an override. A policy that would loosen it leaves it as it is."""
    changes: dict[str, Any] = {name: text for name in WORDS if (text := getattr(row, name)) is not None}
    if row.permission_policy == "always_ask":
        changes["policy"] = "always_ask"
    if not changes:
        return tool
    made = replace(tool, **changes)
    return replace(made, digest=digest(made))
