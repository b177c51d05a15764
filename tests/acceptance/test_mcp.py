"""MCP with real processes: a server that is killed while a call waits, and one that a program starts."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import InputRequiredResult

from tests.acceptance.command_line import environment, handrail
from tests.acceptance.server_process import ServerProcess, running_server
from tests.contract.mcp.server import MODERN, until

pytestmark = pytest.mark.long

PRESS = """
import asyncio
from pathlib import Path

from handrail import Context, tool


@tool("posts.publish", level="write")
async def publish(title: str) -> dict[str, str]:
    \"\"\"Publish a post.\"\"\"
    with Path("published").open("a") as file:
        file.write(f"{title}\\n")
    return {"published": title}


@tool("posts.count", level="read")
async def count(ctx: Context) -> int:
    \"\"\"Count the posts.\"\"\"
    print("this must not reach the wire é")
    ctx.metadata(title="Counting")
    return 0


@tool("posts.watch", level="read")
async def watch() -> str:
    \"\"\"Wait for a post that never comes.\"\"\"
    Path("watching").touch()
    try:
        await asyncio.sleep(600)
    finally:
        Path("watched").touch()
    return "never"
"""
NAME, ARGS = "posts__publish", {"title": "spring"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "press.py").write_text(PRESS)
    return tmp_path


def published(folder: Path) -> list[str]:
    file = folder / "published"
    return file.read_text().split() if file.exists() else []


@asynccontextmanager
async def client_of(served: ServerProcess, key: str, mode: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(f"{served.url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


async def called(served: ServerProcess, key: str, mode: str, state: str | None = None) -> Any:
    """One round: a client of its own makes the call, and brings back what it was given."""
    async with client_of(served, key, mode) as client:
        return await client.session.call_tool(NAME, ARGS, request_state=state, allow_input_required=True)


@pytest.mark.req("BY-06", "MC-09")
@pytest.mark.fault("F02")
@pytest.mark.timeout(240)
@pytest.mark.parametrize(("mode", "killed"), [(MODERN, "before the answer"), ("legacy", "after it")])
def test_a_wait_outlives_the_server_and_the_tool_runs_once(folder: Path, mode: str, killed: str) -> None:
    brief: Any = {"HANDRAIL_MCP_HOLD": "0.3", "HANDRAIL_LEASE": "2"}
    words = ("--tools", "press.py")
    database = ("--database", "sqlite:///handrail.db")
    with running_server(folder, *words, **brief) as first:
        key = first.key("ops", "--for", first.owner(), "--audience", "mcp")
        port = int(first.url.rpartition(":")[2])
        begun = asyncio.run(called(first, key, mode))
        state = begun.request_state if isinstance(begun, InputRequiredResult) else None
        assert (state is not None) == (mode == MODERN)
        (asked,) = handrail("approvals", "list", "--json", *database, cwd=folder).json
        if killed == "before the answer":
            first.kill()
        edited = ("--edit", '{"title": "summer"}')
        done = handrail("approvals", "approve", asked["id"], *edited, *database, *words, cwd=folder, **brief)
        assert done.code == 0, done.err
        first.kill()
    with running_server(folder, *words, port=port, **brief) as second:
        result = asyncio.run(called(second, key, mode, state))
        for _ in range(50):
            if not isinstance(result, InputRequiredResult) and "NEEDS_APPROVAL" not in str(result.content):
                break
            state = result.request_state if isinstance(result, InputRequiredResult) else None
            result = asyncio.run(called(second, key, mode, state))
        assert published(folder) == ["summer"], "once, as the reviewer wrote it"
        assert not result.is_error and result.structured_content == {"published": "summer"}
        assert 'ran with: {"title": "summer"}' in str(result.content[-1].text)
        anew = asyncio.run(called(second, key, mode))
        assert isinstance(anew, InputRequiredResult) or "NEEDS_APPROVAL" in str(anew.content)
        assert published(folder) == ["summer"]
        told = handrail("verify-log", *database, cwd=folder)
        assert told.code == 0, told.out + told.err


@asynccontextmanager
async def over_stdio(
    folder: Path, mode: str, *words: str, env: dict[str, str] | None = None, **more: Any
) -> AsyncIterator[Client]:
    command = ["-m", "handrail", "mcp", "--tools", "press.py", *words]
    told = environment(**(env or {})) | {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    started = StdioServerParameters(command=sys.executable, args=command, env=told, cwd=folder)
    async with Client(started, mode=mode, **more) as client:
        yield client


BOTH = pytest.mark.parametrize("mode", [MODERN, "legacy"])


@BOTH
@pytest.mark.req("MC-01")
async def test_a_program_that_starts_us_lists_and_calls_as_an_agent(folder: Path, mode: str) -> None:
    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    async with over_stdio(folder, mode) as client:
        names = [one.name for one in (await client.list_tools()).tools]
        assert names == ["posts__count", "posts__publish", "posts__watch"]
        result = await client.call_tool("posts__count", {}, progress_callback=hear)
        assert not result.is_error and heard == ["Counting"]
        refused = await client.call_tool(NAME, ARGS)
        assert refused.is_error and "NEEDS_APPROVAL" in str(refused.content)
        assert "Nobody can be asked here" in str(refused.content), "and no client waits for that"
    assert published(folder) == []


def test_a_client_that_is_gone_ends_the_server_without_a_word(folder: Path) -> None:
    command = [sys.executable, "-m", "handrail", "mcp", "--tools", "press.py"]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    reading, writing = os.pipe()
    os.close(reading)
    with Popen(command, cwd=folder, env=environment(), stdin=PIPE, stdout=writing, stderr=PIPE) as server:
        os.close(writing)
        _, said = server.communicate(json.dumps(asked).encode() + b"\n", timeout=60)
    assert said == b""


@BOTH
async def test_a_cancelled_request_really_stops_the_body(folder: Path, mode: str) -> None:
    async with over_stdio(folder, mode) as client:
        calling = asyncio.create_task(client.call_tool("posts__watch", {}))
        await _there(folder / "watching")
        calling.cancel()
        await asyncio.wait([calling])
        await _there(folder / "watched")
        assert not (await client.call_tool("posts__count", {})).is_error


async def test_a_program_of_2025_hears_that_its_list_is_another_one(folder: Path) -> None:
    database = "sqlite:///handrail.db"
    with running_server(folder, "--tools", "press.py") as served:
        key = served.key("ops", "--for", served.owner())
        changed = asyncio.Event()

        async def hear(message: Any) -> None:
            if getattr(message, "method", None) == "notifications/tools/list_changed":
                changed.set()

        given: Any = {"env": {"HANDRAIL_API_KEY": key}, "message_handler": hear}
        async with over_stdio(folder, "legacy", "--database", database, **given) as client:
            await client.list_tools()
            with served.http(served.key("admin", "--for", served.owner())) as http:
                answer = http.patch("/api/tools/posts-count", json={"enabled": False})
                assert answer.status_code < 300, answer.text
            await asyncio.wait_for(changed.wait(), 20)
            assert "posts__count" not in [one.name for one in (await client.list_tools()).tools]


@pytest.mark.fault("F28")
def test_a_key_that_does_not_hold_starts_nothing(folder: Path) -> None:
    database = ("--database", "sqlite:///handrail.db")
    with running_server(folder, "--tools", "press.py") as served:
        other = served.key("rest", "--for", served.owner(), "--audience", "api")
    done = handrail("mcp", *database, "--tools", "press.py", cwd=folder, HANDRAIL_API_KEY=other)
    assert done.code != 0 and done.out == "" and "HANDRAIL_API_KEY" in done.err
    done = handrail("mcp", "--tools", "press.py", cwd=folder, HANDRAIL_API_KEY="x")
    assert done.code != 0 and "no database" in done.err


async def _there(file: Path) -> None:
    await until(file.exists)
