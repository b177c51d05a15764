"""calls.md: events while a call runs."""

import asyncio

from handrail import Context, Handrail, tool


@tool("report.write", level="read")
async def write_report(pages: int, *, ctx: Context) -> str:
    """Write a report page by page, and tell how it is going.

    Args:
        pages: How many pages to write.
    """
    for page in range(1, pages + 1):
        ctx.metadata(title=f"Page {page} of {pages}")
        ctx.append_output(f"Page {page}.\n")
    return "Done."


async def main() -> None:
    # region stream
    async with Handrail([write_report]) as hr:
        async for event in hr.stream("report.write", {"pages": 2}):
            match event.kind:
                case "progress":
                    print("...", event.payload()["told"]["title"])
                case "chunk":
                    print(event.payload()["chunk"], end="")
                case kind:
                    print(kind)
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
