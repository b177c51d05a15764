"""guard.md: lists, permissions and capabilities, and what a sub-agent is left with."""

import asyncio

from handrail import Handrail, Policy, Principal, tool


@tool("mail.read", level="read")
def read_mail() -> str:
    """Read the newest mail in the inbox of the caller."""
    return "Hello"


@tool("mail.send", level="write", capabilities=["network"], requires="mail.send")
def send_mail(to: str) -> str:
    """Send a mail to one person, in the name of the caller.

    Use it when somebody asked for it, not to say thanks. Read with mail.read first.

    Args:
        to: The recipient's name.
    """
    return f"Sent to {to}."


@tool("admin.reset", level="destructive")
def reset() -> str:
    """Reset all settings of the organisation to what they were on the first day. Nobody may be signed in
    meanwhile, and nothing brings the old ones back.

    Use it when a person asked for exactly this, not to repair one setting: try admin.set first.
    """
    return "Reset."


@tool("lab.mix", level="read", tenants=["lab"])
def mix() -> str:
    """Mix two colours and say which one comes out of it."""
    return "green"


async def main() -> None:
    tools = [read_mail, send_mail, reset, mix]
    # region policy
    policy = Policy(allow=["mail.*", "lab.*"], deny=["*.purge"], capabilities=["read", "write"])
    clerk = Principal(tenant="acme", user="ana", permissions=frozenset({"mail.send"}))
    async with Handrail(tools, policy=policy) as hr:
        assert [tool.id for tool in await hr.tools(clerk)] == ["mail.read"]

        sent = await hr.explain("mail.send", {"to": "bo"}, clerk)
        assert sent.layer == "capability"
        reset_ = await hr.explain("admin.reset", {}, clerk)
        assert (reset_.layer, reset_.rule, reset_.code) == ("allow/deny", "allow", "NOT_PERMITTED")
        mixed = await hr.call("lab.mix", principal=clerk)
        assert mixed.code == "TOOL_NOT_FOUND"
    # endregion

    # region spawn
    parent = Policy(approval_mode="policy", allow=["mail.*"], deny=["mail.purge"])
    child = parent.spawn(Policy(approval_mode="policy", allow=["mail.read", "admin.reset"]))
    helper = clerk.spawn("helper", permissions=["mail.send", "admin"])
    assert helper.permissions == {"mail.send"}
    async with Handrail(tools, policy=child) as hr:
        assert [tool.id for tool in await hr.tools(helper)] == ["mail.read"]
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
