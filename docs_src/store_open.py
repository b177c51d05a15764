"""store.md: an approval that outlives the process that asked."""

import asyncio
import tempfile
from pathlib import Path

from handrail import Handrail, Principal, tool


@tool("stock.order", level="write")
async def order(item: str, pieces: int) -> str:
    """Order more pieces of an item from its supplier.

    Use it when too few are left, not to fill the shelves. Call stock.count first.

    Args:
        item: The item's name.
        pieces: How many to order.
    """
    return f"{pieces} pieces of {item} are ordered."


ana = Principal(tenant="acme", user="ana", permissions=["approvals.decide"])
clerk = ana.spawn("clerk")


# region ask
async def ask(database: str) -> str:
    """One process: an agent wants to write, so a person is asked. Then it ends."""
    async with Handrail([order], database=database) as hr:
        out = await hr.call("stock.order", {"item": "bolt", "pieces": 5}, principal=clerk, session="s1")
        assert out.status == "pending"
        return out.call_id


# endregion


# region answer
async def answer(database: str, call_id: str) -> None:
    """Another process, perhaps days later: a person agrees, and the call goes on."""
    async with Handrail([order], database=database) as hr:
        [waiting] = await hr.approvals.list(ana)
        await hr.approvals.approve(waiting.id, by=ana, edits={"item": "bolt", "pieces": 3})
        done = await hr.wait(call_id, timeout=30)
        print(done.status, done.result.data)


# endregion


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{Path(folder) / 'handrail.db'}"
        call_id = await ask(database)
        await answer(database, call_id)


if __name__ == "__main__":
    asyncio.run(main())
