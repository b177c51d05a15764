"""The story of an outside agent, a person and a server that dies; see `story`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.flagship_scenario import Killed, Platform, play
from tests.acceptance.forked_cli import ForkedCli
from tests.acceptance.mcp_sdk_client import MODERN

pytestmark = pytest.mark.long


@pytest.mark.req("BY-01", "BY-02", "BY-03", "BY-06", "BY-12", "BY-13")
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("mode", "killed"),
    [(MODERN, "before the decision"), ("legacy", "between decision and collection")],
    ids=["2026", "2025"],
)
def test_an_outside_agent_asks_a_person_agrees_the_server_dies_and_it_happens_once(
    mode: str, killed: Killed, forked_cli: ForkedCli, tmp_path: Path
) -> None:
    play(Platform(tmp_path, forked_cli), mode, killed)
