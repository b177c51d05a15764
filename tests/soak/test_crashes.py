"""A hundred crashes on each database, at points drawn from the code."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from handrail.databases import upgrade
from tests.databases import TEMPLATE, Postgres
from tests.harness.crashes import PRELOAD, CrashRunner
from tests.harness.fork_server import ForkServer

CRASHES = 100
AT_ONCE = 2

pytestmark = [pytest.mark.fault("F01", "F02"), pytest.mark.req("BY-12", "BY-13", "EV-15")]


def test_crashes_on_sqlite(tmp_path: Path) -> None:
    template = tmp_path / "handrail.db"
    upgrade(f"sqlite:///{template}")
    _crash(lambda place: f"sqlite:///{shutil.copy(template, place)}", CrashRunner.crash, CRASHES)


def test_crashes_while_a_database_is_made() -> None:
    _crash(lambda place: f"sqlite:///{place / 'handrail.db'}", CrashRunner.crash_during_setup, CRASHES // 5)


def test_crashes_on_postgresql(postgres: Postgres) -> None:
    _crash(lambda place: postgres.url(postgres.create(TEMPLATE)), CrashRunner.crash, CRASHES)


def _crash(
    new_database: Callable[[Path], str], crash: Callable[[CrashRunner, int], None], number: int
) -> None:
    with ForkServer(*PRELOAD) as fork_server, ThreadPoolExecutor(AT_ONCE) as pool:
        stage = CrashRunner(fork_server, new_database)
        crashes = [pool.submit(crash, stage, seed) for seed in range(number)]
        wrong = [str(error) for one in crashes if (error := one.exception()) is not None]
    assert not wrong, "\n\n".join(wrong)
