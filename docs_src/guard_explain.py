"""guard.md: why a call is allowed, asked for or refused."""

import asyncio

from handrail import Handrail, Policy, Principal, Rule, tool


@tool("records.update", level="write")
def update_record(id: str, status: str) -> str:
    """Change the status of a record, such as from open to archived.

    Use it when a customer asks, not for many records at once. Look with records.find first.

    Args:
        id: The record's id.
        status: Its new status.
    """
    return f"{id} is {status}."


async def main() -> None:
    rule = Rule("records.*", {"status": "archived"}, "deny", "archiving is done by the nightly job")
    # region explain
    async with Handrail([update_record], policy=Policy(rules=[rule])) as hr:
        agent = Principal(tenant="acme", user="ana", agent="ops")
        decision = await hr.explain("records.update", {"id": "rec-1", "status": "archived"}, agent)
        print(decision.explain())
    # endregion
    assert (decision.verdict, decision.layer, decision.rule) == ("deny", "rules", "records.*")
    assert decision.code == "NOT_PERMITTED"
    async with Handrail([update_record], policy=Policy(rules=[rule])) as hr:
        ask = await hr.explain("records.update", {"id": "rec-1", "status": "open"}, agent)
        assert (ask.verdict, ask.layer, ask.by) == ("ask", "level", "reviewer")
        assert not list(hr.log.read("acme"))
        out = await hr.call("records.update", {"id": "rec-1", "status": "archived"}, principal=agent)
        assert out.decision == decision


if __name__ == "__main__":
    asyncio.run(main())
