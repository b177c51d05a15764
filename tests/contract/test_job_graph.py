"""The rows of jobs that come after others, when two decide about them at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import Connection, update

from handrail import Principal
from handrail.core.define.call import BoundCall
from handrail.core.run.jobs.job import Job, JobEntry
from handrail.store.database import Database
from handrail.store.job_graph import settle_children
from handrail.store.jobs import add_graph, get_job_row, request_cancel
from handrail.store.migrate import upgrade
from handrail.store.tables.calls import jobs

pytestmark = pytest.mark.fault("F14")

CALL = BoundCall("t.x", Principal("acme", "ana"), "call_1")


def job(name: str, *after: str) -> tuple[Job, str]:
    return Job(replace(CALL, id=name), "t.x", task=name, after=after), "sealed"


def end(conn: Connection, name: str, reason: str = "completed") -> list[tuple[str, int]]:
    """A job is over; who is woken by that."""
    conn.execute(update(jobs).where(jobs.c.call_id == name).values(state="done", reason=reason))
    return settle_children(
        conn, "acme", JobEntry(name, "acme", "t.x", "submitted", "done", 1, 1.0, 1.0, reason=reason), 2.0
    )


def opened(url: str) -> Iterator[Database]:
    upgrade(url)
    database = Database(url)
    with database.transaction("acme") as conn:
        assert add_graph(conn, "acme", [job("a"), job("b"), job("c", "a", "b")], 1.0) == [("a", 1), ("b", 1)]
    yield database
    database.close()


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    yield from opened(database_url)


@pytest.fixture
def postgresql(postgres_url: str) -> Iterator[Database]:
    yield from opened(postgres_url)


def test_of_two_parents_that_end_at_once_the_last_one_wakes_the_child(postgresql: Database) -> None:
    woken: list[tuple[str, int]] = []

    def other() -> None:
        with postgresql.transaction("acme") as conn:
            woken.extend(end(conn, "b"))

    thread = threading.Thread(target=other)
    with postgresql.transaction("acme") as conn:
        assert end(conn, "a") == []
        thread.start()
        thread.join(0.5)  # it waits for us, or would be over by now without having seen us
    thread.join(20)
    assert woken == [("c", 1)]


def test_what_is_to_be_skipped_keeps_its_reason_when_somebody_cancels_it(database: Database) -> None:
    with database.transaction("acme") as conn:
        assert end(conn, "a", "failed") == [("c", 1)]
        assert end(conn, "b", "failed") == []
        before = get_job_row(conn, "acme", "c")
        assert request_cancel(conn, "acme", "c", "a whim", 3.0) is not None
        assert get_job_row(conn, "acme", "c") == before
        assert before is not None and before.skipped and "t.x (call a)" in (before.entry.reason or "")
