"""telemetry.md: counting what tools are used for."""

import asyncio

from handrail import Handrail, Principal, Result, tool
from handrail.ext.ports import MemoryUsageMeter


# region tool
@tool("text.summarise", level="read", output={"type": "string"})
async def summarise(text: str) -> Result:
    """Say in one sentence what a text is about.

    Args:
        text: The text itself.
    """
    spent = {"cost": 0.002, "input_tokens": 900, "output_tokens": 30, "cached_tokens": 500}
    return Result(data="It is about handrails.", metadata=spent)


# endregion


async def main() -> None:
    ana = Principal(tenant="acme", user="ana")
    # region count
    tally = MemoryUsageMeter()
    async with Handrail([summarise]) as hr:
        hr.subscribe(tally.hear)
        for text in ("One.", "Two.", 3.5, ["no text"]):
            await hr.call("text.summarise", {"text": text}, principal=ana)

    used = await tally.read("acme", by=["tool", "user"])
    counts = used["text.summarise", "ana"]
    print(counts["calls"], "calls,", counts["completed"], "completed,", counts.refusals)
    print(f"{counts.success_rate:.0%} success, cost {counts.cost:.3f}, {counts['input_tokens']} tokens in")
    # endregion
    assert counts.quantile_ms(0.95) is not None


if __name__ == "__main__":
    asyncio.run(main())
