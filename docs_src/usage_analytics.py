"""telemetry.md: one analytics event for each run."""

import asyncio
from typing import Any

from handrail import Handrail, Principal, tool
from handrail.ext.events import tool_runs


@tool("dice.roll", level="read")
async def roll(sides: int) -> int:
    """Roll a die with that many sides and say what it shows.

    Args:
        sides: How many sides the die has.
    """
    return sides


async def main() -> None:
    ana = Principal(tenant="acme", user="ana")
    # region analytics
    runs: list[dict[str, Any]] = []
    async with Handrail([roll]) as hr:
        hr.subscribe(tool_runs(runs.append))
        out = await hr.call("dice.roll", {"sides": 6}, principal=ana)

    [run] = runs
    assert (run["event"], run["run_id"], run["status"]) == ("tool_run", out.run_id, "completed")
    # endregion
    assert (run["tool"], run["user"]) == ("dice.roll", "ana")


if __name__ == "__main__":
    asyncio.run(main())
