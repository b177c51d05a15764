"""jobs.md: calls that run after others."""

import asyncio

from handrail import Handrail, Principal, tool
from handrail.ext.errors import GraphError
from handrail.ext.tools import Task


@tool("report.fetch", level="read")
async def fetch(source: str) -> str:
    """Fetch the figures that a source has for the reports of this month.

    Args:
        source: Where the figures come from, such as sales.
    """
    if source == "bank":
        raise RuntimeError("The bank does not answer.")
    return f"The figures of {source}."


@tool("report.build", level="read")
async def build(month: str) -> str:
    """Build the report of a month from the figures that were fetched before.

    Args:
        month: The name of the month, such as May.
    """
    return f"The report of {month} is built."


async def main() -> None:
    ana = Principal(tenant="acme", user="ana")
    async with Handrail([fetch, build]) as hr:
        # region graph
        tasks = [
            Task("sales", "report.fetch", {"source": "sales"}),
            Task("bank", "report.fetch", {"source": "bank"}),
            Task("preview", "report.build", {"month": "May"}, after="sales"),
            Task("report", "report.build", {"month": "May"}, after=["sales", "bank"]),
        ]
        outs = await hr.submit_all(tasks, principal=ana, session="may")
        ends = {name: await hr.wait(out.call_id, timeout=30) for name, out in outs.items()}
        assert ends["preview"].result.data == "The report of May is built."
        assert ends["bank"].code == "TOOL_FAILED"
        assert (ends["report"].status, ends["report"].code) == ("cancelled", "SKIPPED")
        # endregion
        # region rejected
        try:
            await hr.submit_all([Task("a", "report.build", {"month": "May"}, after="b")], principal=ana)
        except GraphError as error:
            message = str(error)
        assert message == "Task 'a' comes after 'b', which is not among the tasks. Nothing was submitted."
        # endregion


if __name__ == "__main__":
    asyncio.run(main())
