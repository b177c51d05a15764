"""bridges.md: LangChain."""

import asyncio

from handrail import Handrail, Principal, tool


@tool("stock.count", level="read")
async def count_stock(item: str) -> int:
    """Say how many pieces of an item are in stock.

    Args:
        item: The item's name, such as bolt.
    """
    return 9


@tool("stock.scrap", level="destructive")
async def scrap(item: str) -> str:
    """Scrap all pieces of an item, on every shelf of the house and for good; what was reserved of it for an
    order is lost along with the rest, and nothing brings it back.

    Use it when the item is spoilt. Not to correct a count. Call stock.count first.

    Args:
        item: The item's name, such as bolt.
    """
    return f"No {item} is left."


agent = Principal(tenant="acme", user="ana", agent="ops")


async def main() -> None:
    # region use
    from handrail.bridges import langchain

    async with Handrail([count_stock, scrap]) as hr:
        count, scrapping = await langchain.tools(hr, agent)
        assert await count.ainvoke({"item": "bolt"}) == "9"

        call = {"type": "tool_call", "id": "c1", "name": "stock__scrap", "args": {"item": "bolt"}}
        answer = await scrapping.ainvoke(call, {"configurable": {"thread_id": "t-1"}})
        assert "waits for a person" in answer.content
        assert answer.artifact["outcome"]["status"] == "pending"
    # endregion


def without_asyncio() -> None:
    # region sync
    from handrail.bridges.langchain import blocking_tools
    from handrail.sync import Handrail

    with Handrail([count_stock]) as hr:
        [count] = blocking_tools(hr, agent)
        assert count.invoke({"item": "bolt"}) == "9"
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
    without_asyncio()
