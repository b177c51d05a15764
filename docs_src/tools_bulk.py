"""tools.md: many tools registered at once, their texts in one folder."""

import asyncio

from docs_src.tools_texts import track_parcel
from handrail import Handrail, Policy, define

find_parcels = define(
    "parcels.search",
    description="Find parcels by the address they are sent to.",
    level="read",
    params={"address": {"type": "string", "description": "Street, number and town."}},
    output={"type": "array", "items": {"type": "string"}},
    execute=lambda args: ["CH-17"],
)


async def main() -> None:
    # region bulk
    from pathlib import Path

    from handrail import Registry
    from handrail.ext.compat import register_builtin_tools

    registry = Registry()
    register_builtin_tools(
        Path(__file__).parent,
        [
            {"tool": track_parcel, "permissions": {"required": ["read"]}},
            {"tool": find_parcels, "permissions": {"required": ["read", "network"]}},
        ],
        registry,
    )
    # endregion
    async with Handrail(registry=registry, policy=Policy(capabilities=["read"])) as hr:
        assert [tool.id for tool in await hr.tools()] == ["parcels.track"]


if __name__ == "__main__":
    asyncio.run(main())
