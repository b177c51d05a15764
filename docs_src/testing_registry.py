"""testing.md: real tools with answers in their bodies' place."""

import asyncio

from docs_src.first_call import count_stock, order_stock
from handrail import Handrail


async def main() -> None:
    # region registry
    from handrail import ToolError
    from handrail.testing import in_turn, mock_tool_registry

    registry = mock_tool_registry(
        [count_stock, order_stock],
        answers={"stock.count": in_turn(ToolError("The shelf is locked.", code="LOCKED"), 3)},
    )
    async with Handrail(registry=registry) as hr:
        assert (await hr.call("stock.count", {"item": "bolt"})).code == "LOCKED"
        assert (await hr.call("stock.count", {"item": "bolt"})).result.data == 3
        assert (await hr.call("stock.count", {})).code == "MISSING_PARAM"

        registry.answer("stock.count", "plenty")
        assert (await hr.call("stock.count", {"item": "bolt"})).code == "INVALID_OUTPUT"

    assert [call.args["item"] for call in registry.calls_of("stock.count")] == ["bolt"] * 3
    assert registry.calls[0].args == {"item": "bolt", "include_reserved": False}
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
