"""Schedules: when a call is due, and that each time is one job."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import update

from handrail import Handrail, Principal, tool
from handrail.core.clock import Clock
from handrail.core.errors import UsageError
from handrail.databases import upgrade
from handrail.jobs.durable_jobs import DurableJobs
from handrail.jobs.schedules import next_due
from handrail.store.database import Database
from handrail.store.encryption import Seal
from handrail.store.events.log import StoreLog
from handrail.store.tables.calls import schedules as rows
from tests.acceptance.worker_processes import eventually

ANA = Principal(tenant="acme", user="ana", permissions=["*"])
BO = Principal(tenant="other", user="bo", permissions=["*"])
MOMENTS = st.floats(min_value=0, max_value=4e9, allow_nan=False)
CRONS = st.sampled_from(["* * * * *", "0 6 * * 1", "*/5 9-17 * * *", "30 2 29 2 *"])
ZONES = st.sampled_from([None, "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"])


@given(MOMENTS, CRONS, ZONES)
def test_the_next_time_is_after_now_and_nothing_lies_between(
    moment: float, cron: str, zone: str | None
) -> None:
    after = next_due(moment, cron, None, zone)
    assert after > moment
    assert after == next_due((moment + after) / 2, cron, None, zone)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"cron": "every day"}, "not a schedule"),
        ({"cron": "99 * * * *"}, "not a schedule"),
        ({"every": 0}, "at least 1"),
        ({"every": float("nan")}, "at least 1"),
        ({"cron": "* * * * *", "zone": "Mars/Olympus"}, "no time zone"),
        ({}, "Say when"),
        ({"cron": "* * * * *", "every": 5}, "Say when"),
    ],
)
async def test_a_schedule_that_makes_no_sense_is_refused_in_words(
    given: dict[str, object], said: str, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'handrail.db'}"
    upgrade(url)
    db = Database(url)
    jobs = DurableJobs(db, Seal([b"k" * 32]), StoreLog(db), worker=False)
    try:
        with pytest.raises(UsageError, match=said):
            await jobs.schedules.put("s", "notes.echo", principal=ANA, **given)  # type: ignore[arg-type]
    finally:
        await jobs.close()
        db.close()


async def test_each_time_is_one_job_however_many_look(database_url: str) -> None:
    upgrade(database_url)
    now = [1_000_000.0]
    databases = [Database(database_url, Clock(now=lambda: now[0])) for _ in range(2)]
    both = [DurableJobs(db, Seal([b"k" * 32]), StoreLog(db), worker=False) for db in databases]
    try:
        schedules = [jobs.schedules for jobs in both]
        await schedules[0].put("hourly", "notes.echo", {"text": "x"}, principal=ANA, every=3600)
        assert sum(await asyncio.gather(*(one.fire() for one in schedules * 3))) == 0
        now[0] += 3600
        assert sum(await asyncio.gather(*(one.fire() for one in schedules * 3))) == 1
        now[0] += 100 * 3600  # nobody was there for long: it is made up for once
        assert sum(await asyncio.gather(*(one.fire() for one in schedules * 3))) == 1
        made = await both[0].list("acme")
        assert [(job.kind, job.tool) for job in made] == [("scheduled", "notes.echo")] * 2
        [shown] = await schedules[1].list(ANA)
        assert shown.next_at > now[0] and shown.last_call_id == made[-1].id
        assert await schedules[1].list(BO) == [] and await schedules[1].remove("hourly", BO) is False
        assert await schedules[1].remove("hourly", ANA) is True
    finally:
        for jobs, db in zip(both, databases, strict=True):
            await jobs.close()
            db.close()


async def test_a_schedule_that_cannot_be_read_holds_up_no_other(sqlite_url: str) -> None:
    upgrade(sqlite_url)
    now = [1_000_000.0]
    db = Database(sqlite_url, Clock(now=lambda: now[0]))
    jobs = DurableJobs(db, Seal([b"k" * 32]), StoreLog(db), worker=False)
    try:
        for name in ("broken", "whole"):
            await jobs.schedules.put(name, "notes.echo", {"text": name}, principal=ANA, every=60)
        with db.transaction("acme") as conn:
            conn.execute(update(rows).where(rows.c.name == "broken").values(sealed="x", next_run_at=1.0))
        now[0] += 60
        assert await jobs.schedules.fire() == 1
        assert [job.tool for job in await jobs.list("acme")] == ["notes.echo"]
    finally:
        await jobs.close()
        db.close()


async def test_a_worker_makes_the_calls_that_are_due(sqlite_url: str) -> None:
    said: list[str] = []

    @tool("notes.echo", level="read")
    async def echo(text: str) -> str:
        """Give back a text."""
        said.append(text)
        return text

    async with Handrail([echo], database=sqlite_url) as hr:
        await hr._jobs.schedules.put("often", "notes.echo", {"text": "tick"}, principal=ANA, every=1)  # type: ignore[attr-defined]
        await eventually(lambda: len(said) >= 2)
        assert [event.call.source for event in hr.log.read("acme", status="started")][:2] == ["job"] * 2
