"""testing.md: a tool that remembers what it was called with."""

import asyncio

from handrail import Context, Principal, tool


@tool("orders.confirm", level="draft")
async def confirm(number: str, *, ctx: Context) -> str:
    """Send the customer a mail that confirms an order.

    Args:
        number: The order's number.
    """
    sent = await ctx.call("mail.send", {"subject": f"Order {number}"})
    return "confirmed" if sent.ok else f"not confirmed: {sent.result.error}"


async def main() -> None:
    # region capture
    from handrail.testing import call, capture_tool

    mail = capture_tool("mail.send", answer="sent")
    ana = Principal(tenant="acme", user="ana")

    out = await call(confirm, {"number": "A-17"}, principal=ana, others=[mail])

    assert out.result.data == "confirmed"
    assert mail.last.args == {"subject": "Order A-17"}
    assert mail.last.ctx.tenant_id == "acme"

    mail.answer = OSError("the server is away")
    out = await call(confirm, {"number": "A-18"}, principal=ana, others=[mail])
    assert out.result.data == "not confirmed: the server is away"
    assert len(mail.calls) == 2
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
