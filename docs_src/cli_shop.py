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
    """Say how many pieces of an item are in stock."""
    return 12 if include_reserved else 9


@tool("stock.order", level="write")
async def order_stock(
    item: str,
    pieces: int,
    colour: Literal["red", "green"] = "red",
    tags: list[str] | None = None,
) -> dict[str, str | int]:
    """Order more pieces of an item from the supplier."""
    return {"item": item, "pieces": pieces, "colour": colour}


@tool("stock.drop", level="destructive")
async def drop_stock(item: str) -> str:
    """Throw all pieces of an item away."""
    return f"{item} is gone."


# endregion


async def main() -> None:
    from handrail import Handrail

    async with Handrail([count_stock, order_stock, drop_stock]) as hr:
        assert (await hr.call("stock.count", {"item": "bolt"}, source="cli")).result.data == 9


if __name__ == "__main__":
    asyncio.run(main())
