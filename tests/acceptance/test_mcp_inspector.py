"""The protocol's own Inspector, on its command line, lists and calls Handrail's tools without complaint."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.acceptance.run_command import ROOT
from tests.acceptance.server_process import running_server
from tests.mcp_suite.packages import command, environment
from tests.mcp_suite.tools import SCHEMA, TOOLS

pytestmark = [pytest.mark.timeout(120), pytest.mark.long]
ERAS = ("legacy", "modern")


@dataclass(frozen=True)
class Target:
    """A server, and a key that opens it."""

    address: str
    key: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """`handrail serve` with a database, and a key for its MCP door."""
    folder = tmp_path_factory.mktemp("served")
    with running_server(folder, "--tools", str(ROOT / "tests" / "mcp_suite" / "tools.py")) as server:
        yield Target(f"{server.url}/mcp", server.key("inspector", "--audience", "mcp"))


def inspect(home: Path, target: list[str], method: str, *more: str) -> subprocess.CompletedProcess[str]:
    """What the Inspector says; its files go to a home of its own."""
    return subprocess.run(
        [*command("inspector"), "--cli", "--method", method, "--stored-auth-only", *more, *target],
        env={**environment(), "HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def over_http(served: Target, era: str) -> list[str]:
    header = f"Authorization: Bearer {served.key}"
    return [served.address, "--transport", "http", "--protocol-era", era, "--header", header]


@pytest.mark.req("MC-01", "MC-02", "MC-03")
@pytest.mark.parametrize("era", ERAS)
def test_it_lists_the_tools_and_finds_no_fault_in_a_schema(era: str, served: Target, tmp_path: Path) -> None:
    said = inspect(tmp_path, over_http(served, era), "tools/list", "--strict")
    assert (said.returncode, said.stderr) == (0, "")
    tools = {tool["name"]: tool for tool in json.loads(said.stdout)["tools"]}
    assert tools.keys() == {tool.id for tool in TOOLS}
    assert tools["json_schema_2020_12_tool"]["inputSchema"] == SCHEMA


@pytest.mark.req("MC-01", "MC-02")
@pytest.mark.parametrize("era", ERAS)
def test_it_calls_a_tool(era: str, served: Target, tmp_path: Path) -> None:
    call = ["--tool-name", "test_x_mcp_header", "--tool-args-json", json.dumps({"region": "eu"})]
    said = inspect(tmp_path, over_http(served, era), "tools/call", *call)
    assert (said.returncode, said.stderr) == (0, "")
    answer = json.loads(said.stdout)
    assert answer["content"] == [{"type": "text", "text": "The region is eu."}]


@pytest.mark.parametrize("era", ERAS)
def test_without_a_key_that_holds_it_is_told_to_sign_in(era: str, served: Target, tmp_path: Path) -> None:
    said = inspect(tmp_path, over_http(replace(served, key="none-of-ours"), era), "tools/list")
    assert said.returncode != 0
    assert json.loads(said.stderr)["error"]["code"] == "auth_required"


def over_pipes(era: str) -> list[str]:
    """As a program starts us that was told of the command."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    ours = [sys.executable, "-m", "handrail", "mcp", "--tools", "tests.mcp_suite.tools"]
    return ["--protocol-era", era, "--cwd", str(ROOT), "-e", f"PYTHONPATH={path}", "--", *ours]


@pytest.mark.req("MC-01", "MC-02", "MC-03")
@pytest.mark.parametrize("era", ERAS)
def test_over_pipes_it_lists_and_calls_as_well(era: str, tmp_path: Path) -> None:
    target = over_pipes(era)
    said = inspect(tmp_path, target, "tools/list", "--strict")
    assert (said.returncode, said.stderr) == (0, "")
    tools = {tool["name"]: tool for tool in json.loads(said.stdout)["tools"]}
    assert tools.keys() == {tool.id for tool in TOOLS}
    assert tools["json_schema_2020_12_tool"]["inputSchema"] == SCHEMA
    said = inspect(tmp_path, target, "tools/call", "--tool-name", "test_simple_text")
    assert (said.returncode, said.stderr) == (0, "")
    assert json.loads(said.stdout)["content"][0]["text"] == "This is a simple text response for testing."
