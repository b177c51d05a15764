"""testing.md: one call in one line."""

import asyncio

from docs_src.first_call import count_stock, order_stock

# region call
from handrail.testing import call


async def test_an_agent_may_count() -> None:
    out = await call(count_stock, {"item": "bolt"}, tenant="acme", agent="ops")
    assert out.result.data == 9


async def test_an_agent_has_to_ask_before_it_orders() -> None:
    out = await call(order_stock, {"item": "bolt", "pieces": 50}, tenant="acme", agent="ops")
    assert (out.status, out.code) == ("pending", "NEEDS_APPROVAL")


async def test_a_person_has_not() -> None:
    out = await call(order_stock, {"item": "bolt", "pieces": 50}, user="ana", source="web")
    assert out.ok


# endregion


async def main() -> None:
    await test_an_agent_may_count()
    await test_an_agent_has_to_ask_before_it_orders()
    await test_a_person_has_not()

    # region events
    from handrail import Handrail
    from handrail.testing import events

    async with Handrail([count_stock]) as hr:
        await hr.call("stock.count", {"item": "bolt"}, session="s1")
        assert [event.kind for event in events(hr, session="s1")] == ["started", "completed"]
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
