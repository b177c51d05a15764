"""tools.md: what a model is shown."""

import asyncio
import json

from handrail import Handrail, Principal, tool


@tool("stock.count", level="read")
async def count_stock(item: str, include_reserved: bool = False) -> int:
    """Say how many pieces of an item are in stock.

    Args:
        item: The item's name.
        include_reserved: Whether pieces that are promised to somebody count, too.
    """
    return 9


async def main() -> None:
    agent = Principal(tenant="acme", user="ana", agent="ops")
    # region export
    async with Handrail([count_stock]) as hr:
        [exported] = await hr.export("openai", agent)
        print(json.dumps(exported, indent=2))
        print(await hr.export("prompt_menu", agent))

        # The name a provider sends back, and the arguments as the text it sends, are taken as they are.
        out = await hr.call(exported["function"]["name"], '{"item": "bolt"}', principal=agent)
        assert out.result.data == 9
        # endregion
        for how in ("anthropic", "mcp", "ai_sdk"):
            assert await hr.export(how, agent)


if __name__ == "__main__":
    asyncio.run(main())
