"""conformance.md: a test of one's own tools."""

import asyncio
from typing import Any

# region tests
import pytest

from docs_src import first_call as shop
from handrail.testing import ConformanceCase, assert_conformant, conformance_cases


def test_our_tools_are_conformant() -> None:
    assert_conformant([shop], strict=True)


@pytest.mark.parametrize("case", conformance_cases([shop], ignore=["name-style"]))
def test_each_tool_is_conformant(case: ConformanceCase) -> None:
    case()


# endregion


async def main() -> None:
    test_our_tools_are_conformant()
    [mark] = vars(test_each_tool_is_conformant)["pytestmark"]
    cases: list[Any] = mark.args[1]
    assert [case.id for case in cases] == ["stock.count", "stock.order"]
    for case in cases:
        test_each_tool_is_conformant(case.values[0])


if __name__ == "__main__":
    asyncio.run(main())
