"""handrail plan: calls that wait for a review, each step a process of its own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from handrail import Handrail, Principal
from tests.acceptance.command_line import SHOP, CommandResult, environment
from tests.acceptance.forked_cli import ForkedCli

pytestmark = [pytest.mark.req("EX-20"), pytest.mark.timeout(180)]
EMPTY = "The plan is empty. Put a call into it with `handrail run --plan NAME`"


class PlanCommands:
    """Commands over one database."""

    def __init__(self, forked_cli: ForkedCli, folder: Path) -> None:
        self._forked_cli, self._folder = forked_cli, folder

    def __call__(self, *words: str, **env: str) -> CommandResult:
        given = {"HANDRAIL_DATABASE": "sqlite:///shop.db", "HANDRAIL_KEY": "5a" * 32} | env
        return self._forked_cli(*words, cwd=self._folder, **given)

    def order(self, item: str, *more: str, pieces: int = 1) -> CommandResult:
        return self("run", "stock.order", f"--item={item}", f"--pieces={pieces}", *more)

    def items(self) -> list[str]:
        return [one["arguments"]["item"] for one in self("plan", "show", "--json").json]


@pytest.fixture
def desk(forked_cli: ForkedCli, tmp_path: Path) -> PlanCommands:
    return PlanCommands(forked_cli, tmp_path)


def test_a_call_is_planned_shown_and_run_by_three_commands(desk: PlanCommands) -> None:
    planned = desk.order("bolt", "--plan", pieces=5)
    assert (planned.code, planned.out) == (4, "")
    assert planned.err == (
        "queued PLANNED: Order is planned, not run. It runs when somebody runs the plan.\n"
        "  See the plan: handrail plan show; carry it out: handrail plan run\n"
    )
    [shown] = desk("plan", "show", "--json").json
    assert (shown["tool"], shown["arguments"]) == ("stock.order", {"item": "bolt", "pieces": 5})
    bare = desk("plan")
    assert bare.out.split("\t")[:3] == [shown["call_id"], "stock.order", '{"item":"bolt","pieces":5}']
    done = desk("plan", "run")
    assert (done.code, done.out) == (0, '{"item":"bolt","pieces":5,"colour":"red","tags":[]}\n')
    assert desk("runs", "list", "--json").json[0]["call_id"] == shown["call_id"]
    again = desk("plan", "run")
    assert (again.code, again.out) == (0, "") and again.err.startswith(EMPTY)


def test_each_result_stands_under_its_heading_where_both_go_into_one_pipe(
    desk: PlanCommands, tmp_path: Path
) -> None:
    for item in ("a", "b"):
        desk.order(item, "--plan")
    env = environment(HANDRAIL_DATABASE="sqlite:///shop.db", HANDRAIL_KEY="5a" * 32, HANDRAIL_TOOLS=SHOP)
    done = subprocess.run(
        [sys.executable, "-m", "handrail", "plan", "run"],
        cwd=tmp_path,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert [line.startswith("stock.order ") for line in lines] == [True, False, True, False], lines


@pytest.mark.long
def test_a_plan_runs_in_order_and_one_failure_stops_it_only_if_asked(desk: PlanCommands) -> None:
    for item in ("a", "b"):
        desk.order(item, "--plan", "--session=first")
    desk("run", "words.fail", "--plan")
    desk.order("c", "--plan")
    stopped = desk("plan", "run", "--stop-on-failure", "--json")
    assert [one["status"] for one in stopped.json] == ["completed", "completed", "failed"]
    assert (stopped.code, len(desk("plan", "show", "--json").json)) == (1, 1)
    rest = desk("plan", "run", "--json")
    assert (rest.code, [one["status"] for one in rest.json]) == (0, ["completed"])


@pytest.mark.long
def test_a_plan_is_discarded_whole_or_by_session(desk: PlanCommands) -> None:
    for item, session in (("a", "one"), ("b", "two"), ("c", "two")):
        desk.order(item, "--plan", f"--session={session}")
    assert desk("plan", "discard", "--session=one").out == "1 planned call was discarded.\n"
    assert desk.items() == ["b", "c"]
    assert desk("plan", "discard", "--json").json == {"discarded": 2}
    empty = desk("plan")
    assert (empty.code, empty.out) == (0, "") and empty.err.startswith(EMPTY)


@pytest.mark.long
def test_what_the_settings_plan_outlives_the_command_too(desk: PlanCommands, tmp_path: Path) -> None:
    (tmp_path / "handrail.toml").write_text("[policy]\nplan = true\n")
    assert desk.order("bolt").code == 4
    assert desk("run", "stock.count", "--item=bolt").code == 0, "what only reads runs"
    assert desk("run", "stock.count", "--item=bolt", "--plan").code == 4, "unless it is planned by name"
    assert desk("plan", "run", "--json").code == 0


@pytest.mark.long
def test_a_plan_that_somebody_else_runs_is_left_to_them(
    desk: PlanCommands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for item in ("a", "b"):
        desk.order(item, "--plan")
    monkeypatch.setenv("HANDRAIL_KEY", "5a" * 32)
    who = Principal(tenant="local", user=desk("plan", "show", "--json").json[0]["user"])

    async def run_beside() -> CommandResult:
        async with Handrail(database=f"sqlite:///{tmp_path}/shop.db", worker=False) as hr:
            [first, _] = await hr.planned(who)
            assert await hr._runtime.plans.take(first) == "taken"
            return await asyncio.to_thread(desk, "plan", "run")

    done = asyncio.run(run_beside())
    assert (done.code, done.out) == (0, "") and done.err.startswith("Somebody else runs this plan right now")
    assert len(desk.items()) == 2, "whoever took one is gone, and nothing of it began"


@pytest.mark.long
def test_a_plan_approves_nothing_and_says_what_waits(desk: PlanCommands) -> None:
    desk.order("bolt", "--as=agent", "--plan")
    done = desk("plan", "run")
    assert done.code == 4
    assert "pending NEEDS_APPROVAL" in done.err and "handrail approvals approve approval_" in done.err
    assert desk("plan", "show", "--json").json == []
    assert len(desk("approvals", "list", "--json").json) == 1


@pytest.mark.long
def test_without_a_database_there_is_no_plan_to_keep(forked_cli: ForkedCli, tmp_path: Path) -> None:
    planning = ["run", "stock.count", "--item=a", "--plan"]
    for words in (["plan"], ["plan", "run"], ["plan", "discard"], planning):
        done = forked_cli(*words, cwd=tmp_path)
        assert (done.code, done.out) == (2, "")
        assert "there is no database here" in done.err
    assert "--database" not in done.err, "`run` has no such option"
