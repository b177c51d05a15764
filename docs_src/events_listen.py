"""events.md: hearing of events as they happen."""

import asyncio

from handrail import Context, Handrail, Result, tool


@tool("files.pack", level="read")
async def pack(*, ctx: Context) -> str:
    """Pack the files of the folder at hand into one archive."""
    ctx.metadata(title="Packing")
    return "packed"


async def main() -> None:
    # region listen
    heard: list[str] = []
    results: list[Result] = []
    async with Handrail([pack], on_result=results.append) as hr:
        stop = hr.subscribe(lambda event: heard.append(event.kind))
        await hr.call("files.pack")
        stop()
        await hr.call("files.pack")

    assert heard == ["started", "progress", "completed"]
    assert [result.data for result in results] == ["packed", "packed"]
    # endregion
    last = hr.last_result("files.pack")
    assert last is not None and last.data == "packed"


if __name__ == "__main__":
    asyncio.run(main())
