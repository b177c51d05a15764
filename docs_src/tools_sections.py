"""tools.md: how a result wants to be shown."""

import asyncio

# region tool
from pydantic import BaseModel

from handrail import tool


class Year(BaseModel):
    year: int
    cash: float


class Return(BaseModel):
    npv: float
    years: list[Year]


@tool(
    "calc.roi",
    level="read",
    icon="calculator",
    sections=[
        {"key": "npv", "label": "Net present value", "type": "summary"},
        {"key": "years", "label": "Year by year", "type": "table", "config": {"columns": ["year", "cash"]}},
    ],
    form={"cost": {"widget": "money", "order": 1}},
)
def calculate_return(cost: float, benefit: float, years: int = 3) -> Return:
    """Net present value of an investment, year by year.

    Args:
        cost: What it costs at the beginning, in EUR.
        benefit: What it brings in each year, in EUR.
        years: For how many years it runs.
    """
    cash = [Year(year=n, cash=benefit * n - cost) for n in range(1, years + 1)]
    return Return(npv=cash[-1].cash, years=cash)


# endregion


async def main() -> None:
    # region meta
    from handrail import Registry

    registry = Registry([calculate_return])
    [meta] = registry.all_meta()
    assert meta.slug == "calc-roi"
    assert [section.type for section in meta.output_sections] == ["summary", "table"]
    # endregion
    assert meta.to_dict()["outputSections"][1]["config"] == {"columns": ["year", "cash"]}
    assert calculate_return.view is not None


if __name__ == "__main__":
    asyncio.run(main())
