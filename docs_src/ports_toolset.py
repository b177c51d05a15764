"""ports.md: tools that are asked for rather than registered."""

import asyncio

# region toolset
from collections.abc import Sequence

from handrail import Handrail, Principal, Tool, Toolset, tool


@tool("crm.contacts", level="read")
async def contacts() -> list[str]:
    """List the names of all contacts of the tenant."""
    return ["Bo"]


class PerTenant:
    """Gives each tenant what it has bought."""

    def __init__(self, bought: dict[str, list[Tool]]) -> None:
        self._bought = bought

    async def tools(self, principal: Principal, /) -> Sequence[Tool]:
        return self._bought.get(principal.tenant, [])

    async def find(self, name: str, principal: Principal, /) -> Tool | None:
        return next((tool for tool in await self.tools(principal) if name in tool.names), None)


shop: Toolset = PerTenant({"acme": [contacts]})
# endregion


async def main() -> None:
    # region use
    async with Handrail([shop]) as hr:
        acme = Principal(tenant="acme", user="ana")
        other = Principal(tenant="other", user="cy")
        assert [tool.id for tool in await hr.tools(acme)] == ["crm.contacts"]
        assert (await hr.call("crm.contacts", principal=acme)).result.data == ["Bo"]
        assert (await hr.call("crm.contacts", principal=other)).code == "TOOL_NOT_FOUND"
    # endregion

    # region wrap
    from handrail.ext.toolsets import FilteredToolset, PrefixedToolset, StaticToolset

    reads = FilteredToolset(StaticToolset([contacts]), lambda tool, principal: tool.level == "read")
    async with Handrail([PrefixedToolset(reads, "sales")]) as hr:
        assert [tool.id for tool in await hr.tools()] == ["sales.crm.contacts"]
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
