"""No function of the store lets a tenant see or touch what another one has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from handrail.core.errors import UsageError
from handrail.store.database import Database
from handrail.store.migrate import upgrade
from handrail.store.tables import metadata
from tests.harness import raw_database
from tests.harness.store_functions import (
    CREATING_FUNCTIONS,
    FUNCTIONS,
    INTERNAL_FUNCTIONS,
    SYSTEM_FUNCTIONS,
    TABLES,
    arguments,
    store_functions,
)
from tests.harness.tenant_data import TenantData, reveals_something


class _Undo(Exception):
    """Ends a transaction without a trace."""


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    upgrade(database_url)
    found = Database(database_url)
    yield found
    found.close()


@pytest.fixture
def acme(database: Database) -> TenantData:
    acme = TenantData("acme", card="4711")
    acme.fill(database)
    return acme


def kept(database: Database) -> dict[str, list[str]]:
    """Everything in the database but what the other tenant made for itself."""
    everything = raw_database.dump(database.url, TABLES)
    return {table: [row for row in rows if "'evil'" not in row] for table, rows in everything.items()}


def test_there_is_one_of_everything(database: Database, acme: TenantData) -> None:
    assert [table for table, rows in kept(database).items() if not rows] == ["approval_votes"]


def test_every_function_is_for_a_tenant_unless_it_is_named_as_an_exception() -> None:
    assert set(store_functions()) >= SYSTEM_FUNCTIONS | INTERNAL_FUNCTIONS | CREATING_FUNCTIONS
    for_nobody = [name for name, one in FUNCTIONS.items() if not {"tenant", "key"} & set(one.__annotations__)]
    assert for_nobody == []


@pytest.mark.req("MT-05")
@pytest.mark.fault("F26")
def test_no_function_gives_a_tenant_what_another_has(database: Database, acme: TenantData) -> None:
    evil = TenantData("evil", card="0000").wanting(acme)
    before = kept(database)
    for name, function in sorted(FUNCTIONS.items(), key=lambda one: one[0] in CREATING_FUNCTIONS):
        answer = None
        try:
            with database.transaction("evil") as conn:
                answer = function(conn, **arguments(evil, name, function))
        except (UsageError, LookupError, DBAPIError) as refused:
            answer = None if "4711" not in str(refused) else refused
        assert "acme" not in repr(answer) and "4711" not in repr(answer), name
        assert name in CREATING_FUNCTIONS or not reveals_something(answer), f"{name} said {answer!r}"
        assert kept(database) == before, f"{name} changed what another tenant has"


def test_the_same_functions_serve_the_tenant_itself(database: Database, acme: TenantData) -> None:
    """Otherwise the test above would prove nothing."""
    assert [
        name for name in sorted(set(FUNCTIONS) - CREATING_FUNCTIONS) if not _serves(name, database, acme)
    ] == []


def _serves(name: str, database: Database, owner: TenantData) -> bool:
    """Whether a function says or changes something for the owner; what it changed is undone."""
    try:
        with database.transaction(owner.tenant) as conn:
            before = _rows(conn)
            answer = FUNCTIONS[name](conn, **arguments(owner, name, FUNCTIONS[name]))
            raise _Undo(reveals_something(answer) or _rows(conn) != before)
    except _Undo as undone:
        return bool(undone.args[0])


def _rows(conn: Connection) -> list[Any]:
    return [sorted(map(repr, conn.execute(metadata.tables[table].select()))) for table in TABLES]
