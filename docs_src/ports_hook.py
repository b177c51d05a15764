"""ports.md: a stage of your own around bodies."""

import asyncio

# region hook
from typing import Any

from handrail import Context, Handrail, Result, Tool, tool


class Cache:
    """Answers a repeated read from memory."""

    def __init__(self) -> None:
        self._results: dict[tuple[str, str, str], Result] = {}

    async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
        return self._results.get((ctx.tenant_id, tool.id, repr(values)))

    async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
        if tool.level == "read" and result.success:
            self._results[ctx.tenant_id, tool.id, repr(values)] = result
        return result


# endregion

RAN: list[str] = []


@tool("rates.get", level="read")
async def get_rate(currency: str) -> float:
    """Get the exchange rate of a currency against the euro.

    Args:
        currency: Its code, in three letters.
    """
    RAN.append(currency)
    return 1.08


async def main() -> None:
    # region use
    async with Handrail([get_rate], hooks=[Cache()]) as hr:
        await hr.call("rates.get", {"currency": "USD"})
        again = await hr.call("rates.get", {"currency": "USD"})
        assert again.result.metadata == {"cached": True}
    # endregion
    assert RAN == ["USD"]


if __name__ == "__main__":
    asyncio.run(main())
