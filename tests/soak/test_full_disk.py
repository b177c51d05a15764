"""A disk that is full after every number of writes."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from handrail.databases import upgrade
from tests.harness.crashing import PRELOAD
from tests.harness.fullness import fill
from tests.harness.nursery import Nursery

WRITES = 120


@pytest.mark.fault("F10")
@pytest.mark.req("BY-12", "EV-15")
def test_every_write_fails_once(tmp_path: Path) -> None:
    template = tmp_path / "handrail.db"
    upgrade(f"sqlite:///{template}")
    with Nursery(*PRELOAD, "tests.harness.fullness") as nursery:
        refused = []
        for writes in (*range(WRITES), 10_000):
            place = Path(tempfile.mkdtemp(dir=tmp_path))
            refused.append(fill(nursery, place, f"sqlite:///{shutil.copy(template, place)}", writes))
    assert refused[0] > 0 and refused[-1] == 0
