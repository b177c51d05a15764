"""What a client is told of the tools there are."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from mcp.shared.exceptions import MCPError

from handrail import Handrail, Principal, tool
from handrail.doors.mcp.tool_list import ToolListing, _read_cursor, _write_cursor
from handrail.platform import platform_of
from tests.contract.mcp import shop_tools
from tests.contract.mcp.server import MODERN, met, opened

BOTH = pytest.mark.parametrize("mode", [MODERN, "legacy"])


def made(number: int, level: Any = "read", **more: Any) -> Any:
    async def body(x: int = 0) -> int:
        """Do one thing of many."""
        return number

    return tool(f"many.t{number:04}", level=level, **more)(body)


@BOTH
@pytest.mark.req("MC-01")
async def test_pages_give_each_tool_once_though_others_come_and_go(mode: str) -> None:
    async with (
        Handrail([made(n) for n in range(0, 50, 2)]) as hr,
        met(hr, "ana-key", mode, page=7) as client,
    ):
        names: list[str] = []
        cursor = None
        for turn in range(100):
            page = await client.list_tools(cursor=cursor)
            names += [one.name for one in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                break
            assert 5 <= len(page.tools) <= 7
            hr.registry.unregister(f"many.t{turn * 14:04}")
            hr.registry.register(made(1 + turn * 14))
        stayed = {f"many__t{n:04}" for n in range(0, 50, 2)}
        assert sorted(names[2:]) == names[2:] and len(set(names)) == len(names)
        assert stayed - set(names) <= {f"many__t{turn * 14:04}" for turn in range(5)}
        assert stayed & set(names) >= {f"many__t{n:04}" for n in range(2, 50, 2) if n % 14}


@BOTH
@pytest.mark.req("BY-17")
async def test_the_first_of_many_pages_begins_with_the_tools_that_find_others(mode: str) -> None:
    async with (
        Handrail([made(n) for n in range(40)]) as hr,
        met(hr, "ana-key", mode, page=15) as client,
    ):
        names: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            page = await client.list_tools(cursor=cursor or None)
            names += [one.name for one in page.tools]
            cursor = page.next_cursor
        assert names[:2] == ["search_tools", "describe_tool"] and len(set(names)) == len(names) == 42
        found = await client.call_tool("search_tools", {"query": "do one thing", "limit": 3})
        assert not found.is_error and "many" in str(found.content)


async def test_few_tools_need_no_search() -> None:
    async with Handrail([shop_tools.add]) as hr, met(hr, "ana-key") as client:
        assert [one.name for one in (await client.list_tools()).tools] == ["math__add"]


@pytest.mark.parametrize("cursor", ["!", "x" * 5000, "____", "é", "bWF0aA"])
async def test_a_cursor_that_is_none_is_refused_in_words(cursor: str) -> None:
    async with Handrail([shop_tools.add]) as hr, met(hr, "ana-key") as client:
        with pytest.raises(MCPError, match="cursor") as caught:
            await client.list_tools(cursor=cursor)
        assert caught.value.code == -32602


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_a_cursor_comes_back_as_it_went(id: str) -> None:
    assert _read_cursor(_write_cursor(id)) == id


@given(st.text())
def test_no_text_breaks_the_reading_of_a_cursor(text: str) -> None:
    with suppress(MCPError):
        assert isinstance(_read_cursor(text), str)


@BOTH
@pytest.mark.req("MC-01")
async def test_each_principal_is_told_of_what_it_may_see(mode: str) -> None:
    reader = Principal("acme", "rob", agent="ops", ceiling="read")
    scoped = Principal("acme", "rob", agent="ops", scope=["math.*"])
    keys = {"a": shop_tools.ANA, "b": shop_tools.BO, "r": reader, "s": scoped}
    tools = [shop_tools.add, shop_tools.only, shop_tools.purge, made(1, "write")]
    async with Handrail(tools) as hr, opened(platform_of(hr, keys)) as door:
        seen: dict[str, list[str]] = {}
        for key in keys:
            async with door.client(key, mode) as client:
                seen[key] = [one.name for one in (await client.list_tools()).tools]
    assert seen == {
        "a": ["acme__only", "many__t0001", "math__add"],
        "b": ["admin__purge", "many__t0001", "math__add"],
        "r": ["acme__only", "math__add"],
        "s": ["math__add"],
    }


@BOTH
@pytest.mark.req("MC-02", "MC-03")
async def test_schemas_are_objects_of_2020_12_and_annotations_follow_the_level(mode: str) -> None:
    many = [made(n, level) for n, level in enumerate(("read", "draft", "write", "destructive"))]
    everybody = {"k": Principal("acme", "ana", permissions={"*"}, agent="ops")}
    others = [
        made(5, "write", idempotent=True),
        made(6, capabilities={"network"}),
        shop_tools.add,
        shop_tools.primes,
    ]
    async with (
        Handrail([*many, *others]) as hr,
        opened(platform_of(hr, everybody)) as door,
        door.client("k", mode) as client,
    ):
        listed = (await client.list_tools()).tools
    hints: dict[str, Any] = {}
    for one in listed:
        jsonschema_rs.Draft202012Validator(one.input_schema)
        assert one.input_schema["type"] == "object" and one.title
        assert one.output_schema is not None
        jsonschema_rs.Draft202012Validator(one.output_schema)
        assert mode == MODERN or one.output_schema["type"] == "object"
        told = one.annotations
        assert told is not None
        hints[one.name] = "".join(
            letter if given else "-"
            for letter, given in (
                ("R", told.read_only_hint),
                ("D", told.destructive_hint),
                ("I", told.idempotent_hint),
                ("O", told.open_world_hint),
            )
        )
    assert hints == snapshot(
        {
            "many__t0000": "R-I-",
            "many__t0001": "R-I-",
            "many__t0002": "----",
            "many__t0003": "-D--",
            "many__t0005": "--I-",
            "many__t0006": "R-IO",
            "math__add": "R-I-",
            "math__primes": "R-I-",
        }
    )


async def test_a_list_of_today_says_how_long_it_is_fresh_and_for_whom() -> None:
    async with Handrail([shop_tools.add]) as hr, met(hr, "ana-key") as client:
        page = await client.list_tools()
    assert page.ttl_ms > 0 and page.cache_scope == "private"


async def test_a_tool_is_described_once_for_all_who_see_it() -> None:
    async with Handrail([made(n) for n in range(10)]) as hr:
        listing = ToolListing(hr, 5)
        first = await listing.page(shop_tools.ANA, None, True)
        other = await listing.page(shop_tools.BO, None, True)
        assert all(one is two for one, two in zip(first["tools"], other["tools"], strict=True))
