"""calls.md: a tool that calls tools."""

import asyncio

# region tools
from handrail import Context, Handrail, Principal, Result, tool


@tool("users.find", level="read", requires="users.read")
async def find_user(name: str) -> str:
    """Find the mail address of a user of this organisation.

    Args:
        name: The user's name.
    """
    return f"{name}@example.org"


@tool("users.invite", level="read")
async def invite(name: str, *, ctx: Context) -> str | Result:
    """Invite a user to the meeting, by the address on record.

    Args:
        name: The user's name.
    """
    outcome = await ctx.call("users.find", {"name": name})
    if not outcome.ok:
        return outcome.result
    return Result(data=f"Invited {outcome.result.data}.")


# endregion


async def main() -> None:
    # region call
    async with Handrail([find_user, invite]) as hr:
        ana = Principal(tenant="acme", user="ana", permissions=frozenset({"users.read"}))
        assert (await hr.call("users.invite", {"name": "bo"}, principal=ana)).ok

        cy = Principal(tenant="acme", user="cy")
        out = await hr.call("users.invite", {"name": "bo"}, principal=cy)
        assert (out.status, out.code) == ("failed", "NOT_PERMITTED")
        # endregion
        parents = {event.call_id: event.call.parent for event in hr.log.read("acme")}
        assert out.call_id in parents.values()


if __name__ == "__main__":
    asyncio.run(main())
