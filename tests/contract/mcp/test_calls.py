"""What a client gets for a call, over HTTP, by the protocol of today and by that of 2025."""

from __future__ import annotations

import asyncio
from typing import Any

import jsonschema_rs
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from handrail import Handrail, Policy, tool
from handrail.platform import platform_of
from tests.contract.mcp import shop_tools
from tests.contract.mcp.server import MODERN, met, opened

BOTH = pytest.mark.parametrize("mode", [MODERN, "legacy"])
ALL = [
    shop_tools.add,
    shop_tools.primes,
    shop_tools.root,
    shop_tools.fail,
    shop_tools.lie,
    shop_tools.only,
    shop_tools.purge,
    shop_tools.show,
    shop_tools.step,
]


def text_of(result: CallToolResult) -> str:
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text


def hr_of(*more: Any, **options: Any) -> Handrail:
    return Handrail([*ALL, *more], **options)


@pytest.mark.req("MC-01", "MC-02")
@BOTH
async def test_structured_content_fits_the_output_schema_that_was_listed(mode: str) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("math__add", {"a": 1, "b": 2}),
        ("math__primes", {"below": 12}),
        ("math__root", {"of": 9.0}),
        ("math__root", {"of": -1.0}),
    ]
    async with (
        hr_of() as hr,
        opened(platform_of(hr, shop_tools.KEYS)) as door,
        door.client("ana-key", mode) as client,
    ):
        listed = {one.name: one.output_schema for one in (await client.list_tools()).tools}
        for name, args in calls:
            result = await client.call_tool(name, args)
            schema = listed[name]
            assert schema is not None and not result.is_error
            assert jsonschema_rs.Draft202012Validator(schema).is_valid(result.structured_content), name
        assert (await client.call_tool("math__add", {"a": 1, "b": 2})).structured_content == {"total": 3}


@BOTH
@pytest.mark.req("MC-01")
async def test_what_a_model_can_repair_is_a_result_and_no_error_of_the_protocol(mode: str) -> None:
    async with (
        hr_of() as hr,
        opened(platform_of(hr, shop_tools.KEYS)) as door,
        door.client("ana-key", mode) as client,
    ):
        await client.list_tools()
        cases: dict[tuple[str, str], dict[str, Any]] = {
            ("math__add", "INVALID_PARAM"): {"a": "many", "b": 2},
            ("math__add", "MISSING_PARAM"): {"a": 1},
            ("math__fail", "TOOL_FAILED"): {"why": "x"},
            ("math__lie", "INVALID_OUTPUT"): {},
        }
        for (name, code), args in cases.items():
            result = await client.call_tool(name, args)
            told = text_of(result)
            assert result.is_error and f'"code":"{code}"' in told and result.structured_content is None


@BOTH
@pytest.mark.fault("F28")
@pytest.mark.req("MC-01")
async def test_hidden_and_unknown_tools_are_the_same_to_whoever_calls(mode: str) -> None:
    async with (
        hr_of() as hr,
        opened(platform_of(hr, shop_tools.KEYS)) as door,
        door.client("bo-key", mode) as client,
    ):
        said = []
        for name in ("acme__only", "acme__nope"):
            with pytest.raises(MCPError) as caught:
                await client.call_tool(name, {})
            said.append((caught.value.code, caught.value.message.replace(name, "X")))
        assert said[0] == said[1] and said[0][0] == -32602
        assert not any(one.name.startswith("acme") for one in (await client.list_tools()).tools)


@BOTH
@pytest.mark.req("MC-01")
async def test_what_is_not_permitted_says_so(mode: str) -> None:
    policy = Policy(deny=["math.primes"])
    async with hr_of(policy=policy) as hr, met(hr, "ana-key", mode) as client:
        result = await client.call_tool("math__primes", {"below": 3})
        assert result.is_error and "NOT_PERMITTED" in text_of(result)


@BOTH
@pytest.mark.parametrize("kind", ["image", "audio", "text", "file", "link"])
async def test_attachments_are_content_of_their_own_kind(mode: str, kind: str) -> None:
    kinds = {"text": "resource", "file": "resource", "link": "resource_link"}
    async with (
        hr_of() as hr,
        opened(platform_of(hr, shop_tools.KEYS)) as door,
        door.client("ana-key", mode) as client,
    ):
        result = await client.call_tool("media__show", {"kind": kind})
        assert [one.type for one in result.content] == [kinds.get(kind, kind)]
        if kind == "text":
            assert result.model_dump()["content"][0]["resource"]["text"] == "é"


@BOTH
async def test_progress_is_told_on_the_way_and_only_ever_grows(mode: str) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with (
        hr_of() as hr,
        opened(platform_of(hr, shop_tools.KEYS)) as door,
        door.client("ana-key", mode) as client,
    ):
        result = await client.call_tool("work__step", {}, progress_callback=hear)
        assert text_of(result) == "done"
        assert heard == [(50, 100, "Half"), (51, None, "a line"), (52, None, None)]
        assert not hr._runtime.teller.listeners.all, "nobody listens any more"


@pytest.mark.fault("F28")
async def test_a_client_of_today_that_leaves_cancels_its_call() -> None:
    began, over = asyncio.Event(), asyncio.Event()

    @tool("work.long", level="read")
    async def long() -> str:
        """Take long."""
        began.set()
        try:
            await asyncio.sleep(60)
        finally:
            over.set()
        return "never"

    async with hr_of(long) as hr, opened(platform_of(hr, shop_tools.KEYS)) as door:
        async with door.client("ana-key") as client:
            calling = asyncio.create_task(client.call_tool("work__long", {}))
            await asyncio.wait_for(began.wait(), 20)
            calling.cancel()
            await asyncio.wait([calling])
            await asyncio.wait_for(over.wait(), 20)
        assert [one.type for one in hr.log.read("acme", tool="work.long")][-1] == "tool.cancelled"


async def test_a_client_of_2025_that_leaves_does_not_cancel() -> None:
    began, go, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @tool("work.long", level="read")
    async def long() -> str:
        """Take long."""
        began.set()
        await go.wait()
        ended.set()
        return "done"

    async with hr_of(long) as hr, opened(platform_of(hr, shop_tools.KEYS)) as door:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "work__long"}}
        calling = asyncio.create_task(door.post(call, "ana-key"))
        await asyncio.wait_for(began.wait(), 20)
        calling.cancel()
        await asyncio.wait([calling])
        await asyncio.wait_for(door.left.wait(), 20)
        go.set()
        await asyncio.wait_for(ended.wait(), 20)


async def test_calls_are_told_as_made_by_mcp() -> None:
    async with hr_of() as hr, met(hr, "ana-key") as client:
        await client.call_tool("math__add", {"a": 1, "b": 2})
        events = list(hr.log.read("acme"))
        assert {one.call.source for one in events} == {"mcp"}
        assert {one.call.principal for one in events} == {shop_tools.ANA}
