"""calls.md: the same call twice, one effect."""

import asyncio
from typing import Any

from handrail import Handrail, tool

SENT: list[str] = []


@tool("mail.send", level="draft")
async def send_mail(to: str) -> str:
    """Send a mail to one person, in the name of the caller.

    Args:
        to: The recipient's name.
    """
    SENT.append(to)
    return f"Sent to {to}."


async def main() -> None:
    # region keys
    async with Handrail([send_mail]) as hr:
        first = await hr.call("mail.send", {"to": "bo"}, idempotency_key="order-17")
        again = await hr.call("mail.send", {"to": "bo"}, idempotency_key="order-17")
        assert first.status == "completed"
        assert (again.status, again.code) == ("duplicate", "DUPLICATE")
        assert again.result.data == first.result.data
        assert SENT == ["bo"]

        other = await hr.call("mail.send", {"to": "cy"}, idempotency_key="order-17")
        assert (other.status, other.code) == ("refused", "KEY_REUSED")
        # endregion

        at_once: list[Any] = await asyncio.gather(
            *(hr.call("mail.send", {"to": "di"}, idempotency_key="order-18") for _ in range(100))
        )
        assert sorted({out.status for out in at_once}) == ["completed", "duplicate"]
        assert SENT == ["bo", "di"]


if __name__ == "__main__":
    asyncio.run(main())
