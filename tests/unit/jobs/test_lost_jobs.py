"""Lost jobs: what the engine knows nothing of is run nevertheless, and looking for it costs little."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event, select, text, update

from handrail import Handrail, Principal, tool
from handrail.jobs.sweeper import _lost_jobs
from handrail.store.database import Database
from handrail.store.jobs import count_requeue, release_job, unblock_job
from handrail.store.tables.calls import jobs
from handrail.testing import FakeClock

ANA = Principal(tenant="acme", user="ana")
MANY = 40


@tool("stock.look", level="read")
async def look(item: int) -> int:
    """Look at an item."""
    return item


@contextmanager
def opened(url: str) -> Iterator[Database]:
    db = Database(url)
    try:
        yield db
    finally:
        db.close()


def lose(db: Database, call_ids: list[str]) -> None:
    """Let the engine know nothing of some calls."""
    table = "dbos.workflow_status" if db.dialect == "postgresql" else "workflow_status"
    lost = text(f"DELETE FROM {table} WHERE workflow_uuid = :id")
    with db.system() as conn:
        for one in call_ids:
            assert conn.execute(lost, {"id": f"acme/{one}/1"}).rowcount == 1


@pytest.mark.fault("F17")
async def test_lost_jobs_are_found_among_many_and_run(database_url: str) -> None:
    clock = FakeClock()
    async with Handrail([look], database=database_url, worker=False, clock=clock) as hr:
        outs = [await hr.submit("stock.look", {"item": n}, principal=ANA) for n in range(MANY)]
        await hr.submit("stock.look", {"item": MANY}, principal=ANA, delay=60)
    gone = [out.call_id for out in outs[5:8]]
    asked: list[str] = []

    def note(conn: object, cursor: object, statement: str, *rest: Any) -> None:
        asked.append(statement)

    with opened(database_url) as db:
        lose(db, gone)
        with db.system() as conn:
            dead = update(jobs).values(state="running", holder="dead#1", attempts=1)
            conn.execute(dead.where(jobs.c.call_id == gone[0]))
        with db.reading_all() as conn:
            event.listen(db.engine, "before_cursor_execute", note)
            found = _lost_jobs(conn, before=clock.now() + 100)
            assert _lost_jobs(conn, before=clock.now() - 100) == [("acme", gone[0], 1)]
    assert sorted(found) == sorted(("acme", one, 1) for one in gone)
    assert len(asked) < MANY / 2, "it grows with what waits"

    clock.turn(100)
    async with Handrail([look], database=database_url, clock=clock) as hr:
        assert [(await hr.wait(out.call_id, 60)).result.data for out in outs] == list(range(MANY))


async def test_a_job_that_is_enqueued_again_has_the_next_number(database_url: str) -> None:
    async with Handrail([look], database=database_url, worker=False) as hr:
        call_id = (await hr.submit("stock.look", {"item": 1}, principal=ANA)).call_id
    with opened(database_url) as db, db.system() as conn:
        assert count_requeue(conn, "acme", call_id, 1, now=1.0) == 2
        assert count_requeue(conn, "acme", call_id, 1, now=1.0) == 0, "somebody else was faster"
        assert unblock_job(conn, "acme", call_id, now=2.0) == 0, "it is not blocked"
        conn.execute(update(jobs).values(state="blocked"))
        assert unblock_job(conn, "acme", call_id, now=2.0) == 3
        conn.execute(update(jobs).values(state="running", holder="process#1", attempts=1))
        assert release_job(conn, "acme", call_id, "process#2", now=3.0) == 0, "another holds it"
        assert release_job(conn, "acme", call_id, "process#1", now=3.0) == 4
        row = conn.execute(select(jobs)).one()
        assert (row.state, row.holder, row.attempts, row.updated_at) == ("queued", None, 0, 3.0)
