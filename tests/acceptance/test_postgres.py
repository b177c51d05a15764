"""A PostgreSQL that goes away and comes back loses nothing and leaves nothing waiting for ever."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.databases import TEMPLATE, Postgres
from tests.harness import raw_database
from tests.harness.crashes import PRELOAD, find_damage
from tests.harness.fork_server import ForkServer
from tests.harness.ledger import Ledger
from tests.harness.remote_shop import RemoteShop

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    with ForkServer(*PRELOAD) as fork_server:
        yield fork_server


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path) as ledger:
        yield ledger


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


@pytest.mark.timeout(180)
@pytest.mark.req("BY-12", "BY-13", "EV-15")
@pytest.mark.fault("F08")
def test_runs_outlive_a_restart_of_the_database(
    own_postgres: Postgres, fork_server: ForkServer, ledger: Ledger, tmp_path: Path
) -> None:
    url = own_postgres.url(own_postgres.create(TEMPLATE))
    with RemoteShop(fork_server, tmp_path, ledger.path, url) as remote:
        direct = remote.begin("call", tool="shop.ship", order="o1", id="call_1")
        submitted = [
            remote.ask("submit", tool=tool, order=order)["call"]
            for tool, order in (("shop.ship", "o2"), ("shop.sync", "o3"))
        ]
        ledger.until("effect", times=3)
        own_postgres.restart()
        meanwhile = remote.begin("call", tool="shop.charge", order="o4", id="call_4", source="api")
        for order in ("o1", "o2", "o3"):
            (tmp_path / f"release-{order}").touch()
        assert direct.result(50)["status"] == "completed"
        assert [remote.ask("wait", call=call)["status"] for call in submitted] == ["completed"] * 2
        assert meanwhile.result(50)["status"] == "completed"
    assert find_damage(url, ledger) == []
    assert len(ledger.of("effect")) == 4


@pytest.mark.timeout(180)
@pytest.mark.fault("F08")
def test_no_effect_happens_while_the_database_is_away(
    own_postgres: Postgres, fork_server: ForkServer, ledger: Ledger, tmp_path: Path
) -> None:
    url = own_postgres.url(own_postgres.create(TEMPLATE))
    with RemoteShop(fork_server, tmp_path, ledger.path, url) as remote:
        assert remote.ask("call", tool="shop.charge", order="o1", id="call_1")["status"] == "completed"
        own_postgres.stop()
        during = [
            remote.begin("call", tool="shop.charge", order=f"o{n}", id=f"call_{n}", source="api")
            for n in range(2, 7)
        ]
        assert not any(answer.done() and answer.result()["status"] == "completed" for answer in during)
        assert len(ledger.of("effect")) == 1
        own_postgres.start()
        statuses = [answer.result(50)["status"] for answer in during]
        assert statuses == ["completed"] * 5
    assert find_damage(url, ledger) == []


@pytest.mark.timeout(180)
@pytest.mark.fault("F08")
def test_a_restart_during_recovery_leaves_nothing_waiting_for_ever(
    own_postgres: Postgres, fork_server: ForkServer, ledger: Ledger, tmp_path: Path
) -> None:
    url = own_postgres.url(own_postgres.create(TEMPLATE))
    with RemoteShop(fork_server, tmp_path, ledger.path, url) as remote:
        remote.begin("call", tool="shop.ship", order="o1", id="call_1")
        for order in ("o2", "o3", "o4"):
            remote.ask("submit", tool="shop.sync", order=order)
        remote.ask("submit", tool="shop.ship", order="o5")
        ledger.until("effect", times=5)
        remote.kill()
    for order in ("o1", "o2", "o3", "o4", "o5"):
        (tmp_path / f"release-{order}").touch()
    with RemoteShop(fork_server, tmp_path, ledger.path, url):
        own_postgres.restart()
        _until_nothing_is_left(url)
    assert find_damage(url, ledger) == []
    codes = {row["call_id"]: row["code"] for row in raw_database.events(url) if row["type"] == "tool.failed"}
    assert set(codes.values()) == {"UNKNOWN_OUTCOME"} and len(codes) == 2


def _until_nothing_is_left(url: str) -> None:
    deadline = time.monotonic() + 60
    while left := raw_database.unfinished(url):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)  # the database says nothing by itself to whoever looks from outside
