"""search.md: an embedder of your own."""

import asyncio

from handrail import Handrail, tool

# region embedder
from handrail.ext import Embedder

ABOUT = [{"car", "automobile", "vehicle"}, {"bird", "parrot"}]


class ByTopic:
    """A toy. A real one asks a model for the vectors, of as many texts at once as it is given."""

    async def embed(self, texts: list[str], /) -> list[list[float]]:
        said = [set(text.lower().replace(".", " ").split()) for text in texts]
        return [[1.0, *(3.0 * len(words & topic) for topic in ABOUT)] for words in said]


embedder: Embedder = ByTopic()
# endregion


@tool("fleet.rent", level="read")
async def rent() -> str:
    """Rent a car."""
    return "rented"


@tool("zoo.feed", level="read")
async def feed() -> str:
    """Feed a bird."""
    return "fed"


async def main() -> None:
    # region use
    async with Handrail([rent, feed], embedder=embedder) as hr:
        [found] = await hr.search("automobile", limit=1)
        assert found.tool.id == "fleet.rent"
        assert found.matched == {"meaning": ()}
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
