"""testing.md: a reviewer and a clock that do what a test says."""

import asyncio

from docs_src.first_call import order_stock
from handrail import Handrail, Principal


async def main() -> None:
    agent = Principal(tenant="acme", user="ana", agent="ops")
    # region approver
    from handrail.ext.guard import approve
    from handrail.testing import ScriptedApprover

    reviewer = ScriptedApprover(approve(edits={"item": "bolt", "pieces": 5}), False)
    async with Handrail([order_stock], approver=reviewer) as hr:
        first = await hr.call("stock.order", {"item": "bolt", "pieces": 500}, principal=agent)
        again = await hr.call("stock.order", {"item": "bolt", "pieces": 500}, principal=agent)

    assert (first.result.data, again.code) == ("5 x bolt ordered.", "REJECTED")
    assert [request.args["pieces"] for request in reviewer.requests] == [500, 500]
    # endregion

    # region clock
    from handrail.testing import FakeClock

    clock = FakeClock()
    async with Handrail([order_stock], clock=clock, approval_lifetime=60) as hr:
        await hr.call("stock.order", {"item": "bolt", "pieces": 5}, principal=agent)
        assert len(await hr.approvals.list(agent)) == 1
        clock.turn(61)
        assert await hr.approvals.list(agent) == []
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
