"""undo.md: a call that is taken back."""

import asyncio

# region tool
from contextlib import suppress
from typing import Any

from handrail import Handrail, Policy, Principal, ToolError, tool

PRICES = {"bolt": 3}


def back(args: Any, data: Any) -> tuple[str, dict[str, Any]]:
    return "prices.set", {"item": args.item, "price": data["before"]}


@tool("prices.set", level="write", undo=back)
async def set_price(item: str, price: int) -> dict[str, int]:
    """Set the price of an item in the catalogue.

    Use it when a person names the new price. Not for discounts. Look with prices.get first.

    Args:
        item: The item's name.
        price: Its new price, in cents.
    """
    before, PRICES[item] = PRICES[item], price
    return {"before": before, "after": price}


# endregion


async def main() -> None:
    ana = Principal(tenant="acme", user="ana")
    # region use
    async with Handrail([set_price], policy=Policy(approval_mode="policy")) as hr:
        out = await hr.call("prices.set", {"item": "bolt", "price": 300}, principal=ana)

        shown = await hr.undo(out.call_id, principal=ana, preview=True)
        assert (shown.tool, shown.args) == ("prices.set", {"item": "bolt", "price": 3})

        undone = await hr.undo(out.call_id, principal=ana)
        assert undone.outcome is not None and undone.outcome.ok and PRICES["bolt"] == 3

        with suppress(ToolError):  # ALREADY_UNDONE
            await hr.undo(out.call_id, principal=ana)

        await hr.undo(undone.outcome.call_id, principal=ana)  # the undo, undone
        assert PRICES["bolt"] == 300
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
