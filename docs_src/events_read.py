"""events.md: reading the log."""

import asyncio

from handrail import Handrail, Principal, tool


@tool("dice.roll", level="read")
async def roll(sides: int = 6) -> int:
    """Roll a die once and say which number came up.

    Args:
        sides: How many sides the die has.
    """
    return sides


async def main() -> None:
    ana = Principal(tenant="acme", user="ana")
    # region read
    async with Handrail([roll]) as hr:
        await hr.call("dice.roll", {"sides": "20"}, principal=ana, session="s1")
        await hr.call("dice.roll", {"sides": "many"}, principal=ana, session="s1")

        for event in hr.log.read("acme", session="s1"):
            print(event.seq, event.type, event.tool)
        [failed] = hr.log.read("acme", status="failed")
        print(failed.to_dict()["code"])
    # endregion
    assert list(hr.log.read("other")) == []
    assert [event.seq for event in hr.log.read("acme", session="s1", after=1)] == [2, 3]


if __name__ == "__main__":
    asyncio.run(main())
