"""guard.md: plan mode."""

import asyncio

from handrail import Handrail, Policy, Principal, tool

SHELF: list[str] = []


@tool("shelf.list", level="read")
def list_shelf() -> list[str]:
    """List the titles of all books that are on the shelf."""
    return list(SHELF)


@tool("shelf.add", level="draft")
def add_to_shelf(title: str) -> str:
    """Put a book on the shelf, behind those that are there.

    Args:
        title: The book's title.
    """
    SHELF.append(title)
    return f"{title} is on the shelf."


async def main() -> None:
    ana = Principal(tenant="acme", user="ana")
    # region plan
    async with Handrail([list_shelf, add_to_shelf], policy=Policy(plan=True)) as hr:
        out = await hr.call("shelf.add", {"title": "Emma"}, principal=ana, session="s1")
        assert (out.status, out.code) == ("queued", "PLANNED")
        assert (await hr.call("shelf.list", principal=ana, session="s1")).result.data == []

        [planned] = await hr.planned(ana)
        assert (planned.tool, planned.args) == ("shelf.add", {"title": "Emma"})

        [done] = await hr.run_plan(ana)  # or: await hr.discard_plan(ana)
        assert done.result.data == "Emma is on the shelf."
        # endregion
        await hr.call("shelf.add", {"title": "Emma"}, principal=ana)
        assert await hr.discard_plan(ana) == 1
        assert await hr.run_plan(ana) == []
    assert SHELF == ["Emma"]
    async with Handrail([list_shelf], policy=Policy(plan="all")) as hr:
        assert (await hr.call("shelf.list", principal=ana)).status == "queued"


if __name__ == "__main__":
    asyncio.run(main())
