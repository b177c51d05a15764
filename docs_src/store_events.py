"""store.md: reading, following and counting what happened."""

import asyncio
import tempfile
from contextlib import aclosing
from pathlib import Path

from handrail import Handrail, Principal, tool


@tool("dice.roll", level="read")
async def roll(sides: int) -> int:
    """Roll a die with that many sides and say what it shows.

    Args:
        sides: How many sides the die has.
    """
    return sides


async def main() -> None:
    ana = Principal(tenant="acme", user="ana")
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{Path(folder) / 'handrail.db'}"
        # region follow
        async with Handrail([roll], database=database) as hr:
            await hr.call("dice.roll", {"sides": 6}, principal=ana, session="s1")
            await hr.call("dice.roll", {"sides": 20}, principal=ana, session="s1")

            async with aclosing(hr.events(ana, session="s1", after=2)) as events:
                async for event in events:  # it waits for more, here or in another process
                    print(event.seq, event.type)
                    if event.seq == 4:
                        break

            [newest, *_] = await hr.runs(ana, tool="dice.roll", limit=10)
            print(newest.status, newest.tool, newest.user)

            [counts] = (await hr.usage(ana, by=["tool"])).values()
            print(counts["completed"], "completed")
        # endregion


if __name__ == "__main__":
    asyncio.run(main())
