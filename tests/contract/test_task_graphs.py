"""One suite for graphs of tasks, in memory and on both databases: nothing runs too early, nothing hangs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from handrail import Handrail, Policy, tool
from handrail.ext.errors import GraphError
from handrail.ext.tools import Task
from tests.contract.graph_model import (
    ANA,
    BO,
    EVE,
    FREE,
    GraphTools,
    Opener,
    event_kinds,
    eventually,
    job_entry,
    statuses,
    step,
    wait_for_all,
)

pytestmark = [pytest.mark.fault("F14"), pytest.mark.timeout(180)]


def opening(url: str | None) -> Opener:
    @asynccontextmanager
    async def opened(*tools: Any, **options: Any) -> AsyncIterator[Handrail]:
        async with Handrail(tools, database=url, **{"policy": FREE, **options}) as hr:
            yield hr

    return opened


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def opened(request: pytest.FixtureRequest) -> Opener:
    if request.param == "memory":
        return opening(None)
    name = "sqlite_url" if request.param == "sqlite" else "postgres_url"
    return opening(str(request.getfixturevalue(name)))


async def test_each_task_runs_once_all_before_it_are_completed(opened: Opener) -> None:
    yard = GraphTools()
    diamond = [step("d", "b", "c"), step("b", "a"), step("c", "a"), step("a"), step("e", "d", "a")]
    async with opened(*yard.tools) as hr:
        outs = await hr.submit_all(diamond, principal=ANA, session="s1")
        assert list(outs) == ["d", "b", "c", "a", "e"]
        assert {(one.status, one.code) for one in outs.values()} == {("queued", "SUBMITTED")}
        ended = await wait_for_all(hr, outs)
        assert {name: one.result.data for name, one in ended.items()} == {name: name for name in outs}
        assert yard.ran[0] == "a" and yard.ran[3:] == ["d", "e"] and sorted(yard.ran[1:3]) == ["b", "c"]
        for out in outs.values():
            assert event_kinds(hr, out) == ["started", "completed"]
            assert (await job_entry(hr, out)).state == "done"
        assert {event.call.session for event in hr.log.read("acme")} == {"s1"}


async def test_what_comes_after_a_failure_is_skipped_with_the_reason_and_nothing_else(opened: Opener) -> None:
    yard = GraphTools(failing=["b"])
    tasks = [step("a"), step("b", "a"), step("c", "b"), step("d", "c", "a"), step("e", "a"), step("f", "e")]
    async with opened(*yard.tools) as hr:
        outs = await hr.submit_all(tasks, principal=ANA)
        ended = await wait_for_all(hr, outs)
        assert statuses(ended) == {
            "a": "completed",
            "b": "TOOL_FAILED",
            "c": "SKIPPED",
            "d": "SKIPPED",
            "e": "completed",
            "f": "completed",
        }
        assert sorted(yard.ran) == ["a", "b", "e", "f"]
        for name in ("c", "d"):
            one, entry = ended[name], await job_entry(hr, outs[name])
            why = f"'b' (call {outs['b'].call_id}), which must be completed first, failed"
            assert (one.status, one.result.error, one.run_id) == ("cancelled", f"Skipped: {why}.", None)
            assert event_kinds(hr, outs[name]) == ["cancelled"]
            assert (entry.state, entry.reason) == ("cancelled", why)


async def test_a_task_waits_and_says_for_what(opened: Opener) -> None:
    yard = GraphTools(held=["a", "b"])
    async with opened(*yard.tools) as hr:
        outs = await hr.submit_all([step("a"), step("b"), step("c", "a", "b")], principal=ANA)
        ids = {name: out.call_id for name, out in outs.items()}
        await eventually(lambda: len(yard.ran) == 2)
        [waiting] = await hr._jobs.list("acme", state="waiting")
        assert (waiting.id, waiting.task, sorted(waiting.after)) == (
            ids["c"],
            "c",
            sorted((ids["a"], ids["b"])),
        )
        ledger: Any = getattr(hr._jobs, "ledger", hr._jobs)
        assert await ledger.take("acme", ids["c"]) is None  # whoever comes by leaves it alone
        yard.held["a"].set()
        await hr.wait(ids["a"], 60)
        entry = await job_entry(hr, outs["c"])
        assert (entry.state, entry.after) == ("waiting", (ids["b"],))
        yard.held["b"].set()
        await wait_for_all(hr, outs)
        entry = await job_entry(hr, outs["c"])
        assert (entry.state, entry.reason, entry.after) == ("done", "completed", ())


async def test_to_cancel_a_task_that_runs_skips_what_comes_after_it(opened: Opener) -> None:
    yard = GraphTools(held=["a"])
    async with opened(*yard.tools) as hr:
        outs = await hr.submit_all([step("a"), step("b", "a"), step("c", "b")], principal=ANA)
        await eventually(lambda: yard.ran)
        assert await hr.cancel(outs["a"].call_id) is True
        ended = await wait_for_all(hr, outs)
        assert statuses(ended) == {"a": "CANCELLED", "b": "SKIPPED", "c": "SKIPPED"}
        assert "'a'" in (ended["c"].result.error or "") and "was cancelled" in (ended["c"].result.error or "")
        assert yard.ran == ["a"]


async def test_to_cancel_a_task_that_waits_skips_what_comes_after_it_and_stops_nothing_before(
    opened: Opener,
) -> None:
    yard = GraphTools(held=["a"])
    async with opened(*yard.tools) as hr:
        outs = await hr.submit_all([step("a"), step("b", "a"), step("c", "b"), step("d", "a")], principal=ANA)
        assert await hr.cancel(outs["b"].call_id, "nobody needs it") is True
        assert (await hr.wait(outs["c"].call_id, 60)).code == "SKIPPED"  # while the first still runs
        yard.held["a"].set()
        ended = await wait_for_all(hr, outs)
        assert statuses(ended) == {"a": "completed", "b": "CANCELLED", "c": "SKIPPED", "d": "completed"}
        assert sorted(yard.ran) == ["a", "d"]
        assert [event_kinds(hr, outs[name]) for name in ("b", "c")] == [["cancelled"], ["cancelled"]]
        assert (await job_entry(hr, outs["b"])).reason == "nobody needs it"


async def test_what_is_skipped_is_not_cancelled_as_well(opened: Opener) -> None:
    yard = GraphTools(failing=["a"])
    async with opened(*yard.tools) as hr:
        outs = await hr.submit_all([step("a"), step("b", "a")], principal=ANA)
        await hr.wait(outs["a"].call_id, 60)
        await hr.cancel(outs["b"].call_id)
        assert (await hr.wait(outs["b"].call_id, 60)).code == "SKIPPED"
        await eventually(lambda: event_kinds(hr, outs["b"]))
        assert event_kinds(hr, outs["b"]) == ["cancelled"]


@pytest.mark.parametrize("answer", ["approve", "reject"])
async def test_a_task_that_needs_a_person_is_asked_for_in_its_turn_and_its_children_wait(
    opened: Opener, answer: str
) -> None:
    yard = GraphTools()
    tasks = [step("a"), Task("wipe", "yard.wipe", {"name": "wipe"}, "a"), step("c", "wipe"), step("d", "c")]
    async with opened(*yard.tools) as hr:
        outs = await hr.submit_all(tasks, principal=ANA)
        [question] = await eventually(lambda: hr.approvals.list(BO))
        assert question.call.id == outs["wipe"].call_id and yard.ran == ["a"]
        assert {one.id for one in await hr._jobs.list("acme", state="waiting")} == {
            outs["c"].call_id,
            outs["d"].call_id,
        }
        if answer == "approve":
            await hr.approvals.approve(question.id, by=BO)
        else:
            await hr.approvals.reject(question.id, by=BO)
        told = statuses(await wait_for_all(hr, outs))
        if answer == "approve":
            assert set(told.values()) == {"completed"} and yard.ran == ["a", "wipe", "c", "d"]
        else:
            assert told["a"] == "completed" and told["wipe"] == "REJECTED"
            assert (told["c"], told["d"]) == ("SKIPPED", "SKIPPED") and yard.ran == ["a"]


async def test_a_task_whose_tool_is_gone_is_blocked_and_its_children_wait(opened: Opener) -> None:
    yard = GraphTools(held=["a"])

    @tool("yard.leaves", level="read")
    async def leaves() -> str:
        """Be gone before it is called."""
        return "here"

    async with opened(*yard.tools, leaves) as hr:
        tasks = [step("a"), Task("b", "yard.leaves", {}, "a"), step("c", "b"), step("d", "c")]
        outs = await hr.submit_all(tasks, principal=ANA)
        await eventually(lambda: yard.ran)
        hr.registry.unregister("yard.leaves")
        yard.held["a"].set()
        [blocked] = await eventually(lambda: hr._jobs.list("acme", state="blocked"))
        assert (blocked.id, blocked.task) == (outs["b"].call_id, "b")
        assert (await job_entry(hr, outs["c"])).after == (blocked.id,)
        hr.registry.register(leaves)
        assert await hr._jobs.unblock(blocked.id, "acme") is True
        assert set(statuses(await wait_for_all(hr, outs)).values()) == {"completed"}


async def test_a_replay_of_the_failed_task_does_not_revive_what_was_skipped(opened: Opener) -> None:
    yard = GraphTools(failing=["a"])
    async with opened(*yard.tools) as hr:
        outs = await hr.submit_all([step("a"), step("b", "a")], principal=ANA)
        await wait_for_all(hr, outs)
        yard.failing.clear()
        [letter] = await hr.dead_letters.list(ANA)
        assert (await hr.dead_letters.replay(letter.id, by=ANA)).status == "completed"
        after = await hr.submit_all([step("z")], principal=ANA)
        await wait_for_all(hr, after)
        assert yard.ran == ["a", "a", "z"]
        assert (await job_entry(hr, outs["b"])).state == "cancelled"
        assert event_kinds(hr, outs["b"]) == ["cancelled"]


async def test_many_tasks_side_by_side_and_many_behind_them(opened: Opener) -> None:
    yard = GraphTools(failing=["w7"])
    wide = [step(f"w{n}", "first") for n in range(25)]
    tasks = [step("first"), *wide, step("odd", *(f"w{n}" for n in range(1, 25, 2))), step("even", "w2", "w4")]
    async with opened(*yard.tools) as hr:
        outs = await hr.submit_all(tasks, principal=ANA)
        told = statuses(await wait_for_all(hr, outs))
        assert (told["odd"], told["even"], told["w7"]) == ("SKIPPED", "completed", "TOOL_FAILED")
        assert len(yard.ran) == 27 == len(set(yard.ran))


async def test_the_tasks_of_another_tenant_are_neither_seen_nor_cancelled(opened: Opener) -> None:
    yard = GraphTools(held=["a"])
    async with opened(*yard.tools) as hr:
        outs = await hr.submit_all([step("a"), step("b", "a")], principal=ANA)
        assert await hr._jobs.list("other") == []
        assert await hr._jobs.cancel(outs["b"].call_id, "other", "mischief") is False
        theirs = await hr.submit_all([step("x"), step("y", "x")], principal=EVE)
        assert set(statuses(await wait_for_all(hr, theirs)).values()) == {"completed"}
        yard.held["a"].set()
        assert set(statuses(await wait_for_all(hr, outs)).values()) == {"completed"}


BAD = [
    [],
    [step("a"), step("a")],
    [step("a", "a")],
    [step("a"), step("b", "c")],
    [step("a", "b"), step("b", "a")],
    [step("a"), Task("b", "yard.stepp", {}, "a")],
    [step("a"), Task("b", "yard.step", {"nmae": 1}, "a")],
    [step(str(n)) for n in range(1_001)],
]


async def test_a_graph_that_cannot_be_run_is_rejected_as_a_whole(opened: Opener) -> None:
    yard = GraphTools()
    async with opened(*yard.tools) as hr:
        for tasks in BAD:
            with pytest.raises(GraphError, match=r"Nothing was submitted\."):
                await hr.submit_all(tasks, principal=ANA)
            assert await hr._jobs.list("acme") == [] and yard.ran == []


async def test_what_the_guard_refuses_is_refused_at_once_and_told(opened: Opener) -> None:
    yard = GraphTools()
    nobody = type(ANA)(tenant="acme", user="cy")
    async with opened(*yard.tools) as hr:
        with pytest.raises(GraphError) as refused:
            await hr.submit_all([step("a"), Task("b", "yard.secret", {}, "a")], principal=nobody)
        assert refused.value.task == "b" and refused.value.outcome is not None
        assert refused.value.outcome.code == "NOT_PERMITTED"
        assert [event.kind for event in hr.log.read("acme")] == ["failed"]
        assert await hr._jobs.list("acme") == [] and yard.ran == []


async def test_plan_mode_takes_no_graph_that_it_would_hold_back(opened: Opener) -> None:
    yard = GraphTools()
    async with opened(*yard.tools, policy=Policy(approval_mode="danger", plan=True)) as hr:
        with pytest.raises(GraphError, match=r"plan mode would hold back yard\.wipe"):
            await hr.submit_all([Task("a", "yard.wipe", {"name": "a"}), step("b", "a")], principal=ANA)
        assert await hr._jobs.list("acme") == [] and await hr.planned(ANA) == []
