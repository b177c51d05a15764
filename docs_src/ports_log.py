"""ports.md: a log that also writes lines to a file."""

import asyncio
import io

# region log
import json
from collections.abc import Iterator
from typing import Any, TextIO

from handrail import Handrail, Principal, tool
from handrail.ext.events import Event
from handrail.ext.ports import MemoryLog


class LinesLog:
    """Writes each event as a line of JSON, and keeps the newest in memory to be read."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._newest = MemoryLog(keep=1_000)

    def append(self, event: Event, /) -> None:
        self._newest.append(event)
        self._file.write(json.dumps(event.to_dict(), default=str) + "\n")

    async def flush(self, event: Event, /) -> None:
        self._file.flush()

    def read(self, tenant: str, **filters: Any) -> Iterator[Event]:
        return self._newest.read(tenant, **filters)


# endregion


@tool("dice.roll", level="read")
async def roll(sides: int = 6) -> int:
    """Roll a die once and say which number came up.

    Args:
        sides: How many sides the die has.
    """
    return sides


async def main() -> None:
    file = io.StringIO()
    # region use
    async with Handrail([roll], log=LinesLog(file)) as hr:
        await hr.call("dice.roll", {"sides": 20}, principal=Principal(tenant="acme"))
    # endregion
    lines = [json.loads(line)["type"] for line in file.getvalue().splitlines()]
    assert lines == ["tool.started", "tool.completed"]

    class Full(LinesLog):
        def append(self, event: Event, /) -> None:
            raise OSError("no space left")

    @tool("dice.load", level="write")
    async def load() -> None:
        """Load the dice."""
        raise AssertionError("a write does not run without its record")

    async with Handrail([load, roll], log=Full(file)) as hr:
        ana = Principal(tenant="acme", user="ana")
        out = await hr.call("dice.load", principal=ana, source="web")
        assert (out.status, out.code) == ("refused", "LOG_UNAVAILABLE")
        assert (await hr.call("dice.roll", principal=ana, source="web")).ok


if __name__ == "__main__":
    asyncio.run(main())
