"""50 writers into one session, some of them killed, while readers come and go."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.store.migrate import upgrade
from tests.unit.store.events.concurrent_writers import write_concurrently

PROCESSES, THREADS, CALLS, KILLS = 10, 5, 40, 4
SEEDS = (1, 2, 3)


@pytest.mark.fault("F15", "F16")
@pytest.mark.req("EV-15", "EV-16", "BY-13")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", SEEDS)
async def test_fifty_writers_with_kills(database_url: str, tmp_path: Path, seed: int) -> None:
    upgrade(database_url)
    given = {"processes": PROCESSES, "threads": THREADS, "calls": CALLS, "kills": KILLS}
    await write_concurrently(database_url, tmp_path, **given, seed=seed)
