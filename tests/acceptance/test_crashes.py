"""A process that is killed at any line of its code loses nothing and does nothing twice."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from handrail.databases import upgrade
from tests.databases import TEMPLATE, Postgres
from tests.harness import raw_database, scenarios
from tests.harness.crashes import PRELOAD, CrashRunner, NewDatabase
from tests.harness.fork_server import ForkServer
from tests.harness.kill_points import KillPoint, modules_of, points_of
from tests.harness.ledger import Ledger
from tests.harness.remote_shop import RemoteShop

CRASHES = len(scenarios.names())
"""One of each scenario, on one of the databases; `make soak` has the full number on each."""
GRAPHS = 3
"""More of a graph of tasks."""


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    with ForkServer(*PRELOAD) as fork_server:
        yield fork_server


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def new_database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> NewDatabase:
    """Makes databases that are migrated already."""
    if request.param == "postgresql":
        server: Postgres = request.getfixturevalue("postgres")
        return lambda place: server.url(server.create(TEMPLATE))
    template = tmp_path_factory.mktemp("template") / "handrail.db"
    upgrade(f"sqlite:///{template}")
    return lambda place: f"sqlite:///{shutil.copy(template, place)}"


def test_points_are_the_lines_of_the_code() -> None:
    found = {(point.function, point.line) for point in points_of(modules_of("handrail.core.run.pipeline"))}
    source = Path(points_of(modules_of("handrail.core.run.pipeline"))[0].file).read_text().splitlines()
    line = next(n for n, text in enumerate(source, 1) if "state = new_call_state(call, raw, runtime)" in text)
    assert ("_run_stages", line) in found
    assert all(function != "<module>" for function, _ in found)


def test_a_child_dies_at_the_line_it_is_told_and_what_it_did_before_is_known(
    fork_server: ForkServer, tmp_path: Path
) -> None:
    with Ledger(tmp_path) as ledger:
        path = str(ledger.path)
        assert fork_server.run("tests.harness.scenarios:play", name="a_write", url=None, ledger=path) == 0
        [told] = ledger.of("passed", scenario="a_write")
        passed = [KillPoint(file, function, line) for file, function, line, _ in told["points"]]
        assert set(passed) <= set(scenarios.points())
        body = sorted(point for point in passed if point.function == "charge")
        for point, effects in zip(body, (1, 2), strict=True):
            at = [point.file, point.function, point.line, 1]
            code = fork_server.run(
                "tests.harness.scenarios:play", name="a_write", url=None, ledger=path, at=at
            )
            assert code == -signal.SIGKILL
            assert len(ledger.of("effect", order="write")) == effects
        assert len(ledger.of("answered")) == 1


@pytest.mark.timeout(300)
@pytest.mark.fault("F14")
def test_a_crash_in_the_middle_of_a_graph_leaves_no_task_hanging(
    fork_server: ForkServer, new_database: NewDatabase
) -> None:
    stage = CrashRunner(fork_server, new_database)
    names = scenarios.names()
    for n in range(1, 1 + GRAPHS):
        stage.crash(names.index("a_graph") + n * len(names))


@pytest.mark.timeout(300)
@pytest.mark.req("BY-12", "BY-13", "EV-15")
@pytest.mark.fault("F01")
def test_a_crash_anywhere_loses_nothing_and_does_nothing_twice(
    fork_server: ForkServer, new_database: NewDatabase, request: pytest.FixtureRequest
) -> None:
    stage = CrashRunner(fork_server, new_database)
    first = int(request.node.callspec.params["new_database"] == "postgresql")
    for seed in range(first, CRASHES, 2):
        stage.crash(seed)


@pytest.mark.timeout(300)
@pytest.mark.fault("F01")
def test_a_crash_while_a_database_is_made_leaves_one_that_opens(fork_server: ForkServer) -> None:
    stage = CrashRunner(fork_server, lambda place: f"sqlite:///{place / 'handrail.db'}")
    for seed in range(4):
        stage.crash_during_setup(seed)


@pytest.mark.req("BY-12")
@pytest.mark.fault("F02")
@pytest.mark.parametrize("how", ["call", "submit"])
def test_a_write_that_was_killed_in_the_middle_needs_review_and_is_never_repeated(
    fork_server: ForkServer, new_database: NewDatabase, tmp_path: Path, how: str
) -> None:
    url = new_database(tmp_path)
    with Ledger(tmp_path) as ledger:
        with RemoteShop(fork_server, tmp_path, ledger.path, url) as remote:
            if how == "call":
                remote.begin("call", tool="shop.ship", order="o1", id="call_1", key="k1")
            else:
                remote.begin("submit", tool="shop.ship", order="o1")
            ledger.until("effect", order="o1")
            remote.kill()
        [effect] = ledger.of("effect")
        for turn in (1, 2):
            with RemoteShop(fork_server, tmp_path, ledger.path, url) as remote:
                answer = remote.ask("look" if how == "call" else "wait", call=effect["call"])
                assert (answer["status"], answer["code"]) == ("needs_review", "UNKNOWN_OUTCOME")
                if how == "call":
                    again = remote.ask("call", tool="shop.ship", order="o1", id=f"again_{turn}", key="k1")
                    assert again["status"] == "needs_review"
        assert ledger.of("effect") == [effect]
        assert raw_database.unfinished(url) == []


@pytest.mark.timeout(120)
@pytest.mark.req("BY-12")
@pytest.mark.fault("F05")
def test_a_hundred_calls_under_one_key_in_several_processes_make_one_run(
    fork_server: ForkServer, new_database: NewDatabase, tmp_path: Path
) -> None:
    url = new_database(tmp_path)
    with ExitStack() as stack:
        ledger = stack.enter_context(Ledger(tmp_path))
        remotes = [
            stack.enter_context(RemoteShop(fork_server, tmp_path, ledger.path, url, worker=number == 0))
            for number in range(4)
        ]
        same = {"tool": "shop.charge", "order": "o1", "key": "k1", "times": 25}
        asked = [one.begin("call_often", **same) for one in remotes]
        statuses = [status for answer in asked for status in answer.result(50)["statuses"]]
        assert sorted(statuses) == ["completed"] + ["duplicate"] * 99
        assert len(ledger.of("effect", order="o1")) == 1
        for one in remotes:
            other = one.ask("call", tool="shop.charge", order="o2", id=f"call_{one.pid}", key="k1")
            assert (other["status"], other["code"]) == ("refused", "KEY_REUSED")
        assert ledger.of("effect", order="o2") == []
