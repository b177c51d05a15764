"""What a call would change, for whoever must approve it."""

import asyncio

from handrail import Handrail, Principal, tool

agent = Principal(tenant="acme", user="ana", agent="writer")
ana = Principal(tenant="acme", user="ana", permissions=["approvals.decide"])


async def main() -> None:
    # region preview
    posts = {"spring": "Snow."}

    @tool("posts.edit", level="write", preview=lambda args, ctx: f"- {posts[args.title]}\n+ {args.text}")
    async def edit(title: str, text: str) -> str:
        """Give a post another text."""
        posts[title] = text
        return "Done."

    async with Handrail([edit]) as hr:
        out = await hr.call("posts.edit", {"title": "spring", "text": "Sun."}, principal=agent)
        [request] = await hr.approvals.list(ana)
        assert request.preview == "- Snow.\n+ Sun."
    # endregion
    assert out.status == "pending"


if __name__ == "__main__":
    asyncio.run(main())
