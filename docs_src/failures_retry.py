"""failures.md: trying again."""

import asyncio
from collections.abc import Iterator

from handrail import Handrail, Retry, ToolError, tool
from handrail.ext.events import Retrying
from handrail.ext.tools import with_retry

WEATHER: Iterator[str | Exception] = iter([ConnectionError("the line is dead"), "sunny"])


# region tool
@tool(
    "weather.now", level="read", timeout=60, retry=Retry(attempts=3, first=0.01, on=(ConnectionError, "BUSY"))
)
async def weather_now(city: str) -> str:
    """Say what the weather is like in a city right now.

    Args:
        city: the name of the city
    """
    weather = next(WEATHER)
    if isinstance(weather, Exception):
        raise weather
    return f"{city}: {weather}"


# endregion

PAGES: Iterator[Exception | None] = iter([OSError("the line is dead"), None])


async def fetch(name: str) -> str:
    trouble = next(PAGES)
    if trouble is not None:
        raise trouble
    return f"{name} read"


# region part
@tool("archive.read", level="read")
async def read_archive(name: str) -> str:
    """Read a page of the archive, from the beginning to its end.

    Args:
        name: the name of the page
    """
    return await with_retry(lambda: fetch(name), Retry(attempts=5, first=0.01, on=OSError))


@tool("archive.ask", level="read")
async def ask_archive(name: str) -> str:
    """Ask the archive for a page that is not in the reading room.

    Args:
        name: the name of the page
    """
    raise ToolError("The archive is closed until noon.", code="CLOSED", retry_after=7200)


# endregion


async def main() -> None:
    # region call
    async with Handrail([weather_now]) as hr:
        heard: list[Retrying] = []
        hr.subscribe(lambda event: heard.append(event) if isinstance(event, Retrying) else None)
        out = await hr.call("weather.now", {"city": "Basel"})
        assert out.ok and out.result.metadata == {"attempts": 2}
        assert (heard[0].attempt, heard[0].error) == (1, "the line is dead")
    # endregion

    async with Handrail([read_archive, ask_archive]) as hr:
        assert (await hr.call("archive.read", {"name": "page 1"})).result.data == "page 1 read"
        out = await hr.call("archive.ask", {"name": "page 1"})
        assert (out.code, out.result.metadata) == ("CLOSED", {"retry_after": 7200})


if __name__ == "__main__":
    asyncio.run(main())
