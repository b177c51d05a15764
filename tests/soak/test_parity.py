"""The whole table through the doors that start a process, and through the others on a database."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.forked_cli import ForkedCli
from tests.parity.cases import CASES
from tests.parity.doors.bridge_driver import Bridge
from tests.parity.doors.cli import Cli
from tests.parity.doors.mcp_http import mcp_over_http
from tests.parity.doors.mcp_stdio import mcp_over_stdio
from tests.parity.doors.rest import Rest, rest
from tests.parity.doors.rest_stream_async import RestAsync, RestStream
from tests.parity.people import open_shop
from tests.parity.recorded_handrail import RecordedHandrail
from tests.parity.run_table import compare
from tests.parity.test_parity import BRIDGES, holds


@pytest.mark.req("BY-01")
async def test_the_command_line_does_as_the_library(forked_cli: ForkedCli, tmp_path: Path) -> None:
    door = Cli(forked_cli, tmp_path)
    try:
        async with open_shop(tmp_path) as hr:
            passed = await compare(door, RecordedHandrail(hr), CASES)
    finally:
        await door.close()
    holds(passed)


@pytest.mark.req("BY-01")
async def test_mcp_over_stdio_does_as_the_library(tmp_path: Path) -> None:
    async with open_shop(tmp_path) as reference, mcp_over_stdio(tmp_path) as door:
        passed = await compare(door, RecordedHandrail(reference), CASES)
    holds(passed)


@pytest.mark.req("BY-01")
@pytest.mark.parametrize("way", [Rest, RestStream, RestAsync], ids=lambda one: one.name)
async def test_rest_does_as_the_library_on_a_database(
    way: type[Rest], tmp_path: Path, database_url: str
) -> None:
    async with (
        open_shop(tmp_path) as reference,
        open_shop(tmp_path, database_url) as hr,
        rest(RecordedHandrail(hr), "api", way) as door,
    ):
        passed = await compare(door, RecordedHandrail(reference), CASES)
    holds(passed)


@pytest.mark.req("BY-01")
@pytest.mark.parametrize("modern", [True, False], ids=["2026", "2025"])
async def test_mcp_over_http_does_as_the_library_on_a_database(
    modern: bool, tmp_path: Path, database_url: str
) -> None:
    async with (
        open_shop(tmp_path) as reference,
        open_shop(tmp_path, database_url) as hr,
        mcp_over_http(RecordedHandrail(hr), modern) as door,
    ):
        passed = await compare(door, RecordedHandrail(reference), CASES)
    holds(passed)


@pytest.mark.req("BY-01")
@pytest.mark.parametrize("bridge", BRIDGES, ids=lambda one: one.name)
async def test_a_bridge_does_as_the_library_on_a_database(
    bridge: type[Bridge], tmp_path: Path, sqlite_url: str
) -> None:
    async with open_shop(tmp_path) as reference, open_shop(tmp_path, sqlite_url) as hr:
        passed = await compare(bridge(RecordedHandrail(hr)), RecordedHandrail(reference), CASES)
    holds(passed)
