"""A short walk of the machine; tests/soak has the long one."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.unit.toolsets.workspace.changes.state_machine import UndoMachine


@pytest.mark.req("FC-02", "FC-03", "BT-03", "BT-04", "BY-14")
@pytest.mark.fault("F20")
def test_files_hold_what_the_model_says_or_a_conflict_names_them() -> None:
    short = settings(
        max_examples=8,
        stateful_step_count=25,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(UndoMachine, settings=short)
