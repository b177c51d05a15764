"""A migrated database with an event log, once each on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from handrail.store.database import Database
from handrail.store.events.log import StoreLog


@pytest.fixture
def db(database_url: str) -> Iterator[Database]:
    opened = Database(database_url)
    yield opened
    opened.close()


@pytest.fixture
def log(db: Database) -> Iterator[StoreLog]:
    made = StoreLog(db)
    yield made
    made.close()
