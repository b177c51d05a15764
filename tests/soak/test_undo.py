"""Edits, undos, strangers and restarts for longer, and many small histories."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.unit.toolsets.workspace.changes.open_workspace import OpenWorkspace
from tests.unit.toolsets.workspace.changes.processes import KILL_COUNT, run_processes
from tests.unit.toolsets.workspace.changes.state_machine import UndoMachine


@pytest.mark.req("FC-03", "BT-03", "BT-04", "BY-14")
@pytest.mark.fault("F20")
@pytest.mark.timeout(300)
def test_files_hold_what_the_model_says_on_long_walks() -> None:
    long = settings(
        max_examples=40,
        stateful_step_count=60,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(UndoMachine, settings=long)


@pytest.mark.req("FC-03")
@pytest.mark.fault("F20")
@pytest.mark.timeout(300)
async def test_after_many_deaths_every_file_can_be_walked_back_to_its_beginning(tmp_path: Path) -> None:
    assert run_processes("restless", tmp_path) == [-signal.SIGKILL] * KILL_COUNT
    opened = OpenWorkspace(tmp_path)
    async with opened.handrail:
        kept = {one.after for one in opened.changes.history("acme")}
        assert len(kept) > KILL_COUNT
        for path in ("a.txt", "b.txt", "sub/c.txt"):
            left = opened.read(path)
            assert left is None or left.count(b"\n") in (1, 2_000)
            while (out := await opened.undo(path)).ok:
                pass
            assert out.result.code == "NOTHING_TO_UNDO", out.result.error
            assert opened.read(path) is None
