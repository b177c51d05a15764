"""cli.md: the tools that its sessions use."""

import asyncio

# region tools
from typing import Annotated, Literal

from pydantic import Field

from handrail import tool


@tool("stock.count", level="read")
async def count_stock(
    item: Annotated[str, Field(description="The item, by its name in the catalogue.")],
    include_reserved: Annotated[bool, Field(description="Count promised pieces too.")] = False,
) -> int:
    """Say how many pieces of an item are in stock right now."""
    return 12 if include_reserved else 9


@tool("stock.order", level="write")
async def order_stock(
    item: Annotated[str, Field(description="The item, by its name in the catalogue.")],
    pieces: Annotated[int, Field(description="How many to order.")],
    colour: Annotated[Literal["red", "green"], Field(description="Which kind.")] = "red",
    tags: Annotated[list[str] | None, Field(description="Words to find the order by.")] = None,
) -> str:
    """Order more pieces of an item from its supplier, in one colour.

    Use it when the shelf is nearly empty. Not for things that are still on their way. Call stock.count first.
    """
    return f"{pieces} {colour} pieces of {item} are ordered."


@tool("stock.drop", level="destructive")
async def drop_stock(
    item: Annotated[str, Field(description="The item, by its name in the catalogue.")],
) -> str:
    """Throw away all pieces of an item that are in stock, for good, and take it out of the catalogue; no
    order of it may be open.

    Use it for what can no longer be sold. Not for what is merely old. Call stock.count first.
    """
    return f"{item} is gone."


# endregion


async def main() -> None:
    from handrail import Handrail

    async with Handrail([count_stock, order_stock, drop_stock]) as hr:
        assert (await hr.call("stock.count", {"item": "bolt"}, source="cli")).result.data == 9


if __name__ == "__main__":
    asyncio.run(main())
