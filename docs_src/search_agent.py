"""search.md: the tools with which an agent finds tools."""

import asyncio

from handrail import Handrail, Principal, tool


@tool("records.delete", level="destructive")
async def delete_record(id: int) -> str:
    """Delete one record for good, with everything that hangs on it; nothing brings it back. It must be
    closed, and nobody may be working on it.

    Use it when a record was made by mistake. Not for old ones: those are archived. Call records.search first.

    Args:
        id: the number of the record
    """
    return "gone"


@tool("records.search", level="read")
async def search_records(query: str) -> list[str]:
    """Search records by what their titles and notes say.

    Args:
        query: a few words
    """
    return [query]


async def main() -> None:
    agent = Principal(tenant="acme", user="ana", agent="ops")
    # region agent
    from handrail.toolsets.search import describe_tool, search_tools

    async with Handrail([search_tools, describe_tool, search_records, delete_record]) as hr:
        out = await hr.call("search_tools", {"query": "remove a record"}, principal=agent)
        print(out.to_model())

        out = await hr.call("describe_tool", {"name": "records.delete"}, principal=agent)
        print(out.result.data["parameters"])
        print(out.result.data["call"])

        out = await hr.call("describe_tool", {"name": "records.serach"}, principal=agent)
        print(out.to_model())
        # endregion


if __name__ == "__main__":
    asyncio.run(main())
