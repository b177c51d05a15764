"""search.md: an embedder of your own."""

import asyncio

from handrail import Handrail, tool

# region embedder
from handrail.ext.ports import Embedder

ABOUT = [{"car", "automobile", "vehicle"}, {"bird", "parrot"}]


class ByTopic:
    """A toy. A real one asks a model for the vectors, of as many texts at once as it is given."""

    async def embed(self, texts: list[str], /) -> list[list[float]]:
        bags = [set(text.lower().replace(".", " ").split()) for text in texts]
        return [[1.0, *(3.0 * len(words & topic) for topic in ABOUT)] for words in bags]


embedder: Embedder = ByTopic()
# endregion


@tool("fleet.rent", level="read")
async def rent(days: int = 1) -> str:
    """Rent a car of the fleet from today on.

    Args:
        days: for how many days
    """
    return "rented"


@tool("zoo.feed", level="read")
async def feed(times: int = 1) -> str:
    """Feed a bird of the zoo out of the hand.

    Args:
        times: how often
    """
    return "fed"


async def main() -> None:
    # region use
    async with Handrail([rent, feed], embedder=embedder) as hr:
        [match] = await hr.search("automobile", limit=1)
        assert match.tool.id == "fleet.rent"
        assert match.matched == {"meaning": ()}
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
