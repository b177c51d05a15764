"""The command line and its database: how it is named, made, and let in to."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError

from handrail.store.database import Database
from handrail.store.migrate import check
from handrail.store.usage import read_usage
from tests.acceptance.command_line import handrail
from tests.acceptance.forked_cli import ForkedCli
from tests.databases import Postgres

pytestmark = pytest.mark.long

NEEDING = [
    ["db", "upgrade"],
    ["approvals", "list"],
    ["approvals", "respond", "a", "--result", "1"],
    ["dlq", "purge", "a"],
]


def is_current(url: str) -> None:
    database = Database(url)
    try:
        check(database.engine, database.name)
    finally:
        database.close()


@pytest.mark.parametrize("words", NEEDING, ids=" ".join)
def test_what_needs_a_database_says_how_to_name_one(tmp_path: Path, words: list[str]) -> None:
    done = handrail(*words, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: there is no database here, and nothing outlives a command without one\n"
        "  name one with --database sqlite:///handrail.db, or under `database` in handrail.toml\n"
    )


def test_a_sqlite_file_is_made_where_the_settings_are_and_made_once(tmp_path: Path) -> None:
    (tmp_path / "handrail.toml").write_text('database = "sqlite:///data/shop.db"\n')
    (tmp_path / "data").mkdir()
    (tmp_path / "below").mkdir()
    for _ in range(2):
        done = handrail("db", "upgrade", cwd=tmp_path / "below")
        assert (done.code, done.err) == (0, "")
        assert done.out == f"sqlite:///{tmp_path}/data/shop.db is up to date.\n"
    is_current(f"sqlite:///{tmp_path}/data/shop.db")


def test_a_database_of_an_earlier_development_version_is_not_upgraded(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/old.db"
    assert handrail("db", "upgrade", "--database", url, cwd=tmp_path).code == 0
    with closing(sqlite3.connect(tmp_path / "old.db")) as file, file:
        file.execute("UPDATE alembic_version SET version_num = '0012'")
    for words in (["db", "upgrade"], ["approvals", "list"]):
        done = handrail(*words, "--database", url, cwd=tmp_path)
        assert done.code != 0 and "is at revision 0012" in done.err and "Start with a new file" in done.err


def test_the_option_stands_above_the_variable_and_the_variable_above_the_file(tmp_path: Path) -> None:
    (tmp_path / "handrail.toml").write_text('database = "sqlite:///file.db"\n')
    handrail("db", "upgrade", cwd=tmp_path, HANDRAIL_DATABASE="sqlite:///variable.db")
    words = ("db", "upgrade", "--database", "sqlite:///option.db", "--json")
    done = handrail(*words, cwd=tmp_path, HANDRAIL_DATABASE="sqlite:///variable.db")
    assert done.json == {"database": f"sqlite:///{tmp_path}/option.db"}
    assert sorted(path.name for path in tmp_path.glob("*.db")) == ["option.db", "variable.db"]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("handrail.db", "error: --database 'handrail.db' is no address\n  write sqlite:///FILE or"),
        ("mysql://host/name", "is not the address of a database"),
        ("sqlite:///no/folder/x.db", "There is no folder"),
        ("sqlite://", "A database in memory belongs to one connection."),
    ],
)
def test_an_address_that_leads_nowhere_is_told(tmp_path: Path, url: str, said: str) -> None:
    done = handrail("db", "upgrade", "--database", url, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_server_that_does_not_answer_is_told_without_a_traceback(tmp_path: Path) -> None:
    url = f"postgresql://ana:s3cret@/shop?host={tmp_path}"
    done = handrail("db", "upgrade", "--database", url, cwd=tmp_path)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: the database says: connection ")
    assert "s3cret" not in done.err and "Traceback" not in done.err


@pytest.fixture
def bare(postgres: Postgres) -> Iterator[str]:
    """A database without tables, and a user who owns nothing; the address of that user."""
    name, user = postgres.create(), f"shop_{uuid4().hex[:8]}"
    with postgres.connect() as connection:
        connection.execute(f"CREATE ROLE {user} LOGIN NOINHERIT".encode())
    yield postgres.url(name, user)
    postgres.drop(name)
    with postgres.connect() as connection:
        connection.execute(f"DROP ROLE {user}".encode())


def test_the_owner_upgrades_and_the_application_is_let_in_with_no_right_of_its_own(
    tmp_path: Path, postgres: Postgres, bare: str
) -> None:
    owner = str(make_url(bare).set(username="postgres").render_as_string())
    refused = handrail("db", "upgrade", "--database", bare, cwd=tmp_path)
    assert refused.code == 1 and "permission denied" in refused.err
    done = handrail("db", "upgrade", "--database", bare, "--owner-url", owner, cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    is_current(bare)
    database = Database(bare)
    with database.reading("acme") as conn:
        assert conn.exec_driver_sql("SELECT count(*) FROM approvals").scalar_one() == 0
        with pytest.raises(DBAPIError, match=r"must be owner|permission denied"):
            conn.exec_driver_sql("ALTER TABLE approvals DISABLE ROW LEVEL SECURITY")
    database.close()
    with psycopg.connect(bare) as own, pytest.raises(psycopg.errors.InsufficientPrivilege):
        own.execute("SELECT count(*) FROM approvals")
    again = handrail("db", "upgrade", "--database", bare, cwd=tmp_path, HANDRAIL_OWNER_URL=owner)
    assert again.code == 0


def test_doctor_says_whether_the_database_answers(forked_cli: ForkedCli, tmp_path: Path) -> None:
    good = forked_cli("doctor", "--json", cwd=tmp_path, HANDRAIL_DATABASE="sqlite:///shop.db")
    found = {one["name"]: one for one in good.json["checks"]}
    assert found["database"]["state"] == "ok"
    assert found["database"]["said"] == f"sqlite:///{tmp_path}/shop.db"
    away = f"postgresql://ana:s3cret@/shop?host={tmp_path}"
    bad = forked_cli("doctor", cwd=tmp_path, HANDRAIL_DATABASE=away)
    assert bad.code == 1
    assert "fail\tdatabase\tthe database says: connection " in bad.out and "s3cret" not in bad.out


@pytest.mark.parametrize(
    "words", [["run", "stock.count", "--item", "bolt"], ["approvals", "list"], ["worker"]]
)
def test_a_call_whose_database_is_away_does_not_run_and_says_why(
    forked_cli: ForkedCli, tmp_path: Path, words: list[str]
) -> None:
    away = f"postgresql://ana:s3cret@/shop?host={tmp_path}"
    done = forked_cli(*words, cwd=tmp_path, HANDRAIL_DATABASE=away)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: the database says: connection ")
    assert "s3cret" not in done.err and "Traceback" not in done.err


@pytest.mark.req("RC-02", "RC-04")
def test_calls_of_the_command_line_are_counted(
    forked_cli: ForkedCli, tmp_path: Path, sqlite_url: str
) -> None:
    for item in ("bolt", "nut"):
        assert (
            forked_cli("run", "stock.count", "--item", item, cwd=tmp_path, HANDRAIL_DATABASE=sqlite_url).code
            == 0
        )
    database = Database(sqlite_url)
    with database.reading("local") as conn:
        counts = read_usage(conn, "local", by=["tool", "user", "source"])
    database.close()
    assert {names: one["completed"] for names, one in counts.items()} == {("stock.count", "local", "cli"): 2}
