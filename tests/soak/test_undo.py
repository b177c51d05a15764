"""Edits, undos, strangers and restarts for longer, and many small histories."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.unit.toolsets.workspace.changes.machine import UndoMachine


@pytest.mark.req("FC-03", "BT-03", "BT-04", "BY-14")
@pytest.mark.fault("F20")
@pytest.mark.timeout(300)
def test_files_hold_what_the_model_says_on_long_walks() -> None:
    long = settings(
        max_examples=60,
        stateful_step_count=60,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(UndoMachine, settings=long)
