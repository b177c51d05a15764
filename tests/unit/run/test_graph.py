"""What is wrong with a graph is said in a sentence that helps."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import Handrail, Principal
from handrail.core.run.jobs.graph import Task, check_graph
from handrail.core.run.jobs.job import JobEntry, JobState, lets_children, why_skipped
from handrail.ext.errors import GraphError
from tests.contract.graph_model import GraphTools, statuses, step, wait_for_all

pytestmark = pytest.mark.fault("F14")


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        ([], "There is no task. Give at least one."),
        ([step("a"), step("a")], "Two tasks are named 'a'. Give each its own name."),
        ([step("a", "a")], "Task 'a' comes after itself. Remove that."),
        (
            [step("fetch"), step("b", "fetsch")],
            "Task 'b' comes after 'fetsch', which is not among the tasks. Did you mean 'fetch'?",
        ),
        ([step("a"), step("b", "xyz")], "Task 'b' comes after 'xyz', which is not among the tasks."),
        (
            [step("a", "c"), step("b", "a"), step("c", "b")],
            "The tasks go round in a circle: a → b → c → a. Remove one of these steps.",
        ),
        (
            [step("z"), step("y", "b"), step("a", "b", "z"), step("b", "a")],
            "The tasks go round in a circle: b → a → b. Remove one of these steps.",
        ),
        (
            [step(str(n), str((n + 1) % 100)) for n in range(100)],
            "The tasks go round in a circle: 0 → 99 → 98 → 97 → 96 → 95 → … → 0. Remove one of these steps.",
        ),
        ([step("")], "A task has a name of 1 to 200 characters, by which others refer to it, not ''."),
        ([step("a"), "b"], "Give Task objects, such as Task('name', 'tool', {...}), not 'b'."),
        (
            [step(str(n)) for n in range(1_001)],
            "There are more than 1,000 tasks. Submit them in several graphs.",
        ),
        (
            [step(str(n), *map(str, range(n))) for n in range(200)],
            "The tasks name 19,900 others to come after, and 10,000 is the most. "
            "Name only those directly before; what comes before them is before all.",
        ),
    ],
)
def test_what_is_wrong_with_a_graph_is_said(tasks: list[Any], said: str) -> None:
    with pytest.raises(GraphError) as wrong:
        check_graph(tasks)
    assert str(wrong.value) == f"{said} Nothing was submitted."


def test_one_name_may_stand_for_itself_and_twice_is_once() -> None:
    assert Task("b", "t", after="fetch").after == ("fetch",)
    assert Task("b", "t", after=["a", "c", "a"]).after == ("a", "c")


@pytest.mark.parametrize(
    ("state", "reason", "children", "said"),
    [
        ("done", "completed", "run", None),
        ("done", "pending", "wait", None),
        ("waiting", None, "wait", None),
        ("queued", None, "wait", None),
        ("running", None, "wait", None),
        ("blocked", "its tool is gone", "wait", None),
        ("done", "failed", "skip", "failed"),
        ("done", "refused", "skip", "was refused"),
        ("done", "needs_review", "skip", "needs review"),
        ("done", "queued", "skip", "was only planned"),
        ("done", "what is new", "skip", "did not complete"),
        ("done", None, "skip", "did not complete"),
        ("cancelled", "nobody needs it", "skip", "was cancelled"),
        ("cancelled", "completed", "skip", "was cancelled"),
        ("dead", "poison", "skip", "was given up"),
    ],
)
def test_what_children_may_do_depends_on_how_their_parent_stands(
    state: JobState, reason: str | None, children: str, said: str | None
) -> None:
    assert lets_children(state, reason) == children
    if said is not None:
        entry = JobEntry("call_1", "acme", "t.x", "submitted", state, 1, 0.0, 0.0, reason=reason)
        assert why_skipped(entry) == f"t.x (call call_1), which must be completed first, {said}"


async def _chain(length: int, failing: str | None = None) -> dict[str, str]:
    yard = GraphTools() if failing is None else GraphTools(failing=[failing])
    tasks = [step(str(n), *([str(n - 1)] if n else [])) for n in range(length)]
    async with Handrail(yard.tools) as hr:
        told = statuses(
            await wait_for_all(hr, await hr.submit_all(tasks, principal=Principal("acme", "ana")))
        )
    assert yard.ran == sorted(yard.ran, key=int)
    return told


async def test_a_thousand_tasks_in_a_row_run_one_after_the_other() -> None:
    assert set((await _chain(1_000)).values()) == {"completed"}


async def test_a_thousand_tasks_in_a_row_are_skipped_behind_the_first() -> None:
    told = await _chain(1_000, failing="0")
    assert list(told.values()) == ["TOOL_FAILED", *["SKIPPED"] * 999]
