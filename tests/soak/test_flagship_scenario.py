"""The story with every client and every moment to die, on every database."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.flagship_scenario import Killed, Platform, play
from tests.acceptance.forked_cli import ForkedCli
from tests.acceptance.mcp_sdk_client import MODERN


@pytest.mark.req("BY-01", "BY-02", "BY-03", "BY-06", "BY-12", "BY-13")
@pytest.mark.parametrize("killed", ["before the decision", "between decision and collection"])
@pytest.mark.parametrize("mode", [MODERN, "legacy"], ids=["2026", "2025"])
def test_an_outside_agent_asks_a_person_agrees_the_server_dies_and_it_happens_once(
    mode: str, killed: Killed, database_url: str, forked_cli: ForkedCli, tmp_path: Path
) -> None:
    play(Platform(tmp_path, forked_cli, database_url), mode, killed)
