"""Story: an outside agent wants to write, a person changes it a little and agrees, the server dies meanwhile,
and it happens once, as the person wanted it. All of them are real processes.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx

from tests.acceptance.command_line import CommandResult, environment
from tests.acceptance.forked_cli import ForkedCli
from tests.acceptance.mcp_sdk_client import MODERN
from tests.acceptance.run_command import ROOT
from tests.acceptance.server_process import ServerProcess, running_server
from tests.harness.poll import poll_until

DEADLINE = 40.0
TOOLS = '''
"""Payments, each of which leaves a line behind."""

import os

from handrail import tool


@tool("bank.pay", level="write")
async def pay(to: str, amount: int) -> dict[str, object]:
    """Pay somebody. Twice is wrong."""
    with open(os.path.join(os.path.dirname(__file__), "ledger"), "a") as ledger:
        ledger.write(f"{to} {amount}\\n")
    return {"paid": amount, "to": to}
'''
ASKED = {"to": "ana", "amount": 900}
EDITED = {"to": "ana", "amount": 90}


class OutsideClient:
    """The client, as the test hears it."""

    def __init__(self, served: ServerProcess, key: str, mode: str, step: bool) -> None:
        words = [f"{served.url}/mcp", key, mode, "bank__pay", json.dumps(ASKED)]
        words += ["--step"] if step else []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.acceptance.mcp_sdk_client", *words],
            cwd=ROOT,
            env=environment() | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._heard: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._heard.put(json.loads(line))
        self._heard.put(None)

    def until(self, told: str) -> Any:
        """What it got, once it says so."""
        while True:
            heard = self._heard.get(timeout=DEADLINE)
            assert heard is not None, f"it ended without saying {told}"
            if heard["told"] == told:
                return heard.get("answer")

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def outside_client(served: ServerProcess, key: str, mode: str, step: bool) -> Iterator[OutsideClient]:
    client = OutsideClient(served, key, mode, step)
    try:
        yield client
    finally:
        client.close()


@dataclass
class Platform:
    """One platform over a folder, through several lives of its server."""

    folder: Path
    forked_cli: ForkedCli
    database: str = "sqlite:///handrail.db"
    port: int = 0

    def __post_init__(self) -> None:
        (self.folder / "bank.py").write_text(TOOLS)

    @contextmanager
    def server(self) -> Iterator[ServerProcess]:
        words = ("--tools", "bank.py", "--database", self.database)
        with running_server(self.folder, *words, port=self.port, HANDRAIL_MCP_HOLD="0.5") as served:
            self.port = urlsplit(served.url).port or 0
            yield served

    def run(self, *words: str) -> CommandResult:
        """A command beside the server."""
        done = self.forked_cli(*words, "--database", self.database, cwd=self.folder)
        assert done.code == 0, done.out + done.err
        return done

    def key(self, served: ServerProcess, name: str, *more: str) -> str:
        """A new key of the owner."""
        return self.run("keys", "add", name, "--for", served.owner(), *more).out.strip()

    def waiting(self, reviewer: httpx.Client) -> list[Any]:
        listed = reviewer.get("/api/approvals")
        assert listed.status_code == 200, listed.text
        return list(listed.json()["approvals"])

    def decide(self, reviewer: httpx.Client) -> None:
        """A person looks at what waits, pays less, and agrees."""
        [asked] = self.waiting(reviewer)
        assert (asked["tool"], asked["arguments"], asked["status"]) == ("bank.pay", ASKED, "pending")
        assert self.ledger() == []
        decided = reviewer.post(f"{asked['url']}/approve", json={"arguments": EDITED})
        assert decided.status_code == 200, decided.text
        assert decided.json()["edited_arguments"] == EDITED

    def ledger(self) -> list[str]:
        file = self.folder / "ledger"
        return file.read_text().splitlines() if file.exists() else []


Killed = Literal["before the decision", "between decision and collection"]


def structured_content(answer: Any) -> Any:
    assert not answer["isError"], answer
    return answer["structuredContent"]


def play(platform: Platform, mode: str, killed: Killed) -> None:
    """The whole story: `killed` says when the server dies."""
    before = killed == "before the decision"
    with platform.server() as first:
        agent = platform.key(first, "agent", "--agent", "ops", "--audience", "mcp")
        person = platform.key(first, "reviewer", "--kind", "person", "--audience", "api")
        with outside_client(first, agent, mode, step=not before) as client, first.http(person) as reviewer:
            waits = client.until("waits")
            assert ("requestState" in waits) is (mode == MODERN)
            assert waits["_meta"]["handrail/approval"]["status"] == "pending"
            if not before:
                platform.decide(reviewer)
                ended = {"status": "completed", "tool": "bank.pay"}
                poll_until(lambda: reviewer.get("/api/runs", params=ended).json()["runs"])
            first.kill()
            if before:
                client.until("gone")
            with platform.server() as second, second.http(person) as reviewer:
                assert second.url == first.url
                if before:
                    platform.decide(reviewer)
                else:
                    client.go_on()
                done = client.until("done")
                assert structured_content(done) == {"paid": 90, "to": "ana"}
                assert done["_meta"]["handrail/approval"]["arguments"] == EDITED
                assert "A person changed the arguments" in done["content"][-1]["text"]
                assert client.process.wait(DEADLINE) == 0
                assert platform.waiting(reviewer) == []
                assert second.stop()[0] == 0
    assert platform.ledger() == ["ana 90"]
    check_event_log(platform)


def check_event_log(platform: Platform) -> None:
    """What stands in the log afterwards, for whoever asks at the command line."""
    shown = platform.run("events", "--json").json
    assert [one["type"] for one in shown] == [
        "tool.needs_approval",
        "tool.approved",
        "tool.started",
        "tool.completed",
    ]
    asked, approved, started, completed = shown
    assert asked["input"] == ASKED and asked["source"] == "mcp" and asked["agent"] == "ops"
    assert approved["input"] == EDITED and approved["edited"] and approved["by"] == asked["user"]
    assert started["input"] == EDITED and completed["result"]["data"] == {"paid": 90, "to": "ana"}
    assert len({one["call_id"] for one in shown}) == 1
    platform.run("verify-log")
