"""tools.md: a description that stands in a text file beside the module."""

import asyncio

# region tool
from handrail import tool


@tool("parcels.track", level="read")
async def track_parcel(number: str) -> str:
    """Taken only if parcels.track.txt is not beside this module.

    Args:
        number: The number on the label.
    """
    return f"{number} is in Basel."


# endregion


async def main() -> None:
    assert track_parcel.description == "Say where a parcel is right now, as far as is known."
    assert track_parcel.guidance.startswith("Use it when somebody asks about one parcel")
    assert "The files lie in /" in track_parcel.guidance


if __name__ == "__main__":
    asyncio.run(main())
