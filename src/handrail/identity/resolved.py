"""ResolvedTool: a tool as a tenant has it, and where that comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from handrail.core.define.permission import PermissionPolicy
from handrail.core.define.tool import Origin, Tool
from handrail.core.find.view import TenantView
from handrail.core.find.visibility import row_slug

ResolvedKind = Literal["code", "system_override", "tenant_custom"]


@dataclass(frozen=True, slots=True)
class ResolvedTool:
    """What whoever looks after a tenant's tools needs to know of one."""

    slug: str
    kind: ResolvedKind
    """`code`: as it is written; `system_override`: written in code, with a row; `tenant_custom`: stored."""
    origin: Origin
    visible: bool
    """Whether the tenant's callers have it. What they do not have answers them like an unknown tool."""
    permission_policy: PermissionPolicy
    name: str
    description: str
    category: str | None
    icon: str | None
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    tool: Tool
    """The tool itself, with the words of its rows."""


def resolve(tool: Tool, view: TenantView) -> ResolvedTool:
    """A tool of the registry or of the tenant, with what its rows say."""
    slug = row_slug(tool)
    shown = view.shown(tool)
    named = view.mine.state(slug) is not None or view.common.state(slug) is not None
    kind: ResolvedKind = "system_override" if named else "code"
    as_had = shown if shown is not None else view.patched(tool, slug)
    return ResolvedTool(
        slug=slug,
        kind="tenant_custom" if tool.origin == "tenant_custom" else kind,
        origin=tool.origin,
        visible=shown is not None,
        permission_policy=as_had.policy,
        name=as_had.name,
        description=as_had.description,
        category=as_had.category,
        icon=as_had.icon,
        input_schema=as_had.input_schema,
        output_schema=as_had.output_schema,
        tool=as_had,
    )
