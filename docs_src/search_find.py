"""search.md: finding tools by words."""

import asyncio
from typing import Any

from handrail import Handrail, Principal, Tool, define


def read(tool_id: str, description: str, **options: Any) -> Tool:
    return define(tool_id, {"description": description, "level": "read", "execute": dict, **options})


TOOLS = [
    read("data.searchRecords", "Search and filter records."),
    read("data.exportRecords", "Write records to a CSV file.", aliases=["spreadsheet"]),
    read("mail.search", "Search the mailbox."),
    read("audit.searchRecords", "Search the records of the audit.", requires="audit.read"),
]


async def main() -> None:
    ana = Principal(tenant="acme", user="ana")
    # region search
    async with Handrail(TOOLS) as hr:
        for match in await hr.search("serching for records", ana, limit=10):
            print(f"{match.tool.id}  {match.score:.2f}  {dict(match.matched)}")
        # endregion
        assert [match.tool.id for match in await hr.search("spreadsheet", ana)] == ["data.exportRecords"]
        # region page
        page = await hr.tools(ana, limit=2)
        rest = await hr.tools(ana, after=page[-1].id, limit=2)
        assert [tool.id for tool in page] == ["data.exportRecords", "data.searchRecords"]
        assert [tool.id for tool in rest] == ["mail.search"]
        # endregion


if __name__ == "__main__":
    asyncio.run(main())
