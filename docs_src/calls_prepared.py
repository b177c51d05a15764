"""calls.md: a call that was put together beforehand."""

import asyncio

from handrail import Handrail, tool


@tool("dice.roll", level="read")
async def roll(sides: int = 6) -> int:
    """Roll a die once and say which number came up.

    Args:
        sides: How many sides the die has.
    """
    return sides


async def main() -> None:
    # region call
    from handrail import Call

    async with Handrail([roll]) as hr:
        out = await hr.run(Call("dice.roll", {"sides": 20}, session="s1", id="call-7", turn=3))
        assert (out.call_id, out.result.data) == ("call-7", 20)
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
