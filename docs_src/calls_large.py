"""calls.md: results that are too large for a model."""

import asyncio

from handrail import Handrail, tool


@tool("book.read", level="read")
async def read_book() -> str:
    """Read a long book from its first page to the last."""
    return "All work and no play. " * 2_000


async def main() -> None:
    # region large
    from handrail.ext.tools import read_result

    async with Handrail([read_book, read_result]) as hr:
        out = await hr.call("book.read", id="call-1")
        print(out.to_model(limit=43))

        page = await hr.call("read_result", {"handle": "call-1", "offset": 43, "limit": 22})
        print(page.to_model())
        # endregion
        assert await hr.read_result("call-1", offset=43, limit=22) == page.result.data
    assert out.result.data == "All work and no play. " * 2_000
    assert len(out.to_model()) < 31_000


if __name__ == "__main__":
    asyncio.run(main())
