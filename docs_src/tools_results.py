"""tools.md: what a body may return, and what becomes of it."""

import asyncio
from typing import Any

# region returns
from pydantic import BaseModel

from handrail import Handrail, Result, ToolError, tool
from handrail.ext.forms import build_markdown_table


class Weather(BaseModel):
    degrees: float
    sky: str


class Day(BaseModel):
    day: str
    degrees: float


@tool("weather.now", level="read")
async def weather_now(city: str) -> Weather:
    """Say what the weather in a city is like right now.

    Args:
        city: The city's name.
    """
    if city == "Atlantis":
        raise ToolError(f"There is no weather station in {city}.", code="NO_STATION")
    return Weather(degrees=21.5, sky="clear")


@tool("weather.week", level="read")
async def weather_week(city: str) -> list[Day] | Result:
    """Say what the weather in a city will be like this week.

    Args:
        city: The city's name.
    """
    days = [{"day": "Mon", "degrees": 21}, {"day": "Tue", "degrees": 17}]
    return Result(
        data=days,
        summary=f"{len(days)} days for {city}",
        markdown=build_markdown_table(days, heading=f"Weather in {city}"),
    )


# endregion


async def main() -> None:
    async with Handrail([weather_now, weather_week]) as hr:
        # region read
        out = await hr.call("weather.now", {"city": "Basel"})
        assert out.ok
        assert out.result.data == {"degrees": 21.5, "sky": "clear"}
        assert out.to_model() == '{"degrees":21.5,"sky":"clear"}'

        out = await hr.call("weather.week", {"city": "Basel"})
        assert out.result.to_ui() == "2 days for Basel"

        out = await hr.call("weather.now", {"city": "Atlantis"})
        assert (out.status, out.code) == ("failed", "NO_STATION")
        assert out.result.error == "There is no weather station in Atlantis."
        # endregion
        out = await hr.call("weather.week", {"city": "Basel"})
        print(out.result.markdown)
    await every_return_value()


async def every_return_value() -> None:
    async def outcome(value: Any) -> Any:
        @tool("give", level="read")
        async def give() -> Any:
            """Give what it was told to give."""
            if isinstance(value, Exception):
                raise value
            return value

        async with Handrail([give]) as hr:
            return await hr.call("give")

    assert (await outcome("text")).to_model() == "text"
    assert (await outcome(None)).to_model() == "null"
    assert (await outcome({"a": 1})).result.data == {"a": 1}
    assert (await outcome(Weather(degrees=1, sky="grey"))).result.data == {"degrees": 1.0, "sky": "grey"}
    failed = await outcome({"error": "no such city"})
    assert (failed.status, failed.code, failed.result.error) == ("failed", "TOOL_FAILED", "no such city")
    assert (await outcome({"error": None, "a": 1})).ok
    shown = await outcome({"title": "Short", "output": "for the model", "metadata": {"bytes": 3}})
    assert (shown.result.title, shown.to_model()) == ("Short", "for the model")
    raised = await outcome(ValueError("that is no city"))
    assert (raised.status, raised.code, raised.result.error) == ("failed", "TOOL_FAILED", "that is no city")

    @tool("lie", level="read")
    async def lie() -> int:
        """Promise a number."""
        return "seven"  # type: ignore[return-value]

    async with Handrail([lie]) as hr:
        assert (await hr.call("lie")).code == "INVALID_OUTPUT"


if __name__ == "__main__":
    asyncio.run(main())
