"""A yes is for what was shown: a question whose words were changed in the database gets none, by any door."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import pytest
from pydantic import Field

from handrail import Context, Handrail, Principal, Tool, tool
from handrail.core.guard.approval_request import ApprovalRequest
from handrail.core.guard.approval_store import MemoryApprovals
from handrail.ext.guard import Conflict

BOSS = Principal(tenant="acme", user="bo", permissions={"approvals.decide"})
OPS = Principal(tenant="acme", user="ana", agent="ops")
Secret = Annotated[str, Field(json_schema_extra={"format": "password"})]
pytestmark = [pytest.mark.req("BY-03", "BY-04"), pytest.mark.fault("F29")]


class Tampered(MemoryApprovals):
    """A book in which somebody writes over what a question shows, or over what would run."""

    change: dict[str, Any] | None = None

    async def get(self, approval_id: str, tenant: str, /) -> ApprovalRequest | None:
        found = await super().get(approval_id, tenant)
        return found if found is None or self.change is None else replace(found, **self.change)


def paying(paid: list[int]) -> Tool:
    @tool("bank.pay", level="write")
    async def pay(amount: int, pin: Secret = "none") -> int:
        """Pay."""
        paid.append(amount)
        return amount

    return pay


@pytest.mark.parametrize(
    ("change", "edits"),
    [
        ({"args": {"amount": 1, "pin": "•••"}}, None),
        ({"args": {"amount": 1, "pin": "•••"}}, {"amount": 2, "pin": "•••"}),
        ({"raw": {"amount": 999, "pin": "1234-1234"}}, None),
        ({"args_hash": "another"}, None),
        ({"tool": "bank.look"}, None),
    ],
)
async def test_what_does_not_show_what_would_run_is_not_approved(change: Any, edits: Any) -> None:
    paid: list[int] = []
    book = Tampered(lambda: 0.0)
    async with Handrail([paying(paid)], approvals=book) as hr:
        out = await hr.call("bank.pay", {"amount": 100, "pin": "1234-1234"}, principal=OPS)
        assert out.approval_id is not None
        book.change = change
        with pytest.raises(Conflict, match="not what would run") as caught:
            await hr.approvals.approve(out.approval_id, by=BOSS, edits=edits)
        assert (caught.value.code, paid) == ("NOT_APPROVED", [])
        book.change = None
        await hr.approvals.approve(out.approval_id, by=BOSS)
        assert (await hr.wait(out.call_id, timeout=10, principal=OPS)).ok
    assert paid == [100]


@pytest.mark.parametrize("amount", [100, "100"], ids=["exact", "repaired"])
async def test_what_is_shown_as_it_would_run_is_approved(amount: Any) -> None:
    paid: list[int] = []
    async with Handrail([paying(paid)]) as hr:
        out = await hr.call("bank.pay", {"amount": amount, "pin": "1234-1234"}, principal=OPS)
        await hr.approvals.approve(out.approval_id or "", by=BOSS)
        assert (await hr.wait(out.call_id, timeout=10, principal=OPS)).ok
    assert paid == [100]


async def test_what_an_outer_body_was_told_in_confidence_is_masked_and_the_rest_is_approved() -> None:
    paid: list[str] = []

    @tool("bank.note", level="write")
    async def note(text: str) -> None:
        """Note."""
        paid.append(text)

    @tool("bank.order", level="read")
    async def order(*, ctx: Context) -> str:
        """Order."""
        asked = await ctx.call("bank.note", {"text": f"the pin is {ctx.secret('PIN')}"})
        return f"{asked.call_id} {asked.approval_id}"

    async with Handrail([note, order], secrets={"PIN": "4711-0815"}) as hr:
        call_id, approval_id = (await hr.call("bank.order", principal=OPS)).result.data.split()
        asked = await hr.approvals.get(approval_id, BOSS)
        assert asked is not None and "4711" not in str(asked.args) and "the pin is" in str(asked.args)
        await hr.approvals.approve(approval_id, by=BOSS)
        assert (await hr.wait(call_id, timeout=10, principal=OPS)).ok
    assert paid == ["the pin is 4711-0815"]
