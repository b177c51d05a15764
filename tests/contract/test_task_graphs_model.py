"""Any graph, with circles, missing names and failing tasks, ends as a simple model says."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail import Handrail
from handrail.ext.errors import GraphError
from handrail.ext.tools import Task
from tests.contract.graph_model import (
    ANA,
    FREE,
    GraphTools,
    can_run,
    event_kinds,
    expected,
    statuses,
    step,
    wait_for_all,
)

pytestmark = [pytest.mark.fault("F14"), pytest.mark.timeout(180)]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Task], set[str]]:
    """Tasks, and which of them fail. Half of the graphs have no circle."""
    names = [f"t{n}" for n in range(draw(st.integers(1, 9)))]
    forward = draw(st.booleans())
    tasks = []
    for at, name in enumerate(names):
        some = names[:at] if forward else [*names, *draw(st.sampled_from([[], [], ["nobody"]]))]
        after = draw(st.lists(st.sampled_from(some), max_size=3)) if some else []
        tasks.append(step(name, *after))
    failing = draw(st.sets(st.sampled_from(names), max_size=2))
    return draw(st.permutations(tasks)), failing


async def holds(hr: Handrail, yard: GraphTools, tasks: list[Task], failing: set[str]) -> None:
    before = len(await hr._jobs.list("acme"))
    yard.ran.clear()
    yard.failing = failing
    if not can_run(tasks):
        with pytest.raises(GraphError):
            await hr.submit_all(tasks, principal=ANA)
        assert len(await hr._jobs.list("acme")) == before and yard.ran == []
        return
    outs = await hr.submit_all(tasks, principal=ANA)
    told = statuses(await wait_for_all(hr, outs))
    assert told == expected(tasks, failing)
    assert sorted(yard.ran) == sorted(name for name, end in told.items() if end != "SKIPPED")
    for task in tasks:
        for name in task.after if task.name in yard.ran else ():
            assert yard.ran.index(name) < yard.ran.index(task.name)
        kind = {"completed": "completed", "TOOL_FAILED": "failed", "SKIPPED": "cancelled"}[told[task.name]]
        assert event_kinds(hr, outs[task.name]) == ([kind] if kind == "cancelled" else ["started", kind])
    assert await hr._jobs.list("acme", state="waiting") == []


@settings(max_examples=60)
@given(graphs())
async def test_any_graph_in_memory_ends_as_the_model_says(graph: tuple[list[Task], set[str]]) -> None:
    yard = GraphTools()
    async with Handrail(yard.tools, policy=FREE) as hr:
        await holds(hr, yard, *graph)


@settings(max_examples=3)
@given(st.lists(graphs(), min_size=3, max_size=3))
async def test_any_graph_on_sqlite_ends_as_the_model_says(some: list[tuple[list[Task], set[str]]]) -> None:
    yard = GraphTools()
    with tempfile.TemporaryDirectory() as folder:
        async with Handrail(yard.tools, policy=FREE, database=f"sqlite:///{Path(folder) / 'x.db'}") as hr:
            for tasks, failing in some:
                await holds(hr, yard, tasks, failing)
