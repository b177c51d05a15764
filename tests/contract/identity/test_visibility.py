"""Which tools a tenant sees, on SQLite and PostgreSQL; without a database it is the registry alone."""

from __future__ import annotations

import asyncio

import pytest

from handrail import Context, Handrail, Principal, ToolError, define, tool
from handrail.core.find.visibility import DEFAULT_TENANT_ID
from handrail.ext.compat import tool_context
from handrail.ext.tools import read_result
from handrail.store.database import Database
from handrail.toolsets.search import describe_tool, search_tools
from tests.contract.identity.setup import (
    ACME,
    ANA,
    BOB,
    OTHER,
    is_visible,
    make_tool,
    open_handrail,
    put_tool_row,
)

STATES = (None, True, False)


@pytest.mark.req("MT-05", "MT-06", "MT-07", "MT-10", "MT-13", "MT-14", "AT-06")
async def test_what_rows_say_of_a_tool_counts_on_every_way_to_it(db: Database) -> None:
    shown_custom = {(None, None), (None, True), (True, None), (True, True)}
    shown_system = {(None, True), (True, None), (True, True)}
    tools, expected = [], {}
    for kind, shown in (("custom", shown_custom), ("system", shown_system)):
        for mine in STATES:
            for common in STATES:
                name = f"{kind}.mine{mine}Common{common}"
                tool = make_tool(name, origin=kind)
                tools.append(tool)
                for tenant, state in ((ACME, mine), (DEFAULT_TENANT_ID, common)):
                    if state is not None:
                        put_tool_row(db, tool.slug, state, tenant)
                expected[name] = (mine, common) in shown
    hr, _ = open_handrail(db, *tools)
    assert {name: await is_visible(hr, name) for name in expected} == expected
    for name, tool in zip(expected, tools, strict=True):
        for_all = name.rpartition("Common")[2]
        for_others = for_all == "True" or (for_all == "None" and tool.origin == "custom")
        assert await is_visible(hr, name, BOB) is for_others, name


@pytest.mark.req("MT-14", "PM-17")
async def test_a_hidden_tool_answers_like_one_that_does_not_exist(db: Database) -> None:
    hr, _ = open_handrail(db, make_tool("data.read"), make_tool("data.rest"))
    put_tool_row(db, "data-read", False)
    hidden = await hr.call("data.read", {"nonsense": 1}, principal=ANA)
    unknown = await hr.call("data.reap", {"nonsense": 1}, principal=ANA)
    assert hidden.result.error is not None and unknown.result.error is not None
    assert hidden.result.error.replace("data.read", "X") == unknown.result.error.replace("data.reap", "X")
    assert (hidden.status, hidden.result.code) == (unknown.status, unknown.result.code)


@pytest.mark.req("MT-14", "BY-15")
async def test_what_a_tool_said_before_it_was_hidden_can_be_read_no_more(db: Database) -> None:
    hr, resolver = open_handrail(db, make_tool("data.read"))
    before = await hr.call("data.read", principal=ANA)
    assert await hr.read_result(before.call_id, ANA) == "data.read"
    put_tool_row(db, "data-read", False)
    resolver.forget(ACME)
    with pytest.raises(ToolError, match="There is no result"):
        await hr.read_result(before.call_id, ANA)


@pytest.mark.req("MT-02", "MT-03")
async def test_the_tenants_a_tool_is_made_for_come_before_any_row(db: Database) -> None:
    hr, tools = open_handrail(db, make_tool("theirs.read", tenants=[OTHER]))
    put_tool_row(db, "theirs-read", True)
    put_tool_row(db, "theirs-read", True, DEFAULT_TENANT_ID)
    assert not await is_visible(hr, "theirs.read", ANA)
    assert await is_visible(hr, "theirs.read", BOB)
    assert await tools.get_available_tool("theirs-read", ACME, embed=True) is None
    assert await tools.resolve_all_tools_for_tenant(ACME) == []
    assert await tools.resolve_tool_for_tenant("theirs-read", ACME) is None


@pytest.mark.req("MT-12")
async def test_on_a_published_page_nobody_asks_whether_a_tool_is_disabled(db: Database) -> None:
    tools = (
        make_tool("a.custom"),
        make_tool("b.system", origin="system"),
        make_tool("c.never", origin="system"),
    )
    hr, resolver = open_handrail(db, *tools)
    put_tool_row(db, "a-custom", False)
    put_tool_row(db, "b-system", False)
    page = Principal(ACME, embed=True)
    assert (await hr.call("a.custom", principal=page)).ok
    assert (await hr.call("b.system", principal=page)).ok
    assert (await hr.call("c.never", principal=page)).result.code == "TOOL_NOT_FOUND"
    assert [tool.id for tool in await hr.tools(page)] == ["a.custom", "b.system"]
    assert await hr.tools(ANA) == []
    assert [meta.slug for meta in await resolver.get_available_tool_meta(ACME, embed=True)] == [
        "a-custom",
        "b-system",
    ]


@pytest.mark.req("MT-08", "MT-09", "MT-11")
async def test_the_lists_of_slugs_and_of_the_library(db: Database) -> None:
    tools = (
        make_tool("a.one", origin="system"),
        make_tool("b.two", origin="system"),
        make_tool("c.three"),
        make_tool("d.four"),
    )
    _, resolver = open_handrail(db, *tools)
    put_tool_row(db, "a-one", True)
    put_tool_row(db, "b-two", True, DEFAULT_TENANT_ID)
    put_tool_row(db, "b-two", False)
    put_tool_row(db, "c-three", False, DEFAULT_TENANT_ID)
    put_tool_row(db, "d-four", True)
    put_tool_row(db, "e-unknown", True)
    assert await resolver.get_enabled_system_tool_slugs(ACME) == {"a-one", "b-two"}
    assert await resolver.get_enabled_system_tool_slugs(OTHER) == {"b-two"}
    assert await resolver.get_disabled_tool_slugs(ACME) == {"b-two", "c-three"}
    assert await resolver.get_disabled_tool_slugs(OTHER) == {"c-three"}
    assert [meta.slug for meta in await resolver.get_available_tool_meta(ACME)] == ["a-one", "d-four"]
    assert [meta.slug for meta in await resolver.get_available_tool_meta(OTHER)] == ["b-two", "d-four"]


