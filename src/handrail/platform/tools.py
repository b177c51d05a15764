"""How a tenant keeps its tools: in code, overridden or of its own; and the versions that are stored."""

from __future__ import annotations

from collections.abc import Callable

from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.find.visibility import row_slug
from handrail.identity.tenant_tools import ResolvedKind, ResolvedTool
from handrail.platform import Platform
from handrail.store.versions import Version

KindOf = Callable[[Tool], ResolvedKind]


async def tool_kinds(platform: Platform, who: Principal) -> KindOf:
    """How each tool of a tenant is kept."""
    if platform.services is None:
        return _always_code
    view = await platform.services.tools.view(who)
    named = view.mine.states().keys() | view.common.states().keys()

    def kind_of(tool: Tool) -> ResolvedKind:
        if tool.origin == "tenant_custom":
            return "tenant_custom"
        return "system_override" if row_slug(tool) in named else "code"

    return kind_of


def _always_code(tool: Tool) -> ResolvedKind:
    return "code"


async def stored_tool(platform: Platform, slug: str, who: Principal) -> ResolvedTool | None:
    """A tool that rows of the database may speak of, hidden or not."""
    if platform.services is None:
        return None
    return await platform.services.tools.resolve_tool_for_tenant(slug, who.tenant)


async def tool_versions(
    platform: Platform, slug: str, who: Principal, before: int | None = None
) -> list[Version]:
    """The stored versions of a tool, the newest first. One that is written in code has its history there."""
    if platform.services is None:
        return []
    return await platform.services.tool_admin.versions(who, slug, before=before)
