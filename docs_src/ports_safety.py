"""ports.md: one more look at a call, and a clock that a test can turn."""

import asyncio

# region safety
from typing import Any

from handrail import Handrail, Principal, Tool, tool
from handrail.ext.guard import Step


def office_hours(tool: Tool, args: Any, principal: Principal) -> Step | None:
    """Agents send no mail at night."""
    if tool.id == "mail.send" and principal.agent and not 7 <= args.hour < 19:
        return Step(
            "safety", "ask", "Needs approval: it is night", "office hours", "NEEDS_APPROVAL", "reviewer"
        )
    return None


# endregion


@tool("mail.send", level="draft")
async def send(hour: int) -> str:
    """Send a mail at an hour of the day.

    Args:
        hour: The hour, counted from midnight.
    """
    return "sent"


async def main() -> None:
    agent = Principal(tenant="acme", user="ana", agent="ops")
    # region use
    async with Handrail([send], safety=[office_hours]) as hr:
        assert (await hr.call("mail.send", {"hour": 9}, principal=agent)).ok
        assert (await hr.call("mail.send", {"hour": 23}, principal=agent)).status == "pending"
    # endregion

    def broken(tool: Tool, args: Any, principal: Principal) -> Step | None:
        raise RuntimeError("the sandbox is away")

    async with Handrail([send], safety=[broken]) as hr:
        assert (await hr.call("mail.send", {"hour": 9}, principal=agent)).code == "POLICY_ERROR"


if __name__ == "__main__":
    asyncio.run(main())
