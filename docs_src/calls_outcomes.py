"""calls.md: what comes back from a call."""

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
    # region outcome
    async with Handrail([roll]) as hr:
        out = await hr.call(
            "dice.roll",
            {"sides": "20"},
            principal=Principal(tenant="acme", user="ana", agent="ops"),
            source="agent",
            session="s1",
        )
        assert out.status == "completed" and out.ok
        assert out.result.data == 20
        assert out.tool == "dice.roll"
        assert out.call_id.startswith("call_")
        assert out.run_id is not None and out.run_id.startswith("run_")
        assert [str(repair) for repair in out.repairs] == ["sides: '20' became 20 (text as number)"]
        assert out.decision is not None and out.decision.allowed
        assert out.duration_ms > 0
    # endregion

    # region refused
    async with Handrail([roll]) as hr:
        out = await hr.call("dice.role", {})
        assert (out.status, out.code) == ("refused", "TOOL_NOT_FOUND")
        print(out.to_model())

        out = await hr.call("dice.roll", {"side": 6})
        assert (out.status, out.code) == ("refused", "INVALID_PARAM")
        print(out.to_model())
        # endregion
        assert out.run_id is None


if __name__ == "__main__":
    asyncio.run(main())
