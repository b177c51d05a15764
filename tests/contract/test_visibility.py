"""Which tools a tenant sees, on SQLite and PostgreSQL; without a database it is the registry alone."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import event, text

from handrail import Context, Handrail, Principal, Tool, define, tool
from handrail.core.errors import DefinitionError
from handrail.core.find.visibility import DEFAULT_TENANT_ID, ToolRow
from handrail.ext import LazyToolset, StaticToolset, ToolError, read_result, tool_context
from handrail.identity.granting import console
from handrail.identity.tenant_tools import TenantTools, ToolsUnread
from handrail.identity.tool_editing import ToolEditing
from handrail.store.database import Database
from handrail.store.tools import save_row
from handrail.toolsets.finding import describe_tool, search_tools
from tests.contract.households import Turning, household

ACME, OTHER = "acme", "other"
ANA = Principal(ACME, "ana", permissions=["*"])
BOB = Principal(OTHER, "bob", permissions=["*"])


def made(name: str, **given: Any) -> Tool:
    return define(name, {"description": f"Do {name}.", "level": "read", "execute": lambda: name, **given})


HIDING = """
import sys
from handrail.core.errors import DefinitionError
from handrail.core.find.visibility import ToolRow
from handrail.store.database import Database
from handrail.store.tools import save_row

url, tenant, slug = sys.argv[1:]
db = Database(url)
with db.transaction(tenant) as conn:
    save_row(conn, tenant, ToolRow(tenant, slug, enabled=False), at=1.0, by=None)
