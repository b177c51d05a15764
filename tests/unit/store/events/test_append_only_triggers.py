"""The database itself refuses to change or remove an event, whoever asks."""

from __future__ import annotations

import pytest
from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import DBAPIError

from handrail.store.database import Database
from handrail.store.events.log import StoreLog
from handrail.store.tables.event_log import session_events
from tests.unit.store.events.sample_events import completed, started
from tests.unit.store.events.tamper import as_owner

pytestmark = [pytest.mark.fault("F15"), pytest.mark.req("EV-16", "BY-13")]


@pytest.fixture
def told(db: Database, log: StoreLog) -> Database:
    begun = started(1)
    log.append(begun)
    log.append(completed(begun))
    log.settle()
    return db


def rows(db: Database) -> list[object]:
    with db.reading("acme") as conn:
        return list(conn.execute(select(session_events).order_by(session_events.c.seq)))


def test_the_application_can_neither_change_nor_remove_events(told: Database) -> None:
    before = rows(told)
    for statement in (update(session_events).values(tool="else"), delete(session_events)):
        with pytest.raises(DBAPIError), told.transaction("acme") as conn:
            conn.execute(statement)
        with pytest.raises(DBAPIError), told.system() as conn:
            conn.execute(statement)
    assert rows(told) == before and len(before) == 2


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE session_events SET payload = '{}' WHERE seq = 1",
        "UPDATE session_events SET seq = seq WHERE seq = 99",
        "DELETE FROM session_events WHERE seq = 2",
        "TRUNCATE session_events",
        "INSERT OR REPLACE INTO session_events SELECT * FROM session_events WHERE seq = 1",
    ],
)
def test_nor_can_the_owner_with_raw_statements(told: Database, statement: str) -> None:
    before = rows(told)
    if statement.startswith("UPDATE") and "99" in statement and told.dialect == "sqlite":
        as_owner(told, statement)  # no row, nothing to refuse
    else:
        # TRUNCATE is no word of SQLite, REPLACE none of PostgreSQL: refused all the same
        with pytest.raises(Exception, match=r"never changed or removed|syntax error"):
            as_owner(told, statement)
    assert rows(told) == before


def test_a_number_cannot_be_given_twice(told: Database) -> None:
    [first, _] = rows(told)
    again = dict(first._mapping)  # type: ignore[attr-defined]
    for change in ({}, {"seq": 9}, {"position": 9}):
        with pytest.raises(DBAPIError), told.transaction("acme") as conn:
            conn.execute(insert(session_events).values(**again | change))
    assert len(rows(told)) == 2
