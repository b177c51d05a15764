"""Writes that fail: whoever waits is told, everybody else's events are written, the log stays sound."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy.exc import DBAPIError

from handrail import Handrail, Policy, Principal, tool
from handrail.core.errors import StorageError, UsageError
from handrail.store.database import Database
from handrail.store.events.log import EventNotWritten, StoreLog
from handrail.store.events.verify import LogFlaw, verify
from handrail.store.migrate import upgrade
from tests.databases import TEMPLATE, Postgres
from tests.unit.store.events.sample_events import completed, started
from tests.unit.store.events.tamper import as_owner

pytestmark = [pytest.mark.fault("F10"), pytest.mark.req("EV-15")]


def refuse(db: Database, call_id: str) -> None:
    """Have the database fail on the events of one call."""
    if db.dialect == "sqlite":
        as_owner(
            db,
            "CREATE TRIGGER failing BEFORE INSERT ON session_events "
            f"WHEN NEW.call_id = '{call_id}' BEGIN SELECT RAISE(ABORT, 'broken disk'); END",
        )
    else:
        as_owner(
            db,
            "CREATE FUNCTION failing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF NEW.call_id = '{call_id}' THEN RAISE EXCEPTION 'broken disk'; END IF; RETURN NEW; END $$",
            "CREATE TRIGGER failing BEFORE INSERT ON session_events FOR EACH ROW EXECUTE FUNCTION failing()",
        )


def sound(db: Database) -> bool:
    return not [one for one in verify(db, "acme") if isinstance(one, LogFlaw)]


@pytest.mark.parametrize("bad", [0, 3, 6])
async def test_whichever_write_fails_the_others_are_written(db: Database, log: StoreLog, bad: int) -> None:
    refuse(db, f"call_{bad}")
    told = [started(n) for n in range(7)]
    for event in told:
        log.append(event)
    for n, event in enumerate(told):
        if n == bad:
            with pytest.raises(DBAPIError, match="broken disk"):
                await log.flush(event)
            with pytest.raises(DBAPIError, match="broken disk"):
                await log.flush(event)  # also when asked later
        else:
            await log.flush(event)
    assert [event.call_id for event in log.read("acme")] == [f"call_{n}" for n in range(7) if n != bad]
    assert [event.seq for event in log.read("acme")] == [1, 2, 3, 4, 5, 6]
    assert sound(db)


@tool("disk.write", level="write")
async def write(text: str) -> int:
    """Write a text."""
    written.append(text)
    return len(text)


written: list[str] = []


def full(db: Database, pages: int) -> None:
    """Let the file grow by no more than some pages."""

    def bound(connection: Any, *_: object) -> None:
        now = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={now + pages}")

    sqlalchemy_event.listen(db.engine, "connect", bound)


async def test_on_a_full_disk_the_caller_is_told_and_nothing_is_run(sqlite_url: str) -> None:
    upgrade(sqlite_url)
    db = Database(sqlite_url, patience=0.5)
    log = StoreLog(db)
    full(db, pages=60)
    written.clear()
    ana = Principal("acme", "ana")
    async with Handrail([write], log=log, policy=Policy(approval_mode="policy")) as hr:
        codes = []
        for n in range(60):
            out = await hr.call("disk.write", {"text": f"{n}" * 3_000}, principal=ana, session="s1")
            codes.append(out.code)
            if not out.ok:
                assert out.result.error and "event log cannot be written" in out.result.error
                break
        assert codes[-1] == "LOG_UNAVAILABLE" and len(written) == len(codes) - 1 > 3
    log.close()
    db.close()
    again = Database(sqlite_url)
    try:
        assert [row[0] for row in as_owner(again, "PRAGMA integrity_check")] == ["ok"]
        kept = StoreLog(again)
        assert len([event for event in kept.read("acme") if event.kind == "started"]) == len(written)
        assert sound(again)
        more = started(1)
        kept.append(more)
        await kept.flush(more)
        kept.close()
    finally:
        again.close()


async def test_a_file_that_cannot_be_written_is_reported(sqlite_url: str, tmp_path: Path) -> None:
    upgrade(sqlite_url)
    db = Database(sqlite_url, patience=0.2)
    log = StoreLog(db)

    def read_only(connection: Any, *_: object) -> None:
        connection.execute("PRAGMA query_only=ON")

    sqlalchemy_event.listen(db.engine, "connect", read_only)
    event = started(1)
    log.append(event)
    with pytest.raises(StorageError, match="readonly"):
        await log.flush(event)
    log.close()
    db.close()


async def test_a_closed_log_takes_nothing_more(db: Database, log: StoreLog) -> None:
    with pytest.raises(EventNotWritten, match="never appended"):
        await log.flush(started(1))
    one = started(1)
    log.append(one)
    await log.flush(one)
    db.close()
    with pytest.raises(UsageError, match="closed"):
        log.append(completed(one))


async def test_whoever_stops_waiting_does_not_stop_the_write(db: Database, log: StoreLog) -> None:
    told = [started(n) for n in range(50)]
    waiting = []
    for event in told:
        log.append(event)
        waiting.append(asyncio.create_task(log.flush(event)))
    await asyncio.sleep(0)
    for task in waiting[::2]:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert [event.seq for event in log.read("acme")] == list(range(1, 51))


def test_closing_the_database_writes_what_was_told(db: Database, log: StoreLog, database_url: str) -> None:
    for n in range(300):
        log.append(started(n))
    db.close()
    again = Database(database_url)
    kept = StoreLog(again)
    assert [event.seq for event in kept.read("acme")] == list(range(1, 301))
    kept.close()
    again.close()


async def test_what_a_body_changes_after_telling_is_not_in_the_log(db: Database, log: StoreLog) -> None:
    args = {"to": ["ana"]}
    begun = started(1)
    told = type(begun)(begun.call, begun.tool, begun.at, begun.run_id, args)
    with db.transaction("acme") as hold_up:  # SQLite has one writer: the event waits behind this
        hold_up.exec_driver_sql("UPDATE sessions SET last_seq = last_seq")
        log.append(told)
        args["to"].append("eve")
    [kept] = log.read("acme")
    assert kept.to_dict()["input"] == {"to": ["ana"]}


@pytest.mark.fault("F08")
async def test_a_restart_of_postgresql_leaves_no_gap_and_doubles_nothing(own_postgres: Postgres) -> None:
    db = Database(own_postgres.url(own_postgres.create(TEMPLATE)))
    log = StoreLog(db)
    restarted = asyncio.Event()

    async def tell(writer: int) -> None:
        number = 0
        while number < 20 or not restarted.is_set():
            event = started(writer * 100_000 + number)
            log.append(event)
            await log.flush(event)
            number += 1

    async def restart() -> None:
        first = started(999_999)
        log.append(first)
        await log.flush(first)
        await asyncio.to_thread(own_postgres.restart)
        restarted.set()

    await asyncio.gather(restart(), *(tell(writer) for writer in range(5)))
    told = list(log.read("acme"))
    assert [event.seq for event in told] == list(range(1, len(told) + 1))
    assert len({event.call_id for event in told}) == len(told)
    for writer in range(5):
        mine = [int(event.call_id[5:]) for event in told if int(event.call_id[5:]) // 100_000 == writer]
        assert mine == list(range(writer * 100_000, writer * 100_000 + len(mine))) and len(mine) >= 20
    assert sound(db)
    log.close()
    db.close()
