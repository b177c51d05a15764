"""Embedding: one visitor's call of a published tool, through the guard like any other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail.core.define.call import Outcome
from handrail.core.define.operator_fields import without_operator_fields
from handrail.core.define.principal import EVERYTHING, Principal
from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError, UsageError
from handrail.engine import Handrail
from handrail.identity.embeds import Embeds, check_publishable, visitor
from handrail.store.embeds import Embed


async def published_tool(hr: Handrail, tenant: str, embed: Embed, name: str) -> Tool | None:
    """The tool of that name on a view; None for any other, and for one that may not be used there now."""
    bare = visitor(tenant, embed)
    looking = Principal(
        tenant, bare.user, permissions=[EVERYTHING], scope=embed.tools, ceiling="read", embed=True
    )
    try:
        tool = (await hr.describe(name, looking, source="web")).tool
        check_publishable(tool)
    except (ToolError, UsageError):
        return None
    return tool


async def published_tools(hr: Handrail, tenant: str, embed: Embed) -> list[Tool]:
    """The tools of a view that may be used, in its order."""
    found = [await published_tool(hr, tenant, embed, name) for name in embed.tools]
    return [tool for tool in found if tool is not None]


async def run_published(
    hr: Handrail,
    embeds: Embeds,
    tenant: str,
    embed: Embed,
    tool: Tool,
    args: Mapping[str, Any],
    address: str,
) -> Outcome | str:
    """How a visitor's call ended; or in words that the quota is used up.

    What is for operators only is left out, whoever sent it.
    """
    refused = await embeds.count(tenant, embed, address)
    if refused is not None:
        return refused
    who = visitor(tenant, embed, tool)
    given = without_operator_fields(tool, args)
    return await hr.call(tool.id, given, principal=who, source="web")
