"""Long graphs, on each database."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail import Handrail
from tests.contract.graph_model import ANA, FREE, GraphTools, statuses, step
from tests.harness import raw_database

LENGTH = 120
PATIENCE = 1_800.0

pytestmark = [pytest.mark.fault("F14"), pytest.mark.timeout(3_600)]


async def _chain(url: str, failing: list[str]) -> list[str]:
    yard = GraphTools(failing=failing)
    tasks = [step(str(n), *([str(n - 1)] if n else [])) for n in range(LENGTH)]
    async with Handrail(yard.tools, policy=FREE, database=url) as hr:
        outs = await hr.submit_all(tasks, principal=ANA)
        ended = {name: await hr.wait(out.call_id, PATIENCE) for name, out in outs.items()}
    assert yard.ran == sorted(yard.ran, key=int)
    assert raw_database.graph_order_errors(url) == []
    return list(statuses(ended).values())


async def test_many_tasks_in_a_row_run_one_after_the_other(database_url: str, tmp_path: Path) -> None:
    assert await _chain(database_url, []) == ["completed"] * LENGTH


async def test_many_tasks_in_a_row_are_skipped_behind_the_first(database_url: str, tmp_path: Path) -> None:
    assert await _chain(database_url, ["0"]) == ["TOOL_FAILED", *["SKIPPED"] * (LENGTH - 1)]
