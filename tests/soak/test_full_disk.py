"""A disk that is full after every number of writes."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from handrail.databases import upgrade
from tests.harness.crashes import PRELOAD
from tests.harness.fork_server import ForkServer
from tests.harness.full_disk import call_on_full_disk

WRITES = 120


@pytest.mark.fault("F10")
@pytest.mark.req("BY-12", "EV-15")
def test_every_write_fails_once(tmp_path: Path) -> None:
    template = tmp_path / "handrail.db"
    upgrade(f"sqlite:///{template}")
    with ForkServer(*PRELOAD, "tests.harness.full_disk") as fork_server:
        refused = []
        for writes in (*range(WRITES), 10_000):
            place = Path(tempfile.mkdtemp(dir=tmp_path))
            refused.append(
                call_on_full_disk(fork_server, place, f"sqlite:///{shutil.copy(template, place)}", writes)
            )
    assert refused[0] > 0 and refused[-1] == 0
