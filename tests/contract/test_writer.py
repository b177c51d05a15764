"""What the writer of a process makes of a database that goes away in the middle of a change."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from functools import partial
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import OperationalError

from handrail.core.errors import StorageError
from handrail.store.database import Database
from handrail.store.migrate import upgrade
from handrail.store.statements import insert_if_absent
from handrail.store.tables.operations import settings
from tests.harness.foreign_mcp_server import poll_until


def _note(conn: Connection, name: str) -> int:
    """A change that can be made twice, and would be seen twice."""
    count = conn.execute(select(func.count()).select_from(settings)).scalar_one()
    insert_if_absent(conn, settings, {"name": f"{name}:{count}", "value": ""})
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


def _counted(db: Database) -> list[int]:
    """The sizes of the groups that are written, as they come to be."""
    sizes: list[int] = []
    db.writer.append_all = lambda conn, entries: sizes.append(len(entries))
    return sizes


def _more_than(sizes: list[int], told: int) -> bool:
    return len(sizes) > told


@pytest.mark.req("EV-15")
async def test_what_one_turn_of_the_loop_tells_is_one_group(sqlite_url: str) -> None:
    upgrade(sqlite_url)
    db = Database(sqlite_url)
    written = threading.Event()
    db.writer.after = lambda entries: written.set()
    try:
        sizes = _counted(db)
        await db.write("acme", lambda conn: None)  # the thread is there, and nobody is about to wake it
        for number in range(49):
            db.writer.append(number)
        assert not written.wait(0.2), "the turn is not over yet"
        db.writer.append(49)
        await db.flushed()
        assert sizes == [50]
    finally:
        db.close()


@pytest.mark.req("EV-15")
async def test_what_is_told_is_written_though_nobody_waits(sqlite_url: str) -> None:
    upgrade(sqlite_url)
    db = Database(sqlite_url)
    try:
        sizes = _counted(db)
        for told in range(3):
            db.writer.append("one")
            await poll_until(partial(_more_than, sizes, told))
        assert sizes == [1, 1, 1]
    finally:
        db.close()


@pytest.mark.req("EV-15")
@pytest.mark.parametrize("told", [1, 5_000])
def test_a_loop_that_does_not_turn_keeps_nothing_from_whoever_reads(sqlite_url: str, told: int) -> None:
    upgrade(sqlite_url)
    db = Database(sqlite_url)
    written = threading.Event()
    sizes = _counted(db)

    def after(entries: list[Any]) -> None:
        if sum(sizes) == told:
            written.set()

    db.writer.after = after

    async def stuck() -> bool:
        for number in range(told):
            db.writer.append(number)
        db.writer.wake()
        return written.wait(30)

    try:
        assert asyncio.run(stuck())
    finally:
        db.close()


@pytest.mark.req("EV-15")
def test_what_a_loop_told_that_is_gone_is_written_with_what_comes_next(sqlite_url: str) -> None:
    upgrade(sqlite_url)
    db = Database(sqlite_url)
    sizes = _counted(db)

    def tell() -> None:
        """In a loop that ends before it has turned."""
        loop = asyncio.new_event_loop()
        loop.call_soon(loop.stop)
        loop.call_soon(db.writer.append, "last words")
        loop.run_forever()
        loop.close()

    async def tell_and_wait() -> None:
        db.writer.append("next")
        await poll_until(lambda: sum(sizes) == 3)

    try:
        tell()
        tell()
        asyncio.run(tell_and_wait())
    finally:
        db.close()
    assert sum(sizes) == 3


@pytest.mark.fault("F07")
async def test_who_is_stopped_in_the_midst_of_a_change_holds_up_others_for_a_while_only(
    postgres_url: str,
) -> None:
    db = Database(postgres_url)
    shown = text("SHOW idle_in_transaction_session_timeout")
    try:
        assert await db.write("acme", lambda conn: conn.execute(shown).scalar()) == "30s"
        with db.reading_all() as conn:
            assert conn.execute(shown).scalar() == "0"  # who only reads holds up nobody
    finally:
        db.close()
