"""guard.md: rules over tool names and arguments."""

import asyncio

# region rules
from handrail import Handrail, Policy, Principal, Rule, tool

rules = [
    Rule(
        name="large payments",
        tool="payments.*",
        when={"amount": {"gt": 1000}},
        verdict="ask",
        reason="payments above 1000 need a second pair of eyes",
        match=[{"amount": 1001}, {"tool": "payments.send", "args": {"amount": 5000}}],
        not_match=[{"amount": 1000}, {"currency": "EUR"}],
    ),
    Rule(
        name="own folder",
        tool="files.*",
        when={"path": {"under": "/srv/private"}, "@source": ["agent", "mcp"]},
        verdict="deny",
        reason="agents stay out of /srv/private",
    ),
]
# endregion


@tool("payments.send", level="read")
def send(amount: float) -> str:
    """Send money from the account at hand, to whom it belongs.

    Args:
        amount: How much, in EUR.
    """
    return f"{amount} sent."


@tool("files.read", level="read")
def read(path: str) -> str:
    """Read a text file on this machine from beginning to end.

    Args:
        path: Where it is.
    """
    return path


async def main() -> None:
    ana = Principal(tenant="acme", user="ana")
    async with Handrail([send, read], policy=Policy(rules=rules)) as hr:
        assert (await hr.call("payments.send", {"amount": 10}, principal=ana)).ok
        out = await hr.call("payments.send", {"amount": 5000}, principal=ana)
        assert (out.status, out.code) == ("pending", "NEEDS_APPROVAL")
        assert (
            await hr.call("payments.send", {"amount": 5000}, principal=ana, source="web")
        ).status == "pending"
        for path in ("/srv/private/a", "/srv/public/../private/a"):
            out = await hr.call("files.read", {"path": path}, principal=ana)
            assert out.code == "NOT_PERMITTED"
        assert (await hr.call("files.read", {"path": "/srv/private/a"}, principal=ana, source="web")).ok
        assert (await hr.call("files.read", {"path": "/srv/privateer"}, principal=ana)).ok

    # region broken
    from handrail.ext.errors import PolicyError

    try:
        Rule(tool="payments.*", when={"amount": {"gt": 1000}}, match=[{"amount": 1000}])
    except PolicyError as error:
        print(error)
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
