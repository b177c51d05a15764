"""Lines that are no messages, over standard input: the server goes on serving whoever started it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from tests.acceptance.command_line import environment
from tests.contract.http_attacks.attacked_server import inside_text, parse_strict_json
from tests.contract.http_attacks.payloads import NOT_JSON, NUMBERS
from tests.contract.http_attacks.rpc_messages import INTERNAL_ERROR, RpcMessage, broken

TOOLS = '''
from typing import Any
from handrail import tool

@tool("echo.count", level="read")
async def back(anything: Any = None) -> Any:
    """Give back what was given."""
    return {"anything": anything}
'''
BEGIN = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "fuzz", "version": "1"},
}


class StdioServer:
    """A server over pipes, whose client says what it likes."""

    def __init__(self, folder: Path) -> None:
        (folder / "echoing.py").write_text(TOOLS)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "handrail", "mcp", "--tools", "echoing"],
            cwd=folder,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._number = count()
        self.say(json.dumps({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": BEGIN}).encode())
        assert "result" in self.hear()
        self.say(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def say(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line.replace(b"\n", b" ") + b"\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode()
        assert line, "the server is gone"
        found = parse_strict_json(line)
        assert found["jsonrpc"] == "2.0"
        assert found.get("error", {}).get("code") != INTERNAL_ERROR, found
        return dict(found)

    def answers(self, line: bytes) -> list[dict[str, Any]]:
        """All that is said to a line, before the answer to a question that comes after it."""
        mine = f"ping-{next(self._number)}"
        self.say(line)
        self.say(json.dumps({"jsonrpc": "2.0", "id": mine, "method": "ping"}).encode())
        found: list[dict[str, Any]] = []
        while (heard := self.hear()).get("id") != mine:
            assert inside_text(json.dumps(heard), line.decode("latin-1")) is None, heard
            found.append(heard)
        assert "result" in heard
        return found

    def close(self) -> None:
        """Say no more, and let it end by itself."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            assert self.process.wait(20) == 0
        finally:
            self.process.kill()
            self.process.wait(20)
            if self.process.stdout is not None:
                self.process.stdout.close()


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioServer]:
    line = StdioServer(tmp_path_factory.mktemp("stdio"))
    try:
        yield line
    finally:
        line.close()


@pytest.mark.fault("F30")
@pytest.mark.parametrize("name", NOT_JSON)
def test_after_a_line_that_is_not_json_it_goes_on(line: StdioServer, name: str) -> None:
    for said in line.answers(NOT_JSON[name]):
        assert said.get("id") in (None, 1)


@pytest.mark.fault("F30")
@settings(max_examples=150, derandomize=True, database=None)
@given(sent=broken())
def test_after_a_message_with_something_wrong_it_goes_on(line: StdioServer, sent: RpcMessage) -> None:
    line.answers(json.dumps(sent.body).encode())


@pytest.mark.fault("F30")
@pytest.mark.parametrize("number", [*NUMBERS, "NaN", "Infinity", "-Infinity"], ids=lambda one: one[:8])
def test_a_number_of_any_size_comes_back_as_json_or_not_at_all(line: StdioServer, number: str) -> None:
    call = {"name": "echo.count", "arguments": {"anything": ["<number>"]}}
    sent = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    for _ in range(2):
        line.answers(sent.replace('"<number>"', number).encode())