@pytest.mark.req("BJ-03", "MT-01")
async def test_without_a_tenant_named_it_is_the_one_at_hand(db: Database) -> None:
    _, resolver = open_handrail(db, make_tool("a.one"))
    put_tool_row(db, "a-one", False)
    with tool_context(ACME):
        assert await resolver.get_available_tool("a-one") is None
    with tool_context(OTHER):
        assert await resolver.get_available_tool("a-one") is not None


@pytest.mark.req("MT-05")
async def test_what_shows_nobody_more_than_they_see_anyway_needs_no_row(db: Database) -> None:
    hr, resolver = open_handrail(db, read_result, search_tools, describe_tool)
    assert all(tool.origin == "system" for tool in hr.registry.list())
    assert len(await hr.tools(ANA)) == 3
    put_tool_row(db, "read-result", False)
    resolver.forget(ACME)
    assert [tool.id for tool in await hr.tools(ANA)] == ["describe_tool", "search_tools"]
    put_tool_row(db, "search-tools", False, DEFAULT_TENANT_ID)
    resolver.forget(DEFAULT_TENANT_ID)
    assert [tool.id for tool in await hr.tools(BOB)] == ["describe_tool", "read_result"]


@pytest.mark.req("AT-06", "MT-14", "BY-17")
async def test_a_body_that_looks_for_tools_finds_what_its_tenant_has(db: Database) -> None:
    hr, _ = open_handrail(db, search_tools, describe_tool, make_tool("data.read"), make_tool("data.count"))
    put_tool_row(db, "data-read", False)
    for who, there in ((ANA, False), (BOB, True)):
        found = await hr.call("search_tools", {"query": "data read"}, principal=who)
        assert ("data.read" in str(found.result.data)) is there
        assert (await hr.call("describe_tool", {"name": "data.read"}, principal=who)).ok is there


@pytest.mark.req("MT-04", "BJ-03", "AT-06")
async def test_the_tenant_goes_along_with_nested_calls_and_with_work_outside_of_calls(db: Database) -> None:
    @tool("outer.call", level="read")
    async def outer(name: str, *, ctx: Context) -> str:
        """Call another tool by its name."""
        return (await ctx.call(name)).result.code or "done"

    hr, _ = open_handrail(db, outer, make_tool("data.read"))
    put_tool_row(db, "data-read", False)
    for tenant, code in ((ACME, "TOOL_NOT_FOUND"), (OTHER, "done")):
        nested = await hr.call("outer.call", {"name": "data.read"}, principal=Principal(tenant))
        assert nested.result.data == code
        with tool_context(tenant):
            assert ((await hr.call("data.read", source="job")).result.code or "done") == code


@pytest.mark.req("AT-06", "MT-14")
async def test_a_handrail_over_a_database_shows_each_tenant_what_it_has(database_url: str) -> None:
    async with Handrail([make_tool("data.read")], database=database_url, worker=False) as hr:
        assert (await hr.call("data.read", principal=ANA)).ok
        db = Database(database_url)
        put_tool_row(db, "data-read", False)
        db.close()
        async with asyncio.timeout(20):
            while True:
                await asyncio.sleep(0.05)
                if not await hr.tools(ANA):
                    break
        assert (await hr.call("data.read", principal=ANA)).result.code == "TOOL_NOT_FOUND"
        assert (await hr.call("data.read", principal=BOB)).ok


@pytest.mark.req("MT-05")
async def test_a_tool_is_judged_by_what_its_initialiser_says_of_it(db: Database) -> None:
    told = {"description": "Late.", "level": "read", "origin": "system", "execute": dict}
    hr, resolver = open_handrail(db, define("late.tool", lambda init: told))
    assert (await hr.call("late.tool", principal=ANA)).result.code == "TOOL_NOT_FOUND"
    assert not await is_visible(hr, "late.tool")
    put_tool_row(db, "late-tool", True)
    resolver.forget(ACME)
    assert await is_visible(hr, "late.tool")


@pytest.mark.req("MT-05", "MT-06")
async def test_without_a_database_everybody_has_what_is_registered() -> None:
    hr = Handrail([make_tool("a.custom"), make_tool("b.system", origin="system")])
    assert [tool.id for tool in await hr.tools(ANA)] == ["a.custom", "b.system"]
    assert [tool.id for tool in await hr.tools(ANA, after="a.custom", limit=1)] == ["b.system"]


async def test_pages_put_together_are_the_whole_listing(db: Database) -> None:
    names = [f"area{number % 7}.tool{number}" for number in range(60)]
    hr, _ = open_handrail(db, *map(make_tool, names), bodies=lambda row: lambda **given: None)
    for number in range(0, 60, 3):
        put_tool_row(db, f"area{number % 7}-tool{number}", False)
    for slug in ("a-first", "area3-own", "z-last"):
        put_tool_row(db, slug, kind="tenant_custom", description="Ours.", level="read")
    whole = [tool.id for tool in await hr.tools(ANA)]
    paged: list[str] = []
    while page := await hr.tools(ANA, after=paged[-1] if paged else None, limit=7):
        paged += [tool.id for tool in page]
    assert paged == whole and len(whole) == 43
