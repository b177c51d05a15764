"""Limits: what the environment says, and that it holds."""

from __future__ import annotations

import asyncio

import pytest

from handrail import Handrail, Principal, tool
from handrail.ext.errors import UsageError
from handrail.jobs.queue import limits_from_environment

ANA = Principal("acme", "ana")
BO = Principal("other", "bo")


def test_without_a_word_few_jobs_of_a_tenant_run_at_once_at_any_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HANDRAIL_PER_TENANT")
    found = limits_from_environment()
    assert (found.per_tenant, found.rate) == (4, None)


def test_the_environment_sets_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_PER_TENANT", "12")
    monkeypatch.setenv("HANDRAIL_RATE", "100/60")
    found = limits_from_environment()
    assert (found.per_tenant, found.rate) == (12, (100, 60.0))


@pytest.mark.parametrize("given", ["many", "0", "-1", "2.5", "", "²", "1e3"])
def test_a_number_that_is_none_is_told(given: str, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_PER_TENANT", given)
    with pytest.raises(UsageError, match="whole number from 1 on"):
        Handrail([], database=sqlite_url)


@pytest.mark.parametrize("given", ["fast", "100", "0/60", "100/0", "100/-1", "100 / 60"])
def test_a_rate_that_is_none_is_told(given: str, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_RATE", given)
    with pytest.raises(UsageError, match="such as 100/60"):
        Handrail([], database=sqlite_url)


async def test_no_more_than_that_run_at_once_and_another_tenant_does_not_wait_for_them(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_PER_TENANT", "2")
    running: list[int] = []
    go_on = asyncio.Event()

    @tool("work.wait", level="read")
    async def wait(number: int) -> int:
        """Wait until all may go on."""
        running.append(number)
        await go_on.wait()
        return number

    @tool("work.pass", level="read")
    async def go() -> str:
        """Do not wait."""
        return "passed"

    async with Handrail([wait, go], database=sqlite_url) as hr:
        outs = [await hr.submit("work.wait", {"number": n}, principal=ANA) for n in range(5)]
        other = await hr.submit("work.pass", principal=BO)
        assert (await hr.wait(other.call_id, timeout=30)).result.data == "passed"
        again = await hr.submit("work.pass", principal=BO)
        await hr.wait(again.call_id, timeout=30)
        assert len(running) <= 2
        go_on.set()
        assert sorted([(await hr.wait(out.call_id, timeout=30)).result.data for out in outs]) == [*range(5)]


async def test_no_more_than_the_rate_begin(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_RATE", "3/3600")
    begun: list[int] = []
    enough = asyncio.Event()

    @tool("work.note", level="read")
    async def note(number: int) -> int:
        """Note a number."""
        begun.append(number)
        if len(begun) == 4:
            enough.set()
        return number

    async with Handrail([note], database=sqlite_url) as hr:
        for number in range(6):
            await hr.submit("work.note", {"number": number}, principal=ANA)
        other = await hr.submit("work.note", {"number": 99}, principal=BO)
        await hr.wait(other.call_id, timeout=30)
        await asyncio.wait_for(enough.wait(), 30)
        last = await hr.submit("work.note", {"number": 100}, principal=BO)
        await hr.wait(last.call_id, timeout=30)
    assert len([number for number in begun if number < 99]) == 3
