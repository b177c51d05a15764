"""conformance.md: what is found about a poor tool, and about one that waits for its initialiser."""

import asyncio

from handrail import define


async def main() -> None:
    # region check
    from typing import Annotated, Any

    from pydantic import Field

    from handrail import tool
    from handrail.conformance import check

    @tool("orders.cancel", level="destructive")
    def cancel_order(number: str, options: dict[str, Any], days: Annotated[int, Field(ge=0)] = -1) -> None:
        """Cancel an order."""

    for finding in check([cancel_order]):
        print(f"{finding.level} {finding.rule}: {finding.message}")
    # endregion

    late = define("orders.late", lambda init: {"description": "Late.", "execute": lambda args: 1})
    # region ready
    from handrail.conformance import check_ready

    assert [finding.rule for finding in check([late])] == ["not-initialised"]
    assert "output-schema" in [finding.rule for finding in await check_ready([late])]
    # endregion

    # region input_less
    from handrail.conformance import INTENTIONALLY_INPUT_LESS

    now = define("clock.now", description="Say what time it is.", output=str, execute=lambda args: "noon")
    findings = check([now], input_less=INTENTIONALLY_INPUT_LESS | {"clock.now"})
    assert "input-schema" not in [finding.rule for finding in findings]
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
