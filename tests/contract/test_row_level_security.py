"""PostgreSQL itself keeps tenants apart, whatever the application asks for or forgets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, suppress

import psycopg
import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from handrail.core.errors import UsageError
from handrail.store.database import Database
from handrail.store.engines import enter_tenant
from handrail.store.grants import grant_roles
from handrail.store.tables import metadata
from tests.harness import raw_database
from tests.harness.store_functions import FUNCTIONS, TABLES, arguments
from tests.harness.tenant_data import TenantData, reveals_something

CARRIES_NOTHING = {("handrail_app", "")}


@pytest.fixture
def database(postgres_url: str) -> Iterator[Database]:
    """Entered by the application as a user who owns nothing."""
    with psycopg.connect(postgres_url, autocommit=True) as owner:
        owner.execute("DO $$ BEGIN CREATE ROLE web LOGIN; EXCEPTION WHEN OTHERS THEN NULL; END $$")
    grant_roles(postgres_url, "web")
    found = Database(postgres_url.replace("postgres@", "web@"))
    yield found
    found.close()


@pytest.fixture
def acme(database: Database) -> TenantData:
    acme = TenantData("acme", card="4711")
    acme.fill(database)
    return acme


@pytest.mark.req("MT-05")
@pytest.mark.fault("F26")
def test_no_function_reaches_another_tenant_though_it_asks_for_its_rows(
    database: Database, acme: TenantData, postgres_url: str
) -> None:
    """The filter of the application is wrong on purpose: it names the tenant whose rows are wanted."""
    before = raw_database.dump(postgres_url, TABLES)
    for name, function in FUNCTIONS.items():
        answer = None
        with suppress(UsageError, LookupError, DBAPIError), database.transaction("evil") as conn:
            answer = function(conn, **arguments(acme, name, function))
        assert not reveals_something(answer), f"{name} said {answer!r}"
        assert raw_database.dump(postgres_url, TABLES) == before, f"{name} changed what another tenant has"


@pytest.mark.fault("F26")
def test_no_statement_reaches_another_tenant(database: Database, acme: TenantData, postgres_url: str) -> None:
    before = raw_database.dump(postgres_url, TABLES)
    for table in TABLES:
        column = next(iter(metadata.tables[table].columns)).name
        for statement in (
            f"SELECT * FROM {table}",
            f"SELECT * FROM {table} FOR UPDATE",
            f"UPDATE {table} SET {column} = 'evil'",
            f"DELETE FROM {table}",
            f"TRUNCATE {table} CASCADE",
        ):
            for scope in ("evil", None):
                assert _touched(database, scope, statement) in (0, "refused"), (statement, scope)
    assert raw_database.dump(postgres_url, TABLES) == before


def _touched(database: Database, scope: str | None, statement: str) -> int | str:
    """How many rows a statement sees or changes, within the scope of a tenant or of none."""
    try:
        with database.engine.connect() as conn, conn.begin():
            if scope is not None:
                enter_tenant(conn, scope)
            done = conn.execute(text(statement))
            return len(done.all()) if done.returns_rows else done.rowcount
    except DBAPIError:
        return "refused"


@pytest.mark.fault("F26")
def test_a_row_cannot_be_slipped_to_another_tenant(database: Database) -> None:
    give = "INSERT INTO blobs (tenant_id, hash, content, size, created_at) VALUES ('{0}', 'h', 'x', 1, 1)"
    assert _touched(database, "evil", give.format("acme")) == "refused"
    assert _touched(database, None, give.format("acme")) == "refused"
    assert _touched(database, "evil", give.format("evil")) == 1
    assert _touched(database, "evil", "UPDATE blobs SET tenant_id = 'acme'") == "refused"


@pytest.mark.fault("F26")
def test_the_application_cannot_lift_its_own_limits(database: Database) -> None:
    for statement in (
        "SET ROLE postgres",
        "SET SESSION AUTHORIZATION postgres",
        "ALTER TABLE blobs DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE blobs NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY own ON blobs",
        "CREATE POLICY mine ON blobs USING (true)",
        "ALTER ROLE handrail_app BYPASSRLS",
        "GRANT postgres TO web",
        "CREATE TABLE mine (id int)",
        "CREATE FUNCTION f() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'",
    ):
        for role in ("handrail_app", "handrail_system", "web"):
            with database.engine.connect() as conn:
                conn.execute(text(f"SET ROLE {role}"))
                with pytest.raises(DBAPIError):
                    conn.execute(text(statement))
                conn.invalidate()


@pytest.mark.fault("F26")
def test_no_role_of_the_application_bypasses_row_level_security(
    database: Database, postgres_url: str
) -> None:
    roles = "SELECT rolname FROM pg_roles WHERE rolname IN ('web', 'handrail_app', 'handrail_system')"
    assert len(raw_database.rows(postgres_url, roles)) == 3
    assert raw_database.rows(postgres_url, f"{roles} AND (rolsuper OR rolbypassrls OR rolcreaterole)") == []
    on = "SELECT relname FROM pg_class WHERE relrowsecurity AND relforcerowsecurity"
    assert sorted(row["relname"] for row in raw_database.rows(postgres_url, on)) == TABLES
    with database.reading("evil") as conn:
        conn.execute(text("SET LOCAL row_security = off"))
        with pytest.raises(DBAPIError, match="row-level security"):
            conn.execute(text("SELECT * FROM blobs"))


def _go_well(conn: Connection) -> None:
    conn.execute(text("SELECT 1"))


def _break_a_statement(conn: Connection) -> None:
    conn.execute(text("SELECT 1 / 0"))


def _break_the_code(conn: Connection) -> None:
    raise RuntimeError("the code broke")


def _swallow_an_error(conn: Connection) -> None:
    with suppress(DBAPIError):
        conn.execute(text("SELECT 1 / 0"))


def _break_the_commit(conn: Connection) -> None:
    user = {"tenant": "acme", "user": "nobody", "role": "r", "at": 0.0}
    conn.execute(text("SET CONSTRAINTS ALL DEFERRED"))
    conn.execute(text("INSERT INTO memberships VALUES (:tenant, :user, :role, :at)"), user)


def _lose_the_server(conn: Connection) -> None:
    pid = conn.execute(text("SELECT pg_backend_pid()")).scalar_one()
    with suppress(DBAPIError):
        conn.execute(text(f"SELECT pg_terminate_backend({pid})"))


STAGES = [
    _go_well,
    _break_a_statement,
    _break_the_code,
    _swallow_an_error,
    _break_the_commit,
    _lose_the_server,
]


@pytest.mark.fault("F27")
@pytest.mark.parametrize("way", ["reading", "transaction", "system"])
def test_a_connection_that_comes_back_carries_no_tenant(database: Database, way: str) -> None:
    for stage in STAGES:
        with suppress(Exception), _entered(database, way) as conn:
            enter_tenant(conn, "acme")
            stage(conn)
        assert _carried(database) == CARRIES_NOTHING, stage


def _entered(database: Database, way: str) -> AbstractContextManager[Connection]:
    if way == "system":
        return database.system()
    return database.reading("acme") if way == "reading" else database.transaction("acme")


@pytest.mark.fault("F27")
async def test_neither_do_those_of_the_writer_and_the_readers(database: Database) -> None:
    for stage in STAGES:
        for ask in (database.read, database.write):
            with suppress(DBAPIError, RuntimeError):
                await ask("acme", stage)
        await database.flushed()
        assert await database.write("evil", _tenant) == "evil", stage
        assert await database.read("evil", _tenant) == "evil", stage
        assert _carried(database) == CARRIES_NOTHING, stage


def _tenant(conn: Connection) -> str:
    return str(conn.execute(text("SELECT current_setting('handrail.tenant', true)")).scalar_one())


def _carried(database: Database) -> set[tuple[str, str]]:
    """Role and tenant of every connection of the pool, before anybody has entered a scope."""
    asked = text("SELECT current_user, coalesce(current_setting('handrail.tenant', true), '')")
    with ExitStack() as stack:
        pool = [stack.enter_context(database.engine.connect()) for _ in range(8)]
        return {(role, tenant) for conn in pool for role, tenant in conn.execute(asked)}
