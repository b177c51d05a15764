"""README: a first tool, and what happens to the calls it gets."""

# region example
import asyncio

from handrail import Handrail, Principal, tool


@tool("stock.count", level="read")
async def count_stock(item: str, include_reserved: bool = False) -> int:
    """Say how many pieces of an item are in stock.

    Args:
        item: The item's name.
        include_reserved: Whether pieces that are promised to somebody count, too.
    """
    return 12 if include_reserved else 9


@tool("stock.order", level="write")
async def order_stock(item: str, pieces: int) -> str:
    """Order more pieces of an item from the supplier.

    Use it when too few are left, not to fill the shelves. Call stock.count first.

    Args:
        item: The item's name.
        pieces: How many to order.
    """
    return f"{pieces} x {item} ordered."


async def main() -> None:
    agent = Principal(tenant="acme", user="ana", agent="ops")
    async with Handrail([count_stock, order_stock]) as hr:
        # A weak model sends text where a boolean belongs. That loses nothing, so it is repaired and reported.
        out = await hr.call("stock.count", {"item": "bolt", "include_reserved": "true"}, principal=agent)
        print(out.status, out.result.data)
        print(out.repairs[0])

        # "a few" is no number. The answer says what is wrong, so that the model can correct itself.
        out = await hr.call("stock.order", {"item": "bolt", "pieces": "a few"}, principal=agent)
        print(out.status, out.code, out.result.metadata["fields"])

        # A write from an agent waits until a person agrees.
        out = await hr.call("stock.order", {"item": "bolt", "pieces": 50}, principal=agent)
        print(out.status, out.code)
        person = Principal(tenant="acme", user="ana", permissions={"approvals.decide"})
        for request in await hr.approvals.list(person):
            await hr.approvals.approve(request.id, by=person)
        out = await hr.wait(out.call_id)
        print(out.status, out.result.data)


if __name__ == "__main__":
    asyncio.run(main())
# endregion
