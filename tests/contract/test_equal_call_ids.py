"""Callers may choose the ids of their calls. Two tenants that chose the same one know nothing of it."""

from __future__ import annotations

import asyncio

import pytest

from handrail import Call, Handrail, Outcome, Principal, Tool, tool
from handrail.core.errors import UsageError

ANA = Principal("acme", "ana", permissions={"*"})
EVE = Principal("globex", "eve", permissions={"*"})
ID = "call_1"


@tool("data.wipe", level="destructive")
async def wipe(what: str) -> str:
    """Wipe something."""
    return f"{what} is gone."


@pytest.fixture(params=["memory", "sqlite_url", "postgres_url"])
def url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str | None:
    monkeypatch.setenv("HANDRAIL_KEY", "5a" * 32)
    kept: str | None = None if request.param == "memory" else request.getfixturevalue(request.param)
    return kept


def holding(begun: asyncio.Event, go: asyncio.Event) -> Tool:
    @tool("data.hold", level="read")
    async def hold() -> str:
        """Wait for a word."""
        begun.set()
        await go.wait()
        return "held"

    return hold


async def ask(hr: Handrail, who: Principal) -> Outcome:
    return await hr.call("data.wipe", {"what": who.tenant}, principal=who, id=ID)


@pytest.mark.req("MT-01", "AP-08")
@pytest.mark.fault("F26")
async def test_nobody_gets_the_outcome_of_another_tenants_call(url: str | None) -> None:
    async with Handrail([wipe], database=url) as hr:
        hers, theirs = await ask(hr, ANA), await ask(hr, EVE)
        await hr.approvals.approve(str(hers.approval_id), by=ANA)
        assert (await hr.wait(ID, 20, principal=ANA)).result.data == "acme is gone."
        with pytest.raises(TimeoutError):
            await hr.wait(ID, 0.3, principal=EVE)
        await hr.approvals.approve(str(theirs.approval_id), by=EVE)
        assert (await hr.wait(ID, 20, principal=EVE)).result.data == "globex is gone."
        assert (await hr.wait(ID, 20, principal=ANA)).result.data == "acme is gone."
        with pytest.raises(UsageError, match="Several tenants have a call 'call_1'"):
            await hr.wait(ID, 20)


@pytest.mark.req("MT-01")
async def test_a_question_of_two_tenants_under_one_id_is_answered_only_for_whom_it_is_asked(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_KEY", "5a" * 32)
    async with Handrail([wipe], database=database_url) as hr:
        hers, _ = await ask(hr, ANA), await ask(hr, EVE)
        await hr.approvals.approve(str(hers.approval_id), by=ANA)
        await hr.wait(ID, 20, principal=ANA)
        for unclear in (hr.wait(ID, 20), hr.cancel(ID)):
            with pytest.raises(UsageError, match="Say for whom"):
                await unclear
        assert [one.call.id for one in await hr.approvals.list(EVE)] == [ID]
        assert await hr.cancel(ID, principal=EVE)
        assert (await hr.wait(ID, 20, principal=EVE)).status in ("refused", "cancelled")


@pytest.mark.req("MT-01")
@pytest.mark.fault("F26")
async def test_a_running_call_keeps_no_other_tenant_from_its_id_and_cannot_be_stopped_by_one() -> None:
    begun, go = asyncio.Event(), asyncio.Event()
    async with Handrail([holding(begun, go)]) as hr:
        running = asyncio.create_task(hr.call("data.hold", principal=ANA, id=ID))
        await begun.wait()
        assert not await hr.cancel(ID, principal=EVE)
        again = asyncio.create_task(hr.call("data.hold", principal=EVE, id=ID))
        nested = await hr.run(Call("data.none", principal=EVE, id="inner", parent=ID, depth=1))
        assert nested.status == "refused"
        go.set()
        assert [one.status for one in await asyncio.gather(running, again)] == ["completed", "completed"]
