"""calls.md: the blocking façade."""

import asyncio

from handrail import tool


@tool("dice.roll", level="read")
async def roll(sides: int = 6) -> int:
    """Roll a die once and say which number came up.

    Args:
        sides: How many sides the die has.
    """
    return sides


def blocking() -> None:
    # region sync
    from handrail.sync import Handrail

    with Handrail([roll]) as hr:
        out = hr.call("dice.roll", {"sides": 20})
        assert out.result.data == 20
        assert [event.kind for event in hr.stream("dice.roll")] == ["started", "completed"]
    # endregion


async def main() -> None:
    await asyncio.to_thread(blocking)


if __name__ == "__main__":
    asyncio.run(main())
