"""What the writer of a process makes of a database that goes away in the middle of a change."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, func, select
from sqlalchemy.exc import OperationalError

from handrail.core.errors import StorageError
from handrail.store.database import Database
from handrail.store.migrate import upgrade
from handrail.store.tables import settings
from handrail.store.upsert import insert_new


def _note(conn: Connection, name: str) -> int:
    """A change that can be made twice, and would be seen twice."""
    count = conn.execute(select(func.count()).select_from(settings)).scalar_one()
    insert_new(conn, settings, {"name": f"{name}:{count}", "value": ""})
    return int(count)


class _LosingAnswers:
    """The server commits, its answer is lost, and the next connections are refused."""

    def __init__(self, db: Database, refusals: int) -> None:
        self.left = refusals
        self.lost = 0
        self._commit = db.engine.dialect.do_commit
        self._connect = db.engine.connect
        db.engine.dialect.do_commit = self.commit  # type: ignore[method-assign, assignment]
        db.engine.connect = self.connect  # type: ignore[method-assign]

    def commit(self, connection: Any) -> None:
        self._commit(connection)
        if not self.lost:
            self.lost = 1
            connection.dbapi_connection.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")

    def connect(self) -> Connection:
        if self.lost and self.left:
            self.left -= 1
            raise OperationalError("", {}, psycopg.OperationalError("connection refused"))
        return self._connect()


@pytest.mark.fault("F08")
@pytest.mark.parametrize("refusals", [0, 1, 2])
async def test_a_group_whose_commit_was_not_heard_of_is_not_made_again(
    postgres_url: str, refusals: int
) -> None:
    db = Database(postgres_url)
    try:
        first = await db.write("acme", lambda conn: _note(conn, "warm"))
        fault = _LosingAnswers(db, refusals)
        assert await db.write("acme", lambda conn: _note(conn, "once")) == first + 1
        assert fault.lost == 1
        with db.reading("acme") as conn:
            names = conn.execute(select(settings.c.name).where(settings.c.name.like("once:%"))).scalars()
            assert len(list(names)) == 1
    finally:
        db.close()


@pytest.mark.fault("F08")
async def test_a_database_that_stays_away_is_waited_for_once_not_by_each(sqlite_url: str) -> None:
    upgrade(sqlite_url)
    db = Database(sqlite_url, patience=0.3)
    began, tried = threading.Event(), 0

    def away(conn: Connection) -> None:
        nonlocal tried
        tried += 1
        raise OperationalError("", {}, sqlite3.OperationalError("database is locked"))

    try:
        db.post("acme", lambda conn: began.wait(10))
        waiting = [asyncio.ensure_future(db.write("acme", away)) for _ in range(20)]
        await asyncio.sleep(0)
        began.set()
        heard = await asyncio.gather(*waiting, return_exceptions=True)
    finally:
        db.close()
    assert all(isinstance(one, StorageError) for one in heard)
    assert tried < 20  # the group was given up as a whole; it was not taken apart to try each in turn
