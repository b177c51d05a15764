"""views.md: views from outside a tool, and outputs as blocks."""

import asyncio
from typing import Any

from pydantic import BaseModel

from handrail import tool


class Year(BaseModel):
    year: int
    cash: int


class Cash(BaseModel):
    npv: float
    years: list[Year]
    currency: str


@tool("calc.cash", level="read")
def calculate_cash(years: int = 2) -> Cash:
    """Tell the cash flow of an investment, year by year.

    Args:
        years: How many years to look at, from the first one on.
    """
    cash = [Year(year=year, cash=68_000 * year - 120_000) for year in range(1, years + 1)]
    return Cash(npv=84_210.4, years=cash, currency="EUR")


async def main() -> None:
    # region spec
    from handrail.ext.forms import OutputSection, ViewSpec, register_view_spec

    register_view_spec(
        "tool:calc-cash",
        ViewSpec(
            (
                OutputSection("npv", "Net present value", "summary", {"unit": "EUR", "decimals": 0}),
                OutputSection("years", "Cash flow", "chart", {"kind": "area", "x": "year", "y": ["cash"]}),
                OutputSection("years", "Year by year", "table"),
            )
        ),
    )
    # endregion

    # region blocks
    from handrail.ext.forms import tool_output_to_blocks

    cash = [{"year": 1, "cash": -52_000}, {"year": 2, "cash": 16_000}]
    output = {"npv": 84_210.4, "years": cash, "currency": "EUR"}
    blocks = tool_output_to_blocks(calculate_cash, output)
    assert [block.type for block in blocks] == ["summary", "chart", "table", "value"]
    assert blocks[1].content["series"][0]["values"] == [-52_000, 16_000]
    assert blocks[3].to_dict() == {
        "type": "value",
        "key": "",
        "label": "More",
        "content": {"value": {"currency": "EUR"}},
    }
    # endregion

    # region own
    from handrail.ext.forms import Block, register_output_block

    def as_blocks(output: dict[str, Any]) -> list[Block]:
        answer = "Yes" if output["npv"] > 0 else "No"
        return [Block("value", "npv", "Is it worth it?", {"value": answer})]

    register_output_block("block:tool-output-calc-cash", as_blocks)
    [block] = tool_output_to_blocks(calculate_cash, output)
    assert block.content == {"value": "Yes"}
    # endregion
    from handrail.ext.forms import forget_view_spec

    forget_view_spec("tool:calc-cash")
    assert [block.type for block in tool_output_to_blocks(calculate_cash, output)] == ["value"]


if __name__ == "__main__":
    asyncio.run(main())
