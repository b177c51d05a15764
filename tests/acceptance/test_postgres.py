"""The databases that tests are given are real, fresh and shared."""

from __future__ import annotations

import psycopg
import pytest

from tests.databases import Postgres


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_has_a_fresh_database(postgres_url: str, turn: int) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE one (id int)")
        assert connection.execute("SELECT count(*) FROM one").fetchone() == (0,)


def test_a_server_that_is_stopped_at_once_keeps_what_was_committed(own_postgres: Postgres) -> None:
    with own_postgres.connect() as connection:
        connection.execute("CREATE TABLE kept (id int)")
        connection.execute("INSERT INTO kept VALUES (7)")
        own_postgres.restart()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    with own_postgres.connect() as connection:
        assert connection.execute("SELECT id FROM kept").fetchone() == (7,)


def test_both_databases_are_offered(database_url: str) -> None:
    assert database_url.startswith(("sqlite:///", "postgresql://"))
