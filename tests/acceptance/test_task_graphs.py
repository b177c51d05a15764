"""Graphs of tasks over worker processes: killed in the middle, restarted, several at once."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text

from handrail import Handrail, Outcome, Result
from handrail.core.define.call import BoundCall
from handrail.ext.events import ToolCompleted, ToolStarted
from handrail.ext.tools import Task
from handrail.jobs.durable_jobs import DurableJobs
from handrail.store.database import Database
from handrail.testing import FakeClock
from tests.acceptance.worker_processes import (
    ANA,
    FREE,
    Workers,
    eventually,
    submitting_client,
    tools,
    workers,
)
from tests.harness import raw_database

pytestmark = [pytest.mark.fault("F14"), pytest.mark.timeout(180), pytest.mark.long]


def look(name: str, *after: str, until: str | None = None) -> Task:
    return Task(name, "shop.look", {"name": name, "until": until}, after)


async def test_a_graph_whose_worker_is_killed_in_the_middle_goes_on(sqlite_url: str, tmp_path: Path) -> None:
    tasks = [
        look("first"),
        look("read", "first", until="go"),
        look("last", "read", "first"),
        Task("pay", "shop.charge", {"name": "pay", "until": "never"}, "first"),
        look("paid", "pay"),
        look("all", "paid", "last"),
    ]
    with workers(sqlite_url, tmp_path) as staff:
        worker = staff.start()
        async with submitting_client(sqlite_url, tmp_path) as hr:
            outs = await hr.submit_all(tasks, principal=ANA)
            await eventually(lambda: staff.effects("charge pay") and staff.effects("look read"))
            staff.kill(worker)
            staff.let("go")
            staff.start()
            ended = {name: await hr.wait(out.call_id, 60) for name, out in outs.items()}
        assert {name: one.code or one.status for name, one in ended.items()} == {
            "first": "completed",
            "read": "completed",
            "last": "completed",
            "pay": "UNKNOWN_OUTCOME",
            "paid": "SKIPPED",
            "all": "SKIPPED",
        }
        assert "'pay'" in (ended["all"].result.error or "") and "needs review" in str(
            ended["all"].result.error
        )
        assert len(staff.effects("charge pay")) == len(staff.effects("look first")) == 1
        assert len(staff.effects("look last")) == 1 and staff.effects("look paid") == []
        assert raw_database.graph_order_errors(sqlite_url) == []


async def test_a_graph_is_finished_however_often_its_workers_are_killed(
    database_url: str, tmp_path: Path
) -> None:
    layers = [[f"{row}-{n}" for n in range(3)] for row in range(5)]
    before = [[], *layers]
    tasks = [look(name, *before[row]) for row, layer in enumerate(layers) for name in layer]
    with workers(database_url, tmp_path) as staff:
        async with submitting_client(database_url, tmp_path) as hr:
            outs = await hr.submit_all(tasks, principal=ANA)
            for kills in range(2):  # three workers that die over one task are taken for its fault
                worker = staff.start()
                await eventually(partial(_seen, staff, 3 * kills + 2))
                staff.kill(worker)
            staff.start()
            for out in outs.values():
                assert (await hr.wait(out.call_id, 60)).status == "completed"
        assert raw_database.graph_order_errors(database_url) == []


def _seen(staff: Workers, least: int) -> bool:
    return len(set(staff.effects())) >= least


async def test_several_workers_release_what_waits_for_many_exactly_once(
    postgres_url: str, tmp_path: Path
) -> None:
    wide = [look(f"w{n}", until="go") for n in range(16)]
    names = [task.name for task in wide]
    joins = [look(f"j{n}", *names) for n in range(4)]
    with workers(postgres_url, tmp_path) as staff:
        for _ in range(3):
            staff.start()
        async with submitting_client(postgres_url, tmp_path) as hr:
            outs = await hr.submit_all([*wide, *joins], principal=ANA)
            await eventually(lambda: len(staff.effects("look w")) == 16)
            assert len(await hr._jobs.list("acme", state="waiting")) == 4
            staff.let("go")  # all end at the same moment, in three processes
            for out in outs.values():
                assert (await hr.wait(out.call_id, 60)).status == "completed"
        assert len(staff.effects("look j")) == 4
        assert raw_database.graph_order_errors(postgres_url) == []


@pytest.mark.parametrize(("reason", "ends"), [("completed", "completed"), ("failed", "SKIPPED")])
async def test_what_waits_for_calls_that_are_over_is_found_by_the_sweeper(
    database_url: str, tmp_path: Path, reason: str, ends: str
) -> None:
    """No crash leaves this behind; should anything else, nothing hangs."""
    clock = FakeClock()
    made = tools(tmp_path)
    async with Handrail(made, policy=FREE, database=database_url, worker=False, clock=clock) as hr:
        outs = await hr.submit_all([look("a"), look("b", "a"), look("c", "b")], principal=ANA)
    change_job(database_url, outs["a"], f"state = 'done', reason = '{reason}'")
    clock.turn(100)
    async with Handrail(made, policy=FREE, database=database_url, clock=clock) as hr:
        for name in ("b", "c"):
            ended = await hr.wait(outs[name].call_id, 60)
            assert (ended.code or ended.status) == ends


async def test_a_task_whose_worker_died_after_telling_its_end_lets_the_next_one_run(
    database_url: str, tmp_path: Path
) -> None:
    made = tools(tmp_path)
    async with Handrail(made, policy=FREE, database=database_url, worker=False) as hr:
        outs = await hr.submit_all([look("a"), look("b", "a")], principal=ANA)
        call = BoundCall("shop.look", ANA, outs["a"].call_id)
        hr.log.append(ToolStarted(call, "shop.look", 1.0, "run_1", {}))
        hr.log.append(ToolCompleted(call, "shop.look", 2.0, "run_1", Result(data="seen"), 1.0))
    change_job(database_url, outs["a"], "state = 'running', holder = 'gone#1', attempts = 1")
    async with Handrail(made, policy=FREE, database=database_url) as hr:
        assert (await hr.wait(outs["b"].call_id, 60)).status == "completed"
        assert (await hr._jobs.list("acme"))[0].reason == "completed"
    assert raw_database.graph_order_errors(database_url) == []


async def test_a_task_that_waits_is_cancelled_though_whoever_wanted_it_is_gone(
    database_url: str, tmp_path: Path
) -> None:
    """The wish is noted by a process that cannot end it, and a worker does, while the parent is not over."""
    made = tools(tmp_path)
    async with Handrail(made, policy=FREE, database=database_url, worker=False) as hr:
        outs = await hr.submit_all([look("a", until="never"), look("b", "a"), look("c", "b")], principal=ANA)
        assert isinstance(hr._jobs, DurableJobs)
        hr._jobs._context = None
        assert await hr.cancel(outs["b"].call_id) is True
    async with Handrail(made, policy=FREE, database=database_url) as hr:
        assert (await hr.wait(outs["b"].call_id, 60)).code == "CANCELLED"
        assert (await hr.wait(outs["c"].call_id, 60)).code == "SKIPPED"
        await hr.cancel(outs["a"].call_id)


def change_job(url: str, out: Outcome, changes: str) -> None:
    """Make a job look as if something had happened to it."""
    database = Database(url)
    with database.system() as conn:
        conn.execute(text(f"UPDATE jobs SET {changes} WHERE call_id = :call"), {"call": out.call_id})
    database.close()
