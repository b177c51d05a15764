"""A batch of calls that each wait as long as one of them."""

import asyncio
from collections.abc import Sequence

from benchmarks.subject_process import main
from benchmarks.timing import Subject
from handrail import Call, Handrail, Principal, tool

SOMEBODY = Principal(tenant="acme", user="u1")
SECONDS = 0.01


@tool("slow.read", level="read", reads=lambda args: [f"page:{args.page}"])
async def read(page: int) -> int:
    """Read a page that takes its time."""
    await asyncio.sleep(SECONDS)
    return page


async def subjects() -> Sequence[Subject]:
    hr = Handrail(tools=[read])
    calls = [Call("slow.read", {"page": page}, principal=SOMEBODY, session="s") for page in range(100)]

    async def one(number: int) -> object:
        for _ in range(number):
            outcome = await hr.call("slow.read", {"page": 1}, principal=SOMEBODY, session="s")
        return [outcome.result.data]

    async def batch(number: int) -> object:
        for _ in range(number):
            outcomes = await hr.call_many(calls)
        return [outcome.result.data for outcome in outcomes]

    return (
        Subject("one read of 10 ms", one, lambda pages: pages == [1]),
        Subject("a batch of 100 such reads", batch, lambda pages: pages == list(range(100))),
    )


if __name__ == "__main__":
    main(subjects)
