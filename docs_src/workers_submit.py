"""jobs.md: calls that run in the background."""

import asyncio
import tempfile
from pathlib import Path

from handrail import Handrail, Principal, tool


@tool("report.build", level="read", idempotent=True)
async def build(month: str) -> str:
    """Build the report of a month, which takes a while.

    Args:
        month: The name of the month, such as May.
    """
    return f"The report of {month} is built."


async def main() -> None:
    ana = Principal(tenant="acme", user="ana")
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{Path(folder) / 'handrail.db'}"
        # region submit
        async with Handrail([build], database=database, worker=False) as hr:
            out = await hr.submit("report.build", {"month": "May"}, principal=ana, idempotency_key="may")
            assert out.status == "queued"

        # later, in a process that works: `handrail worker`, or
        async with Handrail([build], database=database) as hr:
            done = await hr.wait(out.call_id, timeout=30)
            assert done.result.data == "The report of May is built."
        # endregion


if __name__ == "__main__":
    asyncio.run(main())
