"""Forgetting: what nobody needs any more does not pile up; what waits stays."""

from __future__ import annotations

from sqlalchemy import insert, select, text

from handrail import Handrail, Principal, tool
from handrail.jobs.queue import JobQueue
from handrail.store import leases
from handrail.store.database import Database
from handrail.store.tables.operations import writers

ANA = Principal(tenant="acme", user="ana")


@tool("stock.look", level="read")
async def look(item: str) -> str:
    """Look at an item."""
    return item


def known(db: Database) -> list[str]:
    """The states of what the engine knows."""
    table = "dbos.workflow_status" if db.dialect == "postgresql" else "workflow_status"
    with db.reading_all() as conn:
        return sorted(conn.execute(text(f"SELECT status FROM {table}")).scalars())


async def test_what_the_engine_has_done_is_forgotten_after_a_while_and_we_still_know(
    database_url: str,
) -> None:
    async with Handrail([look], database=database_url) as hr:
        outs = [await hr.submit("stock.look", {"item": item}, principal=ANA) for item in "abc"]
        for out in outs:
            await hr.wait(out.call_id, timeout=30)
        later = await hr.submit("stock.look", {"item": "d"}, principal=ANA, delay=3600)
    db = Database(database_url)
    queue = JobQueue(db)
    try:
        assert len(known(db)) == 4
        queue.forget(3600)
        assert len(known(db)) == 4
        queue.forget(-60)
        assert len(known(db)) == 1 and "SUCCESS" not in known(db)
    finally:
        queue.close()
        db.close()
    async with Handrail([look], database=database_url, worker=False) as hr:
        assert [(await hr.wait(out.call_id, timeout=30)).result.data for out in outs] == ["a", "b", "c"]
        [waits] = await hr.jobs.list(ANA, state="queued")
        assert waits.id == later.call_id


async def test_processes_that_are_long_gone_are_forgotten_and_living_ones_are_not(database_url: str) -> None:
    async with Handrail([look], database=database_url) as hr:
        await hr.call("stock.look", {"item": "a"}, principal=ANA)
        db = Database(database_url)
        try:
            with db.system() as conn:
                conn.execute(insert(writers).values(holder="gone", last_group=3))
                leases.renew_lease(conn, "gone for long", "worker", ttl=-7200)
                leases.renew_lease(conn, "gone just now", "worker", ttl=-1)
                leases.delete_old_leases(conn)
            with db.reading_all() as conn:
                holders = {lease.holder for lease in leases.list_leases(conn)}
                left = set(conn.execute(select(writers.c.holder)).scalars())
        finally:
            db.close()
        assert "gone for long" not in holders and "gone just now" in holders and len(holders) == 2
        assert "gone" not in left
