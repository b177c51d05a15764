"""bridges.md: Anthropic."""

import asyncio

from handrail import Handrail, Principal, tool


@tool("stock.count", level="read")
async def count_stock(item: str) -> int:
    """Say how many pieces of an item are in stock.

    Args:
        item: The item's name, such as bolt.
    """
    return 9


@tool("crm.find", level="read")
async def find_contact(name: str) -> str:
    """Find a contact of the company by name, and say where they live.

    Args:
        name: The contact's name, or a part of it.
    """
    return f"{name}, Basel"


agent = Principal(tenant="acme", user="ana", agent="ops")


async def main() -> None:
    # region use
    from handrail.bridges import anthropic

    async with Handrail([count_stock, find_contact]) as hr:
        tools = await anthropic.tools(hr, agent, changing=["crm.*"])
        assert [one["name"] for one in tools] == ["stock__count", "crm__find"]
        assert tools[0]["cache_control"] == {"type": "ephemeral"} and "cache_control" not in tools[1]

        block = {"type": "tool_use", "id": "toolu_1", "name": "stock__count", "input": {"item": "bolt"}}
        message = {"role": "assistant", "content": [{"type": "text", "text": "Let me see."}, block]}
        [answer] = await anthropic.run_tool_calls(hr, message, agent)
        assert answer["content"][0]["tool_use_id"] == "toolu_1"
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