db.close()
"""


@pytest.fixture
def turning() -> Turning:
    return Turning()


@pytest.fixture
def db(database_url: str, turning: Turning) -> Iterator[Database]:
    with household(database_url, turning, ACME, OTHER) as db:
        yield db


def opened(db: Database, *tools: Any, **options: Any) -> tuple[Handrail, TenantTools]:
    hr = Handrail(tools)
    resolver = TenantTools(db, hr.registry, **options)
    hr._house.resolver = resolver
    return hr, resolver


def put(db: Database, slug: str, enabled: bool = True, tenant: str = ACME, **fields: Any) -> None:
    row = ToolRow(tenant, slug, fields.pop("kind", "system_override"), enabled, **fields)
    with db.transaction(tenant) as conn:
        save_row(conn, tenant, row, at=1.0, by="ana")


async def sees(hr: Handrail, name: str, who: Principal = ANA) -> bool:
    """Whether a tool is there: every way to it has to agree."""
    listed = name in [tool.id for tool in await hr.tools(who)]
    paged = name in [tool.id for tool in await hr.tools(who, limit=50)]
    exported = name in [one["name"].replace("__", ".") for one in await hr.export("mcp", who)]
    found = name in [one.tool.id for one in await hr.search(name, who)]
    on_menu = f"- {name}:" in await hr.menu(who)
    called = (await hr.call(name, principal=who)).result.code != "TOOL_NOT_FOUND"
    explained = (await hr.explain(name, principal=who)).code != "TOOL_NOT_FOUND"
    answers = {listed, paged, exported, found, on_menu, called, explained}
    assert len(answers) == 1, (name, listed, paged, exported, found, on_menu, called, explained)
    return listed


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
                tool = made(name, origin=kind)
                tools.append(tool)
                for tenant, state in ((ACME, mine), (DEFAULT_TENANT_ID, common)):
                    if state is not None:
                        put(db, tool.slug, state, tenant)
                expected[name] = (mine, common) in shown
    hr, _ = opened(db, *tools)
    assert {name: await sees(hr, name) for name in expected} == expected
    for name, tool in zip(expected, tools, strict=True):
        for_all = name.rpartition("Common")[2]
        for_others = for_all == "True" or (for_all == "None" and tool.origin == "custom")
        assert await sees(hr, name, BOB) is for_others, name


@pytest.mark.req("MT-14", "PM-17")
async def test_a_hidden_tool_answers_like_one_that_does_not_exist(db: Database) -> None:
    hr, _ = opened(db, made("data.read"), made("data.rest"))
    put(db, "data-read", False)
    hidden = await hr.call("data.read", {"nonsense": 1}, principal=ANA)
    unknown = await hr.call("data.reap", {"nonsense": 1}, principal=ANA)
    assert hidden.result.error is not None and unknown.result.error is not None
    assert hidden.result.error.replace("data.read", "X") == unknown.result.error.replace("data.reap", "X")
    assert (hidden.status, hidden.result.code) == (unknown.status, unknown.result.code)


@pytest.mark.req("MT-14", "BY-15")
async def test_what_a_tool_said_before_it_was_hidden_can_be_read_no_more(db: Database) -> None:
    hr, resolver = opened(db, made("data.read"))
    before = await hr.call("data.read", principal=ANA)
    assert await hr.read_result(before.call_id, ANA) == "data.read"
    put(db, "data-read", False)
    resolver.forget(ACME)
    with pytest.raises(ToolError, match="There is no result"):
        await hr.read_result(before.call_id, ANA)


@pytest.mark.req("MT-02", "MT-03")
async def test_the_tenants_a_tool_is_made_for_come_before_any_row(db: Database) -> None:
    hr, tools = opened(db, made("theirs.read", tenants=[OTHER]))
    put(db, "theirs-read", True)
    put(db, "theirs-read", True, DEFAULT_TENANT_ID)
    assert not await sees(hr, "theirs.read", ANA)
    assert await sees(hr, "theirs.read", BOB)
    assert await tools.get_available_tool("theirs-read", ACME, embed=True) is None
    assert await tools.resolve_all_tools_for_tenant(ACME) == []
    assert await tools.resolve_tool_for_tenant("theirs-read", ACME) is None


@pytest.mark.req("MT-12")
async def test_on_a_published_page_nobody_asks_whether_a_tool_is_disabled(db: Database) -> None:
    tools = (made("a.custom"), made("b.system", origin="system"), made("c.never", origin="system"))
    hr, resolver = opened(db, *tools)
    put(db, "a-custom", False)
    put(db, "b-system", False)
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
    tools = (made("a.one", origin="system"), made("b.two", origin="system"), made("c.three"), made("d.four"))
    _, resolver = opened(db, *tools)
    put(db, "a-one", True)
    put(db, "b-two", True, DEFAULT_TENANT_ID)
    put(db, "b-two", False)
    put(db, "c-three", False, DEFAULT_TENANT_ID)
    put(db, "d-four", True)
    put(db, "e-unknown", True)
    assert await resolver.get_enabled_system_tool_slugs(ACME) == {"a-one", "b-two"}
    assert await resolver.get_enabled_system_tool_slugs(OTHER) == {"b-two"}
    assert await resolver.get_disabled_tool_slugs(ACME) == {"b-two", "c-three"}
    assert await resolver.get_disabled_tool_slugs(OTHER) == {"c-three"}
    assert [meta.slug for meta in await resolver.get_available_tool_meta(ACME)] == ["a-one", "d-four"]
    assert [meta.slug for meta in await resolver.get_available_tool_meta(OTHER)] == ["b-two", "d-four"]


@pytest.mark.req("BJ-03", "MT-01")
async def test_without_a_tenant_named_it_is_the_one_at_hand(db: Database) -> None:
    _, resolver = opened(db, made("a.one"))
    put(db, "a-one", False)
    with tool_context(ACME):
        assert await resolver.get_available_tool("a-one") is None
    with tool_context(OTHER):
        assert await resolver.get_available_tool("a-one") is not None


@pytest.mark.req("MT-08", "MT-09", "AT-04")
async def test_what_was_read_is_not_read_again_for_the_same_request(db: Database) -> None:
    hr, resolver = opened(db, made("a.one"))
    await hr.tools(ANA)
    statements: list[str] = []
    event.listen(db.engine, "before_cursor_execute", lambda c, k, said, *more: statements.append(said))
    await resolver.resolve_all_tools_for_tenant(ACME)
    await resolver.get_disabled_tool_slugs(ACME)
    await hr.call("a.one", principal=ANA)
    assert statements == []


@pytest.mark.req("AT-06", "MT-14")
async def test_what_another_process_hides_is_gone_within_the_bound(db: Database, turning: Turning) -> None:
    hr, _ = opened(db, made("a.one"), made("b.two"), staleness=2.0)
    assert await sees(hr, "a.one")
    for tenant, slug in ((ACME, "a-one"), (DEFAULT_TENANT_ID, "b-two")):
        command = (sys.executable, "-c", HIDING, db.url, tenant, slug)
        assert await (await asyncio.create_subprocess_exec(*command)).wait() == 0
    turning.turn(1.9)
    assert await sees(hr, "a.one"), "what was read is used for as long as the bound says"
    turning.turn(0.1)
    assert not await sees(hr, "a.one")
    assert not await sees(hr, "b.two", BOB)


@pytest.mark.req("MT-13")
async def test_a_row_that_somebody_inserts_by_hand_counts_too(db: Database, turning: Turning) -> None:
    hr, _ = opened(db, made("a.one"))
    assert await sees(hr, "a.one")
    row = "'acme', 'a-one', false, 'system_override'"
    for change, shown in (
        (f"INSERT INTO tools (tenant_id, slug, enabled, kind) VALUES ({row})", False),
        ("UPDATE tools SET enabled = true WHERE slug = 'a-one'", True),
        ("UPDATE tools SET enabled = false WHERE slug = 'a-one'", False),
        ("DELETE FROM tools WHERE slug = 'a-one'", True),
    ):
        with db.transaction(ACME) as conn:
            conn.execute(text(change))
        turning.turn(1.0)
        assert await sees(hr, "a.one") is shown, change


@pytest.mark.req("AT-06")
async def test_what_cannot_be_read_refuses_and_never_uses_an_old_view(db: Database, turning: Turning) -> None:
    hr, _ = opened(db, made("a.one"))
    assert (await hr.call("a.one", principal=ANA)).ok

    def fail(*told: Any) -> None:
        raise OSError("the disk is gone")

    event.listen(db.engine, "before_cursor_execute", fail)
    assert (await hr.call("a.one", principal=ANA)).ok
    turning.turn(1.0)
    out = await hr.call("a.one", principal=ANA)
    assert (out.status, out.result.code) == ("refused", "TOOL_UNAVAILABLE")
    assert "disk" not in str(out.result.error)
    with pytest.raises(ToolsUnread):
        await hr.tools(ANA)
    event.remove(db.engine, "before_cursor_execute", fail)
    assert (await hr.call("a.one", principal=ANA)).ok


async def test_calls_that_need_the_same_rows_read_them_once(db: Database) -> None:
    hr, _ = opened(db, made("a.one"))
    statements: list[str] = []
    event.listen(db.engine, "before_cursor_execute", lambda c, k, said, *more: statements.append(said))
    outs = await asyncio.gather(*(hr.call("a.one", principal=ANA) for _ in range(20)))
    assert all(out.ok for out in outs)
    assert sum("tool_views" in said for said in statements) == 1


@pytest.mark.req("AT-02", "AT-04", "AT-05", "AT-07")
async def test_code_rows_and_own_tools_are_resolved_as_one(db: Database) -> None:
    _, resolver = opened(
        db,
        made("a.plain"),
        made("b.changed", origin="system"),
        made("c.hidden", origin="system"),
        bodies=lambda row: lambda **given: given,
    )
    put(db, "b-changed", True, name="Other", permission_policy="always_ask")
    put(
        db,
        "mine-own",
        kind="tenant_custom",
        description="Ours.",
        level="read",
        input_schema={"type": "object"},
    )
    found = {one.slug: one for one in await resolver.resolve_all_tools_for_tenant(ACME)}
    told = {slug: (one.kind, one.origin, one.visible, one.permission_policy) for slug, one in found.items()}
    assert told == {
        "a-plain": ("code", "custom", True, "auto"),
        "b-changed": ("system_override", "system", True, "always_ask"),
        "c-hidden": ("code", "system", False, "auto"),
        "mine-own": ("tenant_custom", "tenant_custom", True, "auto"),
    }
    assert found["b-changed"].name == "Other"
    one = await resolver.resolve_tool_for_tenant("b-changed", ACME)
    assert one == found["b-changed"]
    assert await resolver.resolve_tool_for_tenant("nothing", ACME) is None
    assert "mine-own" not in {one.slug for one in await resolver.resolve_all_tools_for_tenant(OTHER)}


@pytest.mark.req("AT-01", "AT-03", "AT-06")
async def test_a_tenants_own_tool_is_called_like_any_other_and_by_nobody_else(db: Database) -> None:
    hr, resolver = opened(db, made("a.plain"), bodies=lambda row: lambda args: {"by": row.slug, **args})
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    row = ToolRow(ACME, "mine-own", "tenant_custom", description="Ours.", level="read", input_schema=schema)
    await ToolEditing(resolver).save_own(console(ACME), row)
    assert await sees(hr, "mine-own")
    assert not await sees(hr, "mine-own", BOB)
    out = await hr.call("mine-own", {"n": 3}, principal=ANA)
    assert out.result.data == {"by": "mine-own", "n": 3}
    assert (await hr.call("mine-own", {}, principal=ANA)).result.code == "MISSING_PARAM"
    await ToolEditing(resolver).override(console(ACME), "a-plain", {"enabled": False})
    assert [tool.id for tool in await hr.tools(ANA)] == ["mine-own"]


@pytest.mark.req("AT-12")
async def test_an_override_changes_words_and_makes_a_tool_ask_and_nothing_else(db: Database) -> None:
    hr, resolver = opened(db, made("a.auto"), made("b.asks", policy="always_ask"))
    editing, by = ToolEditing(resolver), console(ACME)
    wrong: list[dict[str, Any]] = [
        {"level": "read"},
        {"requires": None},
        {"tenants": []},
        {"kind": "tenant_custom"},
        {"tenant": OTHER},
        {"slug": "b-asks"},
        {"name": ""},
        {"enabled": "no"},
        {"permission_policy": "never"},
    ]
    for changes in wrong:
        with pytest.raises(Exception, match=r"cannot be changed|is a text|True or False|one of"):
            await editing.override(by, "a-auto", changes)
    with pytest.raises(Exception, match="never make it ask less"):
        await editing.override(by, "b-asks", {"permission_policy": "auto"})
    put(db, "b-asks", permission_policy="auto")
    assert (await hr.call("b.asks", principal=ANA)).status == "pending"
    await editing.override(by, "a-auto", {"permission_policy": "always_ask", "name": "Ours"})
    assert (await hr.call("a.auto", principal=ANA)).status == "pending"
    assert (await hr.call("a.auto", principal=BOB)).ok
    assert [found.tool.name for found in await hr.search("ours", ANA)] == ["Ours"]
    assert await hr.search("ours", BOB) == []
    put(db, "a-auto", True, DEFAULT_TENANT_ID, permission_policy="auto", icon="star")
    resolver.forget(DEFAULT_TENANT_ID)
    assert (await hr.call("a.auto", principal=ANA)).status == "pending"


@pytest.mark.req("AT-12")
async def test_no_stored_tool_takes_the_place_of_one_in_code(db: Database) -> None:
    hr, resolver = opened(
        db, made("data.read", aliases=["peek"]), bodies=lambda row: lambda **given: "stored"
    )
    own: dict[str, Any] = {"description": "Ours.", "level": "read", "kind": "tenant_custom"}
    with pytest.raises(DefinitionError, match="too long"):
        await ToolEditing(resolver).save_own(console(ACME), ToolRow(ACME, "x" * 5_000, **own))
    for slug in ("data-read", "peek"):
        with pytest.raises(Exception, match="belongs to a tool written in code"):
            await ToolEditing(resolver).save_own(console(ACME), ToolRow(ACME, slug, **own))
        put(db, slug, **own)
    assert (await hr.call("data-read", principal=ANA)).result.data == "data.read"
    assert (await hr.call("peek", principal=ANA)).result.data == "data.read"
    assert [tool.id for tool in await hr.tools(ANA)] == ["data.read"]
    put(db, "data-read", False)
    resolver.forget(ACME)
    assert (await hr.call("data-read", principal=ANA)).result.code == "TOOL_NOT_FOUND"


@pytest.mark.req("MT-14", "AT-06")
async def test_rows_speak_of_tools_from_toolsets_too(db: Database) -> None:
    lazy = LazyToolset(lambda name: made(name) if name == "far.away" else None, {"far.away": "Go far."})
    hr, _ = opened(db, StaticToolset([made("from.set"), made("sys.set", origin="system")]), lazy)
    assert [tool.id for tool in await hr.tools(ANA)] == ["from.set"]
    assert "far.away" in await hr.menu(ANA)
    put(db, "from-set", False)
    put(db, "far-away", False)
    put(db, "sys-set", True)
    hr._house.resolver.forget(ACME)  # type: ignore[union-attr]
    assert [tool.id for tool in await hr.tools(ANA)] == ["sys.set"]
    assert "far.away" not in await hr.menu(ANA)
    for name in ("from.set", "far.away"):
        assert (await hr.call(name, principal=ANA)).result.code == "TOOL_NOT_FOUND"


@pytest.mark.req("MT-05")
async def test_what_shows_nobody_more_than_they_see_anyway_needs_no_row(db: Database) -> None:
    hr, resolver = opened(db, read_result, search_tools, describe_tool)
    assert all(tool.origin == "system" for tool in hr.registry.list())
    assert len(await hr.tools(ANA)) == 3
    put(db, "read-result", False)
    resolver.forget(ACME)
    assert [tool.id for tool in await hr.tools(ANA)] == ["describe_tool", "search_tools"]
    put(db, "search-tools", False, DEFAULT_TENANT_ID)
    resolver.forget(DEFAULT_TENANT_ID)
    assert [tool.id for tool in await hr.tools(BOB)] == ["describe_tool", "read_result"]


@pytest.mark.req("AT-06", "MT-14", "BY-17")
async def test_a_body_that_looks_for_tools_finds_what_its_tenant_has(db: Database) -> None:
    hr, _ = opened(db, search_tools, describe_tool, made("data.read"), made("data.count"))
    put(db, "data-read", False)
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

    hr, _ = opened(db, outer, made("data.read"))
    put(db, "data-read", False)
    for tenant, code in ((ACME, "TOOL_NOT_FOUND"), (OTHER, "done")):
        nested = await hr.call("outer.call", {"name": "data.read"}, principal=Principal(tenant))
        assert nested.result.data == code
        with tool_context(tenant):
            assert ((await hr.call("data.read", source="job")).result.code or "done") == code


@pytest.mark.req("AT-06", "MT-14")
async def test_a_handrail_over_a_database_shows_each_tenant_what_it_has(database_url: str) -> None:
    async with Handrail([made("data.read")], database=database_url, worker=False) as hr:
        assert (await hr.call("data.read", principal=ANA)).ok
        db = Database(database_url)
        put(db, "data-read", False)
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
    hr, resolver = opened(db, define("late.tool", lambda init: told))
    assert (await hr.call("late.tool", principal=ANA)).result.code == "TOOL_NOT_FOUND"
    assert not await sees(hr, "late.tool")
    put(db, "late-tool", True)
    resolver.forget(ACME)
    assert await sees(hr, "late.tool")


@pytest.mark.req("MT-05", "MT-06")
async def test_without_a_database_everybody_has_what_is_registered() -> None:
    hr = Handrail([made("a.custom"), made("b.system", origin="system")])
    assert [tool.id for tool in await hr.tools(ANA)] == ["a.custom", "b.system"]
    assert [tool.id for tool in await hr.tools(ANA, after="a.custom", limit=1)] == ["b.system"]


async def test_pages_put_together_are_the_whole_listing(db: Database) -> None:
    names = [f"area{number % 7}.tool{number}" for number in range(60)]
    hr, _ = opened(db, *map(made, names), bodies=lambda row: lambda **given: None)
    for number in range(0, 60, 3):
        put(db, f"area{number % 7}-tool{number}", False)
    for slug in ("a-first", "area3-own", "z-last"):
        put(db, slug, kind="tenant_custom", description="Ours.", level="read")
    whole = [tool.id for tool in await hr.tools(ANA)]
    paged: list[str] = []
    while page := await hr.tools(ANA, after=paged[-1] if paged else None, limit=7):
        paged += [tool.id for tool in page]
    assert paged == whole and len(whole) == 43


async def test_views_share_everything_but_their_rows(db: Database) -> None:
    hr, resolver = opened(db, *(made(f"a.tool{number}") for number in range(20)))
    put(db, "a-tool1", True, DEFAULT_TENANT_ID, name="For all")
    put(db, "a-tool2", True, name="Ours")
    mine, theirs = await resolver.view(ANA), await resolver.view(BOB)
    assert mine.snapshot is theirs.snapshot and mine.common is theirs.common
    assert mine.find("a.tool1") is theirs.find("a.tool1")
    assert mine.find("a.tool0") is hr.registry.get("a.tool0")
    assert mine.find("a.tool2") is not theirs.find("a.tool2")
