"""BY-01: the same call gives the same verdict, code, events and payload through every door."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.acceptance.forked_cli import ForkedCli
from tests.parity.cases import CASES, Case, one_of_each
from tests.parity.doors.anthropic import Anthropic
from tests.parity.doors.bridge_driver import Bridge
from tests.parity.doors.cli import Cli
from tests.parity.doors.langchain import LangChainAinvoke, LangChainInvoke, LangChainMessage
from tests.parity.doors.mcp_http import mcp_over_http
from tests.parity.doors.mcp_stdio import mcp_over_stdio
from tests.parity.doors.openai import OpenAIChat, OpenAIResponses
from tests.parity.doors.pydantic_ai import PydanticAI
from tests.parity.doors.rest import Rest, rest
from tests.parity.doors.rest_stream_async import RestAsync, RestStream
from tests.parity.people import open_shop
from tests.parity.recorded_handrail import RecordedHandrail
from tests.parity.run_table import PassResult, compare

BRIDGES = (
    OpenAIChat,
    OpenAIResponses,
    Anthropic,
    LangChainInvoke,
    LangChainAinvoke,
    LangChainMessage,
    PydanticAI,
)


def holds(passed: PassResult, cases: Sequence[Case] = CASES) -> None:
    """Nothing differed, and nothing was left out that is not declared."""
    if passed.differences:
        pytest.fail("\n\n".join(["", *passed.differences]), pytrace=False)
    assert len(passed.asked) + len(passed.left_out) == len(cases)
    assert all(lacking for _, lacking in passed.left_out)


@pytest.mark.req("BY-01")
@pytest.mark.parametrize("bridge", BRIDGES, ids=lambda one: one.name)
async def test_a_bridge_does_as_the_library(bridge: type[Bridge], tmp_path: Path) -> None:
    async with open_shop(tmp_path) as reference, open_shop(tmp_path) as hr:
        passed = await compare(bridge(RecordedHandrail(hr)), RecordedHandrail(reference), CASES)
    holds(passed)


@pytest.mark.req("BY-01")
@pytest.mark.parametrize("way", [Rest, RestStream, RestAsync], ids=lambda one: one.name)
async def test_rest_does_as_the_library(way: type[Rest], tmp_path: Path) -> None:
    async with (
        open_shop(tmp_path) as reference,
        open_shop(tmp_path) as hr,
        rest(RecordedHandrail(hr), "api", way) as door,
    ):
        passed = await compare(door, RecordedHandrail(reference), CASES)
    holds(passed)


@pytest.mark.req("BY-01")
@pytest.mark.parametrize("modern", [True, False], ids=["2026", "2025"])
async def test_mcp_over_http_does_as_the_library(modern: bool, tmp_path: Path) -> None:
    async with (
        open_shop(tmp_path) as reference,
        open_shop(tmp_path) as hr,
        mcp_over_http(RecordedHandrail(hr), modern) as door,
    ):
        passed = await compare(door, RecordedHandrail(reference), CASES)
    holds(passed)


@pytest.mark.req("BY-01")
@pytest.mark.timeout(300)
async def test_mcp_over_stdio_does_as_the_library(tmp_path: Path) -> None:
    async with open_shop(tmp_path) as reference, mcp_over_stdio(tmp_path) as door:
        passed = await compare(door, RecordedHandrail(reference), one_of_each())
    holds(passed, one_of_each())


@pytest.mark.req("BY-01")
@pytest.mark.timeout(300)
async def test_the_command_line_does_as_the_library(forked_cli: ForkedCli, tmp_path: Path) -> None:
    door = Cli(forked_cli, tmp_path)
    try:
        async with open_shop(tmp_path) as hr:
            passed = await compare(door, RecordedHandrail(hr), one_of_each())
    finally:
        await door.close()
    holds(passed, one_of_each())
