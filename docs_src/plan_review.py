"""plan.md: a plan that one process makes, and another one runs."""

import asyncio
import tempfile
from pathlib import Path

from handrail import Handrail, Policy, Principal, tool

SHELF: list[str] = []


@tool("shelf.add", level="write")
async def add_to_shelf(title: str) -> str:
    """Put a book on the shelf, behind those that are there.

    Use it for one book. Not to move a book. Look with shelf.list first, if it may be there already.

    Args:
        title: The book's title.
    """
    if title == "Dracula":
        raise RuntimeError("it bites")
    SHELF.append(title)
    return f"{title} is on the shelf."


PLANNING = Policy(plan=True, approval_mode="policy")
ana = Principal(tenant="acme", user="ana")
clerk = ana.spawn("clerk")


# region make
async def make(database: str) -> None:
    """One process: an agent works, and nothing that it wants to change is changed."""
    async with Handrail([add_to_shelf], database=database, policy=PLANNING) as hr:
        for title in ("Emma", "Dracula", "Ulysses"):
            out = await hr.call("shelf.add", {"title": title}, principal=clerk, session="spring")
            assert (out.status, out.code) == ("queued", "PLANNED")


# endregion


# region run
async def run(database: str) -> None:
    """Another process, perhaps days later: its person looks, and runs it."""
    async with Handrail([add_to_shelf], database=database, policy=PLANNING) as hr:
        for planned in await hr.planned(ana):
            print(planned.tool, dict(planned.args), "by", planned.principal.agent)
        done = await hr.run_plan(ana, session="spring", stop_on_failure=True)
        print([out.status for out in done])
        print(await hr.discard_plan(ana), "discarded")


# endregion


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{Path(folder) / 'handrail.db'}"
        await make(database)
        await run(database)
    assert SHELF == ["Emma"]


if __name__ == "__main__":
    asyncio.run(main())
