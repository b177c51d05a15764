"""tools.md: registering tools, and what a bad definition is told."""

import asyncio
from contextlib import suppress

from handrail import Handrail, tool
from handrail.ext.errors import DefinitionError, DuplicateName


@tool("math.add", level="read")
def add(a: int, b: int) -> int:
    """Add two whole numbers and give back their sum.

    Args:
        a: The first of them.
        b: The second.
    """
    return a + b


@tool("math.add", level="read")
def add_slowly(a: int, b: int) -> int:
    """Add two whole numbers, one step at a time.

    Args:
        a: The first of them.
        b: The second.
    """
    return a + b


async def main() -> None:
    # region registry
    async with Handrail([add]) as hr:
        heard = []
        stop = hr.subscribe_registry(lambda event: heard.append((event.type, event.tool)))
        seen = hr.registry.get("math.add")

        hr.registry.register(add_slowly, replace=True)
        assert heard == [("register", "math.add")]

        # Whoever saw the old definition and says so is told that it changed.
        assert seen is not None
        out = await hr.call("math.add", {"a": 1, "b": 2}, digest=seen.digest)
        assert (out.status, out.code) == ("refused", "STALE_TOOL")
        stop()
    # endregion

    async with Handrail([add]) as hr:
        with suppress(DuplicateName):
            hr.registry.register(add_slowly)
            raise AssertionError("a second tool under one name must be refused")

    # region bad
    try:

        @tool("math.sum")
        def sum_up(numbers) -> int:  # type: ignore[no-untyped-def]
            """Add many numbers."""
            return sum(numbers)
    except DefinitionError as error:
        print(error)
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
