"""A call that waits for a person: held, brought back, collected once. In memory, on SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, InputRequiredResult

from handrail import Handrail, Principal, tool
from handrail.core.guard.approval_request import ApprovalRequest
from handrail.platform import Platform, platform_of
from handrail.store.tenants import create_tenant
from tests.contract.backends import KINDS
from tests.contract.mcp.server import MODERN, OpenServer, opened, until
from tests.contract.mcp.shop_tools import ANA, BO, REVIEWER

pytestmark = [pytest.mark.req("BY-06", "MC-09")]
NAME, ARGS = "posts__publish", {"title": "spring"}


@dataclass
class Press:
    """Where posts are published, and how often."""

    hr: Handrail
    platform: Platform
    door: OpenServer
    published: list[str]
    keys: dict[str, str] = field(default_factory=dict)

    async def asked(self, number: int = 1) -> list[ApprovalRequest]:
        """The open questions, once there are so many."""
        async with asyncio.timeout(20):
            while True:
                found = await self.hr.approvals.list(REVIEWER)
                if len(found) >= number:
                    return found
                await asyncio.sleep(0.01)

    def held(self, asked: ApprovalRequest) -> int:
        """How many wait for the end of a call."""
        return len(self.hr._resumer.outcomes._waiting.get(asked.call.id or "", ()))

    async def call(self, client: Client, state: str | None = None, **args: Any) -> Any:
        return await client.session.call_tool(
            NAME, {**ARGS, **args}, request_state=state, allow_input_required=True
        )


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest) -> Iterator[str | None]:
    if request.param == "memory":
        yield None
    else:
        name = "postgres_url" if request.param == "postgresql" else "sqlite_url"
        yield str(request.getfixturevalue(name))


@asynccontextmanager
async def press(url: str | None, hold: float = 0.2, **options: Any) -> AsyncIterator[Press]:
    published: list[str] = []

    @tool("posts.publish", level="write", requires="posts.write")
    async def publish(title: str) -> dict[str, str]:
        """Publish a post."""
        published.append(title)
        return {"published": title}

    async with Handrail([publish], database=url, **options) as hr:
        keys = {"ana-key": ANA, "bo-key": BO}
        platform = platform_of(hr, keys) if url is None else platform_of(hr)
        shown = {name: name for name in keys}
        if platform.services is not None:
            for name, who in keys.items():
                with platform.services.db.transaction(who.tenant) as conn:
                    create_tenant(conn, who.tenant, who.tenant, at=0.0)
                by = Principal(who.tenant, "root", permissions={"*"})
                text, _ = await platform.services.keys.make(
                    by, name, agent="ops", permissions=who.permissions
                )
                shown[name] = text.reveal()
        async with opened(platform, hold=hold) as door:
            yield Press(hr, platform, door, published, shown)


def text(result: Any) -> str:
    return " ".join(one.text for one in result.content)


async def test_a_client_of_today_brings_back_its_state_and_gets_the_result_of_the_one_run(
    database: str | None,
) -> None:
    async with press(database) as here, here.door.client(here.keys["ana-key"]) as client:
        first = await here.call(client)
        assert isinstance(first, InputRequiredResult) and first.request_state is not None
        assert first.input_requests is None, "nothing by which the caller could agree itself"
        again = await here.call(client, first.request_state)
        assert isinstance(again, InputRequiredResult)
        (asked,) = await here.asked()
        assert asked.args == ARGS and asked.call.source == "mcp" and here.published == []
        await here.hr.approvals.approve(asked.id, by=REVIEWER)
        done = await here.call(client, again.request_state)
        while isinstance(done, InputRequiredResult):
            done = await here.call(client, done.request_state)
        assert done.structured_content == {"published": "spring"} and here.published == ["spring"]
        once_more = await here.call(client, again.request_state)
        assert once_more.structured_content == {"published": "spring"} and here.published == ["spring"]
        assert await here.hr.approvals.list(REVIEWER) == []


async def test_the_client_of_the_sdk_waits_by_itself_while_each_round_is_held(database: str | None) -> None:
    async with press(database, hold=5) as here, here.door.client(here.keys["ana-key"]) as client:
        calling = asyncio.create_task(client.call_tool(NAME, ARGS))
        (asked,) = await here.asked()
        await here.hr.approvals.approve(asked.id, by=REVIEWER, edits={"title": "summer"})
        result = await calling
        assert here.published == ["summer"] and result.structured_content == {"published": "summer"}
        assert 'ran with: {"title": "summer"}' in text(result)


@pytest.mark.parametrize("mode", [MODERN, "legacy"])
async def test_a_call_made_again_without_state_collects_the_outcome_once(
    database: str | None, mode: str
) -> None:
    async with press(database) as here, here.door.client(here.keys["ana-key"], mode) as client:
        for _ in range(3):
            first = await here.call(client)
            assert isinstance(first, InputRequiredResult) or "NEEDS_APPROVAL" in text(first)
        (asked,) = await here.asked()
        await here.hr.approvals.approve(asked.id, by=REVIEWER)
        await here.hr.wait(asked.call.id or "", 20, principal=ANA)
        done = await here.call(client)
        assert isinstance(done, CallToolResult) and not done.is_error
        assert done.structured_content == {"published": "spring"} and here.published == ["spring"]
        anew = await here.call(client)
        assert isinstance(anew, InputRequiredResult) or "NEEDS_APPROVAL" in text(anew)
        (other,) = await here.asked()
        assert other.id != asked.id and here.published == ["spring"], "asked anew, and not run"


async def test_a_client_of_2025_is_told_what_to_do_and_hears_that_it_waits(database: str | None) -> None:
    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    async with press(database) as here, here.door.client(here.keys["ana-key"], "legacy") as client:
        result = await client.call_tool(NAME, ARGS, progress_callback=hear)
        (asked,) = await here.asked()
        assert (
            result.is_error and asked.id in text(result) and "again with the same arguments" in text(result)
        )
        assert heard == [f"Waiting for a person: approval {asked.id}"]


@pytest.mark.parametrize("mode", [MODERN, "legacy"])
async def test_a_no_is_told_with_its_reason_once(database: str | None, mode: str) -> None:
    async with press(database) as here, here.door.client(here.keys["ana-key"], mode) as client:
        await here.call(client)
        (asked,) = await here.asked()
        await here.hr.approvals.reject(asked.id, by=REVIEWER, reason="not before May")
        await here.hr.wait(asked.call.id or "", 20, principal=ANA)
        done = await here.call(client)
        assert done.is_error and "not before May" in text(done) and "REJECTED" in text(done)
        assert isinstance(await here.call(client), InputRequiredResult) or mode == "legacy"
        assert len(await here.asked()) == 1 and here.published == []


@pytest.mark.parametrize("mode", [MODERN, "legacy"])
async def test_what_nobody_answered_in_time_says_so_and_may_be_asked_anew(
    database: str | None, mode: str
) -> None:
    async with (
        press(database, approval_lifetime=0.05) as here,
        here.door.client(here.keys["ana-key"], mode) as client,
    ):
        done = await here.call(client)
        assert isinstance(done, CallToolResult) and done.is_error and "APPROVAL_EXPIRED" in text(done)
        assert here.published == []
        assert "APPROVAL_EXPIRED" in text(await here.call(client)), "and asked for anew"


async def test_all_who_wait_for_what_nobody_answered_hear_so_and_nobody_is_asked_anew(
    database: str | None,
) -> None:
    async with (
        press(database, hold=1, approval_lifetime=0.3) as here,
        here.door.client(here.keys["ana-key"]) as client,
    ):
        asked_for: list[str] = []
        here.hr.subscribe(lambda event: asked_for.append(event.kind))
        results = await asyncio.gather(*(here.call(client) for _ in range(4)))
        assert all("APPROVAL_EXPIRED" in text(one) for one in results)
        assert asked_for.count("needs_approval") == 1 and await here.hr.approvals.list(REVIEWER) == []


@pytest.mark.fault("F28")
async def test_a_state_is_good_for_nobody_else_and_for_nothing_else(database: str | None) -> None:
    async with press(database) as here, here.door.client(here.keys["ana-key"]) as client:
        state = (await here.call(client)).request_state
        assert state is not None
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await here.call(client, state, title="autumn")
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await here.call(client, state[:-2] + ("AA" if state[-2:] != "AA" else "BB"))
        async with here.door.client(here.keys["bo-key"]) as other:
            with pytest.raises(MCPError, match="Invalid or expired requestState"):
                await here.call(other, state)
        assert here.published == []


async def test_neither_another_principal_nor_other_arguments_collect(database: str | None) -> None:
    async with press(database) as here, here.door.client(here.keys["ana-key"]) as client:
        await here.call(client)
        (asked,) = await here.asked()
        await here.hr.approvals.approve(asked.id, by=REVIEWER)
        await here.hr.wait(asked.call.id or "", 20, principal=ANA)
        assert isinstance(await here.call(client, title="autumn"), InputRequiredResult)
        async with here.door.client(here.keys["bo-key"]) as other:
            assert isinstance(await here.call(other), InputRequiredResult)
        assert here.published == ["spring"]


async def test_many_at_once_are_one_question_and_one_run(database: str | None) -> None:
    async with press(database, hold=10) as here, here.door.client(here.keys["ana-key"]) as client:
        calling = [asyncio.create_task(client.call_tool(NAME, ARGS)) for _ in range(8)]
        (asked,) = await here.asked()
        await until(lambda: here.held(asked) == 8)
        await here.hr.approvals.approve(asked.id, by=REVIEWER)
        results = await asyncio.gather(*calling)
        assert {str(one.structured_content) for one in results} == {str({"published": "spring"})}
        assert here.published == ["spring"] and await here.hr.approvals.list(REVIEWER) == []


async def test_a_client_of_2025_that_left_while_it_waited_collects_nothing() -> None:
    async with press(None, hold=60) as here:
        call = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": NAME, "arguments": ARGS},
        }
        waiting = asyncio.create_task(here.door.post(call, "ana-key"))
        (asked,) = await here.asked()
        await until(lambda: here.held(asked) == 1)
        waiting.cancel()
        await asyncio.wait([waiting])
        await until(lambda: here.held(asked) == 0)
        await here.hr.approvals.approve(asked.id, by=REVIEWER)
        await here.hr.wait(asked.call.id or "", 20, principal=ANA)
        answer = await here.door.post(call, "ana-key")
        assert answer.json()["result"]["structuredContent"] == {"published": "spring"}
        assert here.published == ["spring"]


async def test_whoever_waits_is_let_go_when_the_platform_closes() -> None:
    async with press(None, hold=60) as here, here.door.client("ana-key") as client:
        calling = asyncio.create_task(here.call(client))
        await here.asked()
        here.platform.closing.set()
        assert isinstance(await asyncio.wait_for(calling, 20), InputRequiredResult)


async def test_keys_of_nobody_that_hold_other_things_are_not_the_same_caller() -> None:
    async with press(None) as here:
        one = Principal("acme", permissions={"posts.write", "posts.read"}, key="service")
        known = here.platform.auth._keys  # type: ignore[attr-defined]
        known |= {"one": one, "two": replace(one, permissions=frozenset({"posts.write"}))}
        async with here.door.client("one") as client, here.door.client("two") as other:
            state = (await here.call(client)).request_state
            await here.call(other)
            assert len(await here.asked(2)) == 2, "each asks for itself"
            with pytest.raises(MCPError, match="Invalid or expired requestState"):
                await here.call(other, state)


async def test_a_caller_whose_key_reaches_less_by_now_is_another_one() -> None:
    async with press(None) as here, here.door.client("ana-key") as client:
        state = (await here.call(client)).request_state
        # who knows keys without a database has no way to change one
        here.platform.auth._keys["ana-key"] = replace(ANA, scope=("math.*",))  # type: ignore[attr-defined]
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await here.call(client, state)


async def test_a_call_is_decided_once_whether_it_runs_or_asks() -> None:
    judged: list[str] = []

    def level(args: Any) -> str:
        judged.append(args.title)
        return "write" if args.title == "spring" else "read"

    @tool("posts.maybe", level=level)
    async def maybe(title: str) -> str:
        """Publish a post, or look at it."""
        return title

    async with (
        Handrail([maybe]) as hr,
        opened(platform_of(hr, {"ana-key": ANA}), hold=0.1) as door,
        door.client("ana-key") as client,
    ):
        for title in ("autumn", "spring"):
            judged.clear()
            await client.session.call_tool("posts__maybe", {"title": title}, allow_input_required=True)
            over_mcp = len(judged)
            judged.clear()
            await hr.call("posts.maybe", {"title": title}, principal=ANA, source="mcp")
            assert over_mcp == len(judged) > 0, "as often as by a plain call: nothing is decided beforehand"
