"""events.md: the same events in other shapes."""

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
    # region project
    from handrail.ext.compat import to_legacy_tool_run, to_ui_events

    async with Handrail([roll]) as hr:
        out = await hr.call("dice.roll", {"sides": 20}, principal=ana, source="web", session="s1")

        events = list(hr.log.read("acme", call_id=out.call_id))
        shown = [told["type"] for event in events for told in to_ui_events(event)]
        assert shown == ["tool_start", "tool_result"]

        run = to_legacy_tool_run(events, slug="dice-roll")
        assert run is not None
        assert (run.id, run.status, run.output) == (out.run_id, "success", 20)
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
