"""REST on a real socket: streams that break and go on, callers that go away, a hundred at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from handrail import Context, Handrail, tool
from handrail.doors.http.api import build_api
from handrail.identity.permissions import console_principal
from handrail.platform import Platform, platform_of
from handrail.platform.middleware import RequestLimits, SecurityMiddleware
from tests.acceptance.command_line import handrail
from tests.acceptance.server_process import running_server
from tests.harness.asgi_server import serve_app as app_serving

pytestmark = pytest.mark.long

DEADLINE = 30.0


class Steps:
    """A body that goes on one step each time the test says so."""

    def __init__(self) -> None:
        self.go = asyncio.Semaphore(0)
        self.stopped = False

    def tool(self) -> Any:
        @tool("count.steps", level="read")
        async def steps(to: int, *, ctx: Context) -> int:
            """Count, one number at a time."""
            try:
                for number in range(to):
                    await self.go.acquire()
                    ctx.append_output(f"{number} ")
                return to
            except asyncio.CancelledError:
                self.stopped = True
                raise

        return steps

    def step(self, number: int = 1) -> None:
        for _ in range(number):
            self.go.release()


@asynccontextmanager
async def served(url: str, *tools: Any, **options: Any) -> AsyncIterator[tuple[Platform, httpx.AsyncClient]]:
    """REST on a free port of loopback, and a client with a key of its owner."""
    async with Handrail(tools, database=url, **options) as hr:
        platform = platform_of(hr)
        assert platform.services is not None
        await platform.services.people.create_tenant("acme", "Acme")
        user = await platform.services.people.add_member(
            console_principal("acme"), "ana@acme.example", ["owner"]
        )
        text, _ = await platform.services.keys.make(
            console_principal("acme"), "mine", "person", user=user.id, permissions=["*"]
        )
        app = SecurityMiddleware(build_api(platform), platform, RequestLimits(rate=None))
        async with app_serving(app) as address:
            try:
                async with httpx.AsyncClient(
                    base_url=address,
                    headers={"authorization": f"Bearer {text.reveal()}"},
                    timeout=DEADLINE,
                    limits=httpx.Limits(max_connections=200),
                ) as http:
                    yield platform, http
            finally:
                platform.closing.set()


async def read(answer: httpx.Response, most: int | None = None) -> list[tuple[str | None, str, str]]:
    """The messages of a stream as they come: id, event and data; at most so many."""
    found: list[tuple[str | None, str, str]] = []
    fields: dict[str, str] = {}
    async for line in answer.aiter_lines():
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields:
            found.append((fields.get("id"), fields["event"], fields["data"]))
            fields = {}
            if len(found) == most:
                break
    return found


@pytest.mark.fault("F16")
@pytest.mark.timeout(120)
async def test_a_stream_that_breaks_anywhere_goes_on_without_loss_or_repetition(database_url: str) -> None:
    steps = Steps()
    async with served(database_url, steps.tool()) as (_, http):
        body = {"arguments": {"to": 8}}
        for cut in range(1, 10):
            got: list[tuple[str | None, str, str]] = []
            async with asyncio.timeout(DEADLINE):
                async with http.stream("POST", "/api/tools/count.steps/stream", json=body) as answer:
                    url = answer.headers["location"]
                    steps.step(cut - 1)
                    got += await read(answer, cut)
                steps.step(3)
                headers = {"last-event-id": got[-1][0] or ""}
                if cut < 6:
                    async with http.stream("GET", url, headers=headers) as answer:
                        got += await read(answer, 1)
                    headers = {"last-event-id": got[-1][0] or ""}
                steps.step(8)
                async with http.stream("GET", url, headers=headers) as answer:
                    got += await read(answer)
            assert [one[0] for one in got] == [str(number) for number in range(1, 11)] + [None]
            assert [one[1] for one in got[1:9]] == ["tool.output_appended"] * 8
            assert (got[0][1], got[9][1], got[10][1]) == ("tool.started", "tool.completed", "outcome")
            while not steps.go.locked():
                await steps.go.acquire()


@pytest.mark.timeout(120)
async def test_a_client_that_goes_away_does_not_stop_the_call(sqlite_url: str) -> None:
    steps = Steps()
    async with served(sqlite_url, steps.tool()) as (_, http), asyncio.timeout(DEADLINE):
        body = {"arguments": {"to": 2}}
        async with http.stream("POST", "/api/tools/count.steps/stream", json=body) as answer:
            [_] = await read(answer, 1)
            url = answer.headers["location"].removesuffix("/events")
        steps.step(2)
        ended = (await http.get(url, params={"wait": 30})).json()
    assert (ended["status"], ended["result"]["data"], steps.stopped) == ("completed", 2, False)


@pytest.mark.req("RA-11")
@pytest.mark.timeout(120)
async def test_a_streamed_call_is_stopped_by_whoever_asks_for_that(sqlite_url: str) -> None:
    steps = Steps()
    async with (
        served(sqlite_url, steps.tool()) as (_, http),
        asyncio.timeout(DEADLINE),
        http.stream("POST", "/api/tools/count.steps/stream", json={"arguments": {"to": 2}}) as answer,
    ):
        url = answer.headers["location"].removesuffix("/events")
        assert (await http.post(f"{url}/cancel")).json()["stopped"] is True
        told = await read(answer)
    assert [one[1] for one in told] == ["tool.started", "tool.cancelled", "outcome"] and steps.stopped


@pytest.mark.timeout(120)
async def test_a_stream_waits_for_a_person_and_tells_how_it_went_on(database_url: str) -> None:
    @tool("mail.send", level="write", policy="always_ask")
    async def send(to: str) -> str:
        """Send a letter."""
        return f"sent to {to}"

    async with served(database_url, send) as (_, http), asyncio.timeout(DEADLINE):
        agent = await http.post("/api/keys", json={"name": "bot", "permissions": []})
        bot = {"authorization": f"Bearer {agent.json()['key']}"}
        body = {"arguments": {"to": "bo"}}
        async with http.stream("POST", "/api/tools/mail.send/stream", json=body, headers=bot) as answer:
            lines = asyncio.create_task(read(answer))
            while not (waiting := (await http.get("/api/approvals")).json()["approvals"]):
                assert not lines.done()
            await http.post(f"{waiting[0]['url']}/approve", json={"arguments": {"to": "cy"}})
            told = await lines
    assert [one[1] for one in told] == [
        "tool.needs_approval",
        "tool.approved",
        "tool.started",
        "tool.completed",
        "outcome",
    ]
    assert [one[0] for one in told] == ["1", "2", "3", "4", None] and "sent to cy" in told[-1][2]


@pytest.mark.fault("F16")
@pytest.mark.timeout(120)
async def test_the_events_of_a_tenant_are_followed_over_a_break(database_url: str) -> None:
    @tool("sum.add", level="read")
    async def add(a: int) -> int:
        """Add one."""
        return a + 1

    async with served(database_url, add) as (_, http), asyncio.timeout(DEADLINE):

        async def call(number: int) -> None:
            await http.post("/api/tools/sum.add/call", json={"arguments": {"a": number}, "session": "desk"})

        accept = {"accept": "text/event-stream"}
        for path in ("/api/events", "/api/sessions/desk/events"):
            await call(0)
            async with http.stream("GET", path, headers=accept) as answer:
                got = await read(answer, 2)
            await call(1)
            headers = accept | {"last-event-id": got[-1][0] or ""}
            async with http.stream("GET", path, headers=headers) as answer:
                await call(2)
                got += await read(answer, 4)
            numbers = [int(one[0] or 0) for one in got]
            assert numbers == list(range(numbers[0], numbers[0] + 6))
            assert [one[1] for one in got] == ["tool.started", "tool.completed"] * 3


@pytest.mark.fault("F05")
@pytest.mark.timeout(120)
async def test_a_hundred_posts_on_a_hundred_connections_make_one_run(database_url: str) -> None:
    runs: list[int] = []

    @tool("bank.pay", level="write")
    async def pay(amount: int) -> int:
        """Pay."""
        runs.append(amount)
        return len(runs)

    async with served(database_url, pay) as (_, http), asyncio.timeout(DEADLINE):

        async def post(amount: int) -> Any:
            headers = {"idempotency-key": "order-7"}
            body = {"arguments": {"amount": amount}}
            return await http.post("/api/tools/bank.pay/call", json=body, headers=headers)

        answers = await asyncio.gather(*(post(5) for _ in range(100)))
        other = await post(6)
        listed = (await http.get("/api/runs")).json()["runs"]
    assert runs == [5] and len(listed) == 1
    assert {one.status_code for one in answers} == {200}
    assert {(one.json()["run_id"], one.json()["result"]["data"]) for one in answers} == {(listed[0]["id"], 1)}
    assert (other.status_code, other.json()["error"]["code"]) == (409, "KEY_REUSED")


@pytest.mark.timeout(120)
async def test_a_stream_ends_when_the_server_closes_and_the_call_goes_on(sqlite_url: str) -> None:
    steps = Steps()
    async with served(sqlite_url, steps.tool()) as (platform, http), asyncio.timeout(DEADLINE):
        async with http.stream(
            "POST", "/api/tools/count.steps/stream", json={"arguments": {"to": 1}}
        ) as answer:
            url = answer.headers["location"]
            platform.closing.set()
            told = await read(answer)
        assert [one[1] for one in told] in (["tool.started"], [])
        steps.step()
        while (ended := (await http.get(url.removesuffix("/events"))).json())["status"] == "running":
            pass
    assert ended["status"] == "completed"


SLOW = """
import asyncio
from pathlib import Path

from handrail import tool


@tool("slow.read", level="read")
async def read(seconds: float, mark: str) -> str:
    \"\"\"Wait, then answer.\"\"\"
    Path(mark).touch()
    await asyncio.sleep(seconds)
    return "waited"
"""


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("seconds", "status"), [(1.5, "completed"), (600.0, "cancelled")])
def test_a_streamed_call_has_its_time_to_finish_when_the_server_stops(
    tmp_path: Path, seconds: float, status: str
) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    with running_server(tmp_path, "--tools", "slow.py", HANDRAIL_STOP_GRACE="3") as server:
        key = server.key("shop", "--for", server.owner())
        body = {"arguments": {"seconds": seconds, "mark": str(tmp_path / "began")}}
        with (
            server.http(key) as http,
            http.stream("POST", "/api/tools/slow.read/stream", json=body) as answer,
        ):
            assert answer.status_code == 200
            server.process.send_signal(signal.SIGTERM)
            answer.read()  # the stream ends; the call has begun and goes on
        server.process.wait(60)
    told = handrail("runs", "list", "--database", "sqlite:///handrail.db", "--json", cwd=tmp_path).json
    assert [run["status"] for run in told] == [status]
