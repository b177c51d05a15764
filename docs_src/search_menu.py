"""search.md: a menu of what is not loaded."""

import asyncio

from handrail import Handrail, Tool, define
from handrail.toolsets.search import describe_tool, search_tools


def named(tool_id: str) -> Tool:
    return define(tool_id, {"description": "Do one thing.", "level": "read", "execute": dict})


TOOLS = [named(f"{area}.task{n}") for area, many in (("crm", 40), ("mail", 2)) for n in range(many)]


async def main() -> None:
    # region menu
    async with Handrail([search_tools, describe_tool, *TOOLS]) as hr:
        print(await hr.menu(loaded=[search_tools, describe_tool, "mail.task0"], max_tokens=70))
        # endregion
        assert "crm.task39" in await hr.menu()


if __name__ == "__main__":
    asyncio.run(main())
