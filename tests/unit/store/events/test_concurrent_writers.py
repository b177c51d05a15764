"""A short sample of the storm of writers; the whole of it is in the soak."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.store.migrate import upgrade
from tests.unit.store.events.concurrent_writers import write_concurrently


@pytest.mark.fault("F15", "F16")
@pytest.mark.req("EV-15", "EV-16", "BY-13")
async def test_writers_that_die_leave_no_gap(database_url: str, tmp_path: Path) -> None:
    upgrade(database_url)
    await write_concurrently(database_url, tmp_path, processes=4, threads=3, calls=8, kills=2, seed=1)
