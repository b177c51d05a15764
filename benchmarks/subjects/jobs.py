"""Jobs on SQLite: submitted, guarded, run by the worker of the same process, recorded in the event log."""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.subject_process import main
from benchmarks.timing import Subject
from handrail import Handrail, Principal, tool

SOMEBODY = Principal(tenant="acme", user="u1")
MANY = 100


@tool("notes.echo", level="read")
async def echo(text: str) -> str:
    """Give back a text."""
    return text


async def subjects() -> Sequence[Subject]:
    folder = tempfile.TemporaryDirectory(prefix="handrail-bench-", ignore_cleanup_errors=True)
    hr = Handrail([echo], database=f"sqlite:///{Path(folder.name) / 'handrail.db'}")
    await hr.open()

    async def run_jobs(count: int) -> list[object]:
        assert folder.name  # the closure keeps the folder alive
        submits = [hr.submit("notes.echo", {"text": "hi"}, principal=SOMEBODY) for _ in range(count)]
        submitted = await asyncio.gather(*submits)
        ended = await asyncio.gather(*(hr.wait(outcome.call_id, 60) for outcome in submitted))
        return [outcome.result.data for outcome in ended]

    async def one(number: int) -> object:
        for _ in range(number):
            answers = await run_jobs(1)
        return answers

    async def many(number: int) -> object:
        for _ in range(number):
            answers = await run_jobs(MANY)
        return answers

    return (
        Subject("one job, from submit to its end", one, lambda answers: answers == ["hi"]),
        Subject(f"{MANY} jobs", many, lambda answers: answers == ["hi"] * MANY),
    )


if __name__ == "__main__":
    main(subjects)
