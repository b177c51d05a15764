"""A call that is asked for while it goes from the queue into the record."""

from __future__ import annotations

import pytest

from handrail import Handrail, Principal, tool
from handrail.platform import platform_of
from handrail.platform.access import find_call

ANA = Principal("acme", "ana", agent="ops")


@tool("stock.count", level="read")
async def count() -> int:
    """Count."""
    return 9


@pytest.mark.req("RA-12")
async def test_a_call_that_begins_and_ends_while_it_is_looked_for_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Handrail([count]) as hr:
        submitted = await hr.submit("stock.count", principal=ANA, source="api", delay=0.3)
        caller = hr.jobs.caller

        async def asked_late(call_id: str, principal: Principal) -> Principal | None:
            """The record was looked through already; whoever asks the queue comes when all is over."""
            await hr.wait(call_id, 20, principal=principal)
            return await caller(call_id, principal)

        monkeypatch.setattr(hr.jobs, "caller", asked_late)
        known = await find_call(platform_of(hr), submitted.call_id, ANA, "events.read", "api")
        assert known is not None and known.id == submitted.call_id and known.first is not None
