"""ports.md: time that a test can turn."""

import asyncio

from handrail import Handrail, Principal, tool


@tool("posts.publish", level="write")
async def publish(title: str) -> str:
    """Publish a post on the company's page, for everybody to read.

    Use it when the text is final, not for drafts. Look at it with posts.preview first.

    Args:
        title: The post's title.
    """
    return f"{title} is out."


async def main() -> None:
    agent = Principal(tenant="acme", user="ana", agent="ops")
    ana = Principal(tenant="acme", user="ana")
    # region clock
    from handrail.ext.ports import Clock

    today = [1_000.0]
    async with Handrail([publish], clock=Clock(now=lambda: today[0]), approval_lifetime=60) as hr:
        await hr.call("posts.publish", {"title": "Spring"}, principal=agent)
        assert len(await hr.approvals.list(ana)) == 1
        today[0] += 61
        assert await hr.approvals.list(ana) == []
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
