"""The life of calls in memory, on SQLite and on PostgreSQL, at length."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from handrail.databases import upgrade
from tests.databases import TEMPLATE, Postgres
from tests.harness.call_lifecycle import lifecycle_on, run_lifecycle

EXAMPLES = 6
STEPS = 50

pytestmark = [pytest.mark.fault("F01", "F02"), pytest.mark.req("BY-03", "BY-12", "BY-13")]


def test_lives_in_memory() -> None:
    with lifecycle_on(lambda: None, survives=False) as life:
        run_lifecycle(life, EXAMPLES, STEPS)


def test_lives_on_sqlite(tmp_path: Path) -> None:
    template = tmp_path / "handrail.db"
    upgrade(f"sqlite:///{template}")

    def fresh() -> str:
        return f"sqlite:///{shutil.copy(template, tempfile.mkdtemp(dir=tmp_path))}"

    with lifecycle_on(fresh, survives=True) as life:
        run_lifecycle(life, EXAMPLES, STEPS)


def test_lives_on_postgresql(postgres: Postgres) -> None:
    with lifecycle_on(lambda: postgres.url(postgres.create(TEMPLATE)), survives=True) as life:
        run_lifecycle(life, EXAMPLES, STEPS)
