"""Jobs on SQLite: submitted, guarded, run by the worker of the same process, and told in the log."""

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

    async def jobs(number: int) -> object:
        assert folder.name
        for _ in range(number):
            asked = [hr.submit("notes.echo", {"text": "hi"}, principal=SOMEBODY) for _ in range(MANY)]
            outs = await asyncio.gather(*asked)
            ended = await asyncio.gather(*(hr.wait(out.call_id, 60) for out in outs))
        return [one.result.data for one in ended]

    return (Subject(f"{MANY} jobs", jobs, lambda said: said == ["hi"] * MANY),)


if __name__ == "__main__":
    main(subjects)
