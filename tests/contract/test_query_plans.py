"""What a statement reads of a table that was almost empty when it was first made, and is full now."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, insert, text

from handrail.store.database import Database
from handrail.store.engines import make_queue_engine
from handrail.store.jobs import take_job
from handrail.store.tables.calls import jobs

FULL = 5_000
OFTEN = 20
"""More than PostgreSQL and its driver need before they keep a plan."""

_READ = text(
    "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables WHERE relname = 'jobs'"
)


def _add(conn: Connection, first: int, number: int) -> None:
    """So many jobs that are queued."""
    same = {"tenant_id": "acme", "session_id": "s1", "tool": "shop.look", "kind": "run", "state": "queued"}
    times = {"created_at": 0.0, "updated_at": 0.0}
    ids = (f"call_{n}" for n in range(first, first + number))
    conn.execute(insert(jobs), [{"call_id": one, **same, **times} for one in ids])


def _take(conn: Connection, first: int) -> int:
    """Take some of them; how many rows were read for it."""
    before = conn.execute(_READ).scalar_one()
    for n in range(first, first + OFTEN):
        assert take_job(conn, "acme", f"call_{n}", f"holder#{n}", 1.0) is not None
    return int(conn.execute(_READ).scalar_one() - before)


@pytest.mark.fault("F17")
async def test_a_job_is_found_among_thousands_as_it_was_among_few(postgres_url: str) -> None:
    db = Database(postgres_url)
    try:
        await db.write("acme", lambda conn: _add(conn, 0, OFTEN))
        await db.write("acme", lambda conn: _take(conn, 0))
        await db.write("acme", lambda conn: _add(conn, OFTEN, FULL))
        assert await db.write("acme", lambda conn: _take(conn, OFTEN)) == OFTEN
    finally:
        db.close()


@pytest.mark.fault("F17")
def test_the_engine_of_jobs_keeps_no_plan_either(postgres_url: str) -> None:
    engine = make_queue_engine(postgres_url)
    try:
        with engine.connect() as conn:
            assert conn.execute(text("SHOW plan_cache_mode")).scalar() == "force_custom_plan"
    finally:
        engine.dispose()
