"""Foreign MCP servers at an address: both generations, credentials, lost connections, killed servers."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from handrail import Handrail, Principal
from handrail.bridges.mcp import McpToolset, Server, ToolRule
from handrail.ext.guard import approve
from handrail.testing import ScriptedApprover
from tests.harness import poll
from tests.harness.foreign_mcp_server import DEADLINE, ROOT, ForeignServer

pytestmark = pytest.mark.long

ANA, BO = Principal(tenant="acme", user="ana"), Principal(tenant="acme", user="bo")


@pytest.fixture
def foreign(tmp_path: Path) -> ForeignServer:
    return ForeignServer(tmp_path)


@contextmanager
def other(kind: str, file: Path, port: int = 0) -> Iterator[str]:
    """Another server: its address."""
    file.unlink(missing_ok=True)
    words = [sys.executable, "-m", f"tests.harness.mcp_servers.{kind}", str(file), str(port)]
    process = subprocess.Popen(words, cwd=ROOT)
    try:
        poll.poll_until(lambda: file.exists() or process.poll() is not None)
        assert process.poll() is None, "the server did not start"
        yield f"http://127.0.0.1:{file.read_text()}/mcp"
    finally:
        process.kill()
        process.wait()


@pytest.mark.req("MC-05", "MC-07")
@pytest.mark.parametrize("answers", ["streams", "documents"])
async def test_a_server_at_an_address_is_called_and_what_it_breaks_is_told(
    foreign: ForeignServer, answers: str
) -> None:
    words = ("--json",) if answers == "documents" else ()
    bound: dict[str, Any] = {
        "max_bytes": 200_000,
        "tools": {"echo": ToolRule("read"), "add": ToolRule("read")},
    }
    with foreign.at_address("far", *words, **bound) as server:
        approver = ScriptedApprover(always=approve(by="bo"))
        async with Handrail([McpToolset(server)], approver=approver) as hr:
            many = await asyncio.gather(*(hr.call("far.echo", {"text": f"{n}"}) for n in range(20)))
            assert [out.to_model() for out in many] == [f"{n}" for n in range(20)]
            assert (await hr.call("far.add", {"a": 1, "b": 2})).result.data == {"sum": 3}
            huge = await hr.call("far.huge")
            assert (huge.status, huge.code) == ("failed", "INVALID_OUTPUT")
            assert "more than 200000 bytes" in str(huge.result.error)
            asked = await hr.call("far.ask")
            assert asked.status == "failed"
            lost = await hr.call("far.die")
            assert (lost.status, lost.code) == ("needs_review", "UNKNOWN_OUTCOME")
            assert foreign.effects.count("die") == 1
            down = await hr.call("far.add", {"a": 1, "b": 2})
            assert (down.status, down.code) == ("failed", "TOOL_UNAVAILABLE")


@pytest.mark.req("BY-12", "MC-07")
async def test_an_answer_that_is_lost_breaks_no_other_and_a_server_that_is_back_is_used(
    foreign: ForeignServer,
) -> None:
    with foreign.at_address(tools={"slow": ToolRule("read"), "echo": ToolRule("read")}) as server:
        port = int(str(server.url).rpartition(":")[2].split("/")[0])
        async with Handrail([McpToolset(server)], approver=ScriptedApprover(always=approve(by="bo"))) as hr:
            assert (await hr.call("far.echo", {"text": "hi"})).status == "completed"
            slow = [asyncio.ensure_future(hr.call(name)) for name in ("far.slow", "far.wipe", "far.die")]
            outs = await asyncio.gather(*slow)
            assert {out.status for out in outs} <= {"failed", "needs_review", "completed"}
            assert outs[2].code == "UNKNOWN_OUTCOME" and foreign.effects.count("die") == 1
            assert (await hr.call("far.echo", {"text": "hi"})).code == "TOOL_UNAVAILABLE"
            with foreign.at_address(port=port):
                assert (await hr.call("far.echo", {"text": "again"})).to_model() == "again"


async def test_a_server_in_the_high_level_style_is_called(tmp_path: Path) -> None:
    with other("friendly", tmp_path / "port") as url:
        async with Handrail([McpToolset(Server("nice", url=url, level="read"))]) as hr:
            assert (await hr.call("nice.greet", {"name": "Ana"})).result.data == {"result": "Hello Ana"}
            totals = await hr.call("nice.totals", {"numbers": "[1, 2]"})
            assert totals.result.data == {"count": 2, "sum": 3}


@pytest.mark.req("MC-07", "BY-12")
async def test_a_session_of_2025_that_the_server_forgot_is_opened_anew(tmp_path: Path) -> None:
    file = tmp_path / "port"
    with other("old_web", file) as url:
        port, toolset = int(file.read_text()), McpToolset(Server("old", url=url))
        hr = Handrail([toolset], approver=ScriptedApprover(always=approve(by="bo")))
        assert (await hr.call("old.echo", {"a": 1})).to_model() == '{"a": 1}'
        late = await hr.call("old.late")
        assert (late.status, late.code) == ("needs_review", "UNKNOWN_OUTCOME")
    with other("old_web", file, port):  # it knows nothing of the session
        assert (await hr.call("old.echo", {"a": 2})).to_model() == '{"a": 2}'
        await hr.close()


@pytest.mark.req("BY-19")
async def test_each_user_calls_with_a_credential_of_their_own_that_nobody_sees(
    foreign: ForeignServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    kept = {"ana": "token-of-ana-1", "bo": "token-of-bo-22"}
    told: list[Any] = []

    def source(name: str, who: Principal) -> str | None:
        return kept.get(who.user or "") if name == "far_token" else None

    with foreign.at_address(level="read", secret="far_token") as server:
        async with Handrail([McpToolset(server)], secrets=source) as hr:
            hr.subscribe(told.append)
            for who in (ANA, BO, ANA):
                out = await hr.call("far.whoami", principal=who)
                assert out.to_model() == "Bearer •••"
            missing = await hr.call("far.whoami", principal=Principal(tenant="acme", user="eve"))
            assert missing.code == "SECRET_MISSING" and "far_token" in str(missing.result.error)
            menu = await hr.menu(ANA)
    everything = f"{told} {menu} {caplog.text}"
    assert not any(value in everything for value in kept.values())
    assert foreign.effects == ["whoami token-of-ana-1", "whoami token-of-bo-22", "whoami token-of-ana-1"]


@pytest.mark.req("MC-07", "BY-19")
async def test_a_credential_that_is_refused_is_told(foreign: ForeignServer) -> None:
    with foreign.at_address("far", "--only", "right", secret="far_token") as server:
        async with Handrail([McpToolset(server)], secrets={"far_token": "wrong"}) as hr:
            out = await hr.call("far.echo", {"text": "x"})
            assert out.code == "TOOL_UNAVAILABLE"
            assert "does not accept the credential" in str(out.result.error)


async def test_changes_are_heard_of_on_a_stream_of_their_own(foreign: ForeignServer) -> None:
    first = {"name": "note", "description": "One.", "inputSchema": {"type": "object"}}
    change = {"name": "change", "description": "Change.", "inputSchema": {"type": "object"}}
    foreign.say(first, change)
    with foreign.at_address(level="read") as server:
        async with Handrail([McpToolset(server)]) as hr:
            assert (await hr.call("far.note")).status == "completed"
            foreign.say({**first, "description": "Two."}, change)
            assert (await hr.call("far.change")).status == "completed"

            deadline = time.monotonic() + DEADLINE
            while (await hr.call("far.note")).code != "TOOL_CHANGED":
                assert time.monotonic() < deadline, "nobody heard of it"
                await asyncio.sleep(0.02)
