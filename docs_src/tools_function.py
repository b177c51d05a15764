"""tools.md: a tool written as a function."""

import asyncio

# region tool
from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from handrail import Context, tool


class Trip(BaseModel):
    train: str
    price: float


@tool("trips.search", level="read", aliases=("find_trips",))
async def search_trips(
    origin: str,
    target: str,
    day: date,
    travel_class: Literal["first", "second"] = "second",
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
    *,
    ctx: Context,
) -> list[Trip]:
    """Search train connections between two stations for one day.

    Use it before trips.book. It knows nothing about buses.

    Args:
        origin: Where the trip starts, as a station name.
        target: Where it ends.
        day: The day of departure.
        travel_class: First class or second.
        limit: How many connections at most.
    """
    ctx.metadata(title=f"Asking for {origin} to {target}")
    return [Trip(train="ICE 74", price=59.9)][:limit]


# endregion


async def main() -> None:
    # region call
    from handrail import Handrail

    async with Handrail([search_trips]) as hr:
        out = await hr.call("trips.search", {"origin": "Basel", "target": "Kiel", "day": "2026-05-01"})
        assert out.result.data == [{"train": "ICE 74", "price": 59.9}]
    # endregion

    assert search_trips.description == "Search train connections between two stations for one day."
    assert search_trips.guidance == "Use it before trips.book. It knows nothing about buses."
    properties = search_trips.input_schema["properties"]
    assert properties["day"] == {"description": "The day of departure.", "format": "date", "type": "string"}
    assert "ctx" not in properties
    assert search_trips.output_schema is not None
    assert (search_trips.slug, search_trips.name) == ("trips-search", "Search")
    assert search_trips.category == "trips"
    async with Handrail([search_trips]) as hr:
        args = {"origin": "Basel", "target": "Kiel", "day": "2026-05-01"}
        for name in ("trips.search", "find_trips", "trips-search", "trips__search"):
            assert (await hr.call(name, args)).tool == "trips.search"


if __name__ == "__main__":
    asyncio.run(main())
