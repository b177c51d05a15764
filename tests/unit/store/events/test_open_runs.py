"""Runs in hand: who may tell the end of a run, and which runs did not end."""

from __future__ import annotations

import logging

import pytest
from sqlalchemy import select, update

from handrail.store.database import Database
from handrail.store.events.log import EventNotWritten, StoreLog
from handrail.store.events.verify import LogFlaw, verify
from handrail.store.tables.event_log import open_runs
from tests.unit.store.events.sample_events import cancelled, completed, failed, started

pytestmark = pytest.mark.req("BY-12", "EV-16")


def in_hand(db: Database) -> list[tuple[str, str, bool]]:
    with db.reading("acme") as conn:
        rows = conn.execute(select(open_runs).order_by(open_runs.c.run_id)).all()
    return [(row.run_id, row.holder, bool(row.repeatable)) for row in rows]


async def test_a_run_is_in_hand_from_its_beginning_to_its_end(db: Database, log: StoreLog) -> None:
    one, two = started(1), started(2, repeatable=True)
    log.append(one)
    log.append(two)
    await log.flush(two)
    assert in_hand(db) == [("run_1", db.holder, False), ("run_2", db.holder, True)]
    for end in (completed(one), cancelled(two)):
        log.append(end)
        await log.flush(end)
    assert in_hand(db) == []


async def test_a_run_that_ends_with_its_group_is_never_in_hand(db: Database, log: StoreLog) -> None:
    one = started(1)
    with db.transaction("acme") as hold_up:  # SQLite has one writer: the group waits behind this
        hold_up.exec_driver_sql("UPDATE sessions SET last_seq = last_seq")
        log.append(one)
        log.append(completed(one))
    log.settle()
    assert in_hand(db) == []
    assert [event.seq for event in log.read("acme")] == [1, 2]


@pytest.mark.fault("F07")
async def test_the_end_of_a_run_that_another_took_over_is_dropped(
    db: Database, log: StoreLog, caplog: pytest.LogCaptureFixture
) -> None:
    one, two = started(1), started(2)
    log.append(one)
    log.append(two)
    await log.flush(two)
    with db.transaction("acme") as conn:
        conn.execute(update(open_runs).where(open_runs.c.run_id == "run_1").values(holder="taker"))
    late, fine = completed(one), completed(two)
    with caplog.at_level(logging.WARNING):
        log.append(late)
        log.append(fine)
        await log.flush(fine)
        with pytest.raises(EventNotWritten):
            await log.flush(late)
    assert late.seq == 0 and fine.seq == 3
    assert "run_1 was dropped" in caplog.text
    assert [event.kind for event in log.read("acme")] == ["started", "started", "completed"]
    assert [event.seq for event in log.read("acme")] == [1, 2, 3]
    assert in_hand(db) == [("run_1", "taker", False)]
    assert [one for one in verify(db, "acme") if isinstance(one, LogFlaw)] == []


@pytest.mark.fault("F07")
async def test_a_run_ends_once(db: Database, log: StoreLog) -> None:
    one = started(1)
    log.append(one)
    await log.flush(one)
    ends = [completed(one), failed(one), cancelled(one)]
    for end in ends:
        log.append(end)
    log.settle()
    assert [event.kind for event in log.read("acme")] == ["started", "completed"]
    again = completed(one)
    log.append(again)
    with pytest.raises(EventNotWritten):
        await log.flush(again)


async def test_a_taker_goes_on_under_the_same_id(db: Database, log: StoreLog, database_url: str) -> None:
    one = started(1)
    log.append(one)
    await log.flush(one)
    other = Database(database_url)
    taker = StoreLog(other)
    try:
        with other.transaction("acme") as conn:
            mine = open_runs.c.holder == db.holder
            assert conn.execute(update(open_runs).where(mine).values(holder=other.holder)).rowcount == 1
        taker.append(one)  # told again, and ended in the same breath
        taker.append(completed(one))
        taker.settle()
        assert in_hand(db) == []
        run = await taker.run("acme", "run_1")
        assert run is not None and run.status == "completed"
        log.append(failed(one))
        log.settle()
        assert [event.kind for event in taker.read("acme")] == ["started", "started", "completed"]
    finally:
        taker.close()
        other.close()
