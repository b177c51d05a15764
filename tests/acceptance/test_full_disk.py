"""A full disk: whoever calls is told so, nothing happens off the record, and the database is intact."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.databases import upgrade
from tests.harness import raw_database
from tests.harness.crashes import PRELOAD
from tests.harness.fork_server import ForkServer
from tests.harness.full_disk import call_on_full_disk
from tests.harness.ledger import Ledger

WRITES = (0, 3, 9, 14, 20, 30)
"""After so many writes the next one fails; `make soak` tries every number."""


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    with ForkServer(*PRELOAD, "tests.harness.full_disk") as fork_server:
        yield fork_server


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("template") / "handrail.db"
    upgrade(f"sqlite:///{file}")
    return file


@pytest.mark.timeout(120)
@pytest.mark.req("BY-12", "EV-15")
@pytest.mark.fault("F10")
@pytest.mark.parametrize("writes", WRITES)
def test_a_full_disk_is_said_clearly_and_forgotten_when_there_is_room(
    fork_server: ForkServer, template: Path, tmp_path: Path, writes: int
) -> None:
    refused = call_on_full_disk(fork_server, tmp_path, f"sqlite:///{shutil.copy(template, tmp_path)}", writes)
    assert refused > 0 or writes > 0


@pytest.mark.fault("F10")
@pytest.mark.parametrize("free_bytes", [0, 4_096, 100_000, 300_000])
def test_a_database_that_could_not_be_made_is_made_when_there_is_room(
    fork_server: ForkServer, tmp_path: Path, free_bytes: int
) -> None:
    url = f"sqlite:///{tmp_path / 'handrail.db'}"
    with Ledger(tmp_path) as ledger:
        path = str(ledger.path)
        assert (
            fork_server.run(
                "tests.harness.full_disk:open_within", url=url, ledger=path, free_bytes=free_bytes
            )
            == 0
        )
        [refused] = ledger.of("not opened")
        assert "disk" in refused["why"] or "large" in refused["why"]
        assert (
            fork_server.run("tests.harness.full_disk:open_within", url=url, ledger=path, free_bytes=10**9)
            == 0
        )
        assert len(ledger.of("opened")) == 1
    assert raw_database.rows(url, "PRAGMA integrity_check") == [{"integrity_check": "ok"}]
