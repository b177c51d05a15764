"""Jobs and schedules, and calls that are cancelled while they wait, as whoever looks after them sees them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from handrail import Handrail, Principal, tool
from handrail.core.run.jobs.job import JobEntry
from handrail.ext.errors import UsageError
from handrail.ext.guard import Conflict

pytestmark = pytest.mark.long

T = TypeVar("T")
ANA = Principal("acme", "ana")
RITA = Principal("acme", "rita", permissions=["approvals.decide"])
EVE = Principal("other", "eve", permissions=["*"])
done: list[str] = []


@tool("shop.order", level="write")
async def order(item: str) -> str:
    """Order an item."""
    done.append(item)
    return item


@tool("shop.look", level="read")
async def look(item: str) -> str:
    """Look at an item."""
    done.append(item)
    return item


async def until(found: Callable[[], Awaitable[list[T]]]) -> list[T]:
    """What is found, once there is something."""
    async with asyncio.timeout(30):
        while True:
            if what := await found():
                return what
            await asyncio.sleep(0.05)


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def where(request: pytest.FixtureRequest) -> dict[str, Any]:
    done.clear()
    if request.param == "memory":
        return {}
    url = request.getfixturevalue("postgres_url" if request.param == "postgresql" else "migrated_sqlite_url")
    return {"database": url}


@pytest.mark.req("CX-07", "BY-18")
@pytest.mark.fault("F11")
async def test_a_call_that_is_cancelled_while_it_waits_for_a_person_ends_and_can_no_longer_be_approved(
    where: dict[str, Any],
) -> None:
    async with Handrail([order], **where) as hr:
        out = await hr.call("shop.order", {"item": "bolt"}, principal=ANA, idempotency_key="k")
        assert await hr.cancel(out.call_id, "not needed any more") is True
        ended = await hr.wait(out.call_id, timeout=30)
        assert (ended.status, ended.code) == ("cancelled", "CANCELLED")
        assert "not needed any more" in (ended.result.error or "")
        with pytest.raises(Conflict, match="withdrawn"):
            await hr.approvals.approve(out.approval_id or "", by=RITA)
        assert await hr.approvals.list(RITA) == []
        assert await hr.cancel(out.call_id) is False
        kinds = [event.kind for event in hr.log.read("acme", call_id=out.call_id)]
        assert kinds == ["needs_approval", "cancelled"]
        again = await hr.call("shop.order", {"item": "bolt"}, principal=ANA, idempotency_key="k")
        assert again.status == "pending" and again.approval_id != out.approval_id
    assert done == []


@pytest.mark.req("BY-12")
async def test_a_job_that_another_call_has_answered_already_is_answered_to_whoever_waits(
    database_url: str,
) -> None:
    done.clear()
    async with Handrail([look], database=database_url) as hr:
        first = await hr.call("shop.look", {"item": "bolt"}, principal=ANA, idempotency_key="k")
        assert first.status == "completed"
        out = await hr.submit("shop.look", {"item": "bolt"}, principal=ANA, idempotency_key="k")
        assert (await hr.wait(out.call_id, timeout=30)).result.data == "bolt"
    async with Handrail([look], database=database_url, worker=False) as hr:
        ended = await hr.wait(out.call_id, timeout=30)
        assert (ended.status, ended.result.data, ended.run_id) == ("duplicate", "bolt", first.run_id)
    assert done == ["bolt"]


@pytest.mark.fault("F13")
async def test_a_job_whose_tool_is_gone_is_listed_as_blocked_with_the_reason_and_goes_on_when_it_is_back(
    database_url: str,
) -> None:
    done.clear()
    async with Handrail([look, order], database=database_url, worker=False) as hr:
        out = await hr.submit("shop.look", {"item": "bolt"}, principal=ANA)
        [entry] = await hr.jobs.list(ANA, state="queued")
        assert (entry.id, entry.tool) == (out.call_id, "shop.look")
        assert await hr.jobs.list(EVE) == [] and await hr.jobs.get(out.call_id, EVE) is None

    async with Handrail([order], database=database_url) as hr:

        async def blocked_ones() -> list[JobEntry]:
            return await hr.jobs.list(ANA, state="blocked")

        blocked = await until(blocked_ones)
        assert blocked[0].id == out.call_id and "shop.look" in (blocked[0].reason or "")
        assert await hr.jobs.unblock(out.call_id, by=EVE) is False

    async with Handrail([look, order], database=database_url) as hr:
        assert (await hr.wait(out.call_id, timeout=30)).result.data == "bolt"
        assert await hr.jobs.unblock(out.call_id, by=ANA) is False
    assert done == ["bolt"]


async def test_a_schedule_makes_a_call_when_its_time_has_come(sqlite_url: str) -> None:
    done.clear()
    async with Handrail([look], database=sqlite_url) as hr:
        made = await hr.schedules.put("hourly", "shop.look", {"item": "nut"}, principal=ANA, every=1)
        assert (made.name, made.when) == ("hourly", "every 1 s")
        assert [one.name for one in await hr.schedules.list(ANA)] == ["hourly"]
        assert await hr.schedules.list(EVE) == [] and await hr.schedules.remove("hourly", EVE) is False

        async def made_calls() -> list[str]:
            return done

        await until(made_calls)
        assert await hr.schedules.remove("hourly", ANA) is True
        with pytest.raises(UsageError, match="not a schedule"):
            await hr.schedules.put("odd", "shop.look", principal=ANA, cron="now and then")
        with pytest.raises(UsageError, match="Say when"):
            await hr.schedules.put("never", "shop.look", principal=ANA)
    assert set(done) == {"nut"}


async def test_without_a_database_there_are_no_schedules() -> None:
    async with Handrail([look]) as hr:
        with pytest.raises(UsageError, match="kept in a database"):
            await hr.schedules.list(ANA)
