"""Tools in code, overrides of them and tools of a tenant, resolved as one."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.core.errors import DefinitionError
from handrail.core.find.visibility import DEFAULT_TENANT_ID, ToolRow
from handrail.ext.toolsets import LazyToolset, StaticToolset
from handrail.identity.permissions import console_principal
from handrail.identity.tool_admin import ToolAdmin
from handrail.store.database import Database
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


@pytest.mark.req("AT-02", "AT-04", "AT-05", "AT-07")
async def test_code_rows_and_own_tools_are_resolved_as_one(db: Database) -> None:
    _, resolver = open_handrail(
        db,
        make_tool("a.plain"),
        make_tool("b.changed", origin="system"),
        make_tool("c.hidden", origin="system"),
        bodies=lambda row: lambda **given: given,
    )
    put_tool_row(db, "b-changed", True, name="Other", permission_policy="always_ask")
    put_tool_row(
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
    hr, resolver = open_handrail(
        db, make_tool("a.plain"), bodies=lambda row: lambda args: {"by": row.slug, **args}
    )
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    row = ToolRow(ACME, "mine-own", "tenant_custom", description="Ours.", level="read", input_schema=schema)
    await ToolAdmin(resolver).save_own(console_principal(ACME), row)
    assert await is_visible(hr, "mine-own")
    assert not await is_visible(hr, "mine-own", BOB)
    out = await hr.call("mine-own", {"n": 3}, principal=ANA)
    assert out.result.data == {"by": "mine-own", "n": 3}
    assert (await hr.call("mine-own", {}, principal=ANA)).result.code == "MISSING_PARAM"
    await ToolAdmin(resolver).override(console_principal(ACME), "a-plain", {"enabled": False})
    assert [tool.id for tool in await hr.tools(ANA)] == ["mine-own"]


@pytest.mark.req("AT-12")
async def test_an_override_changes_words_and_makes_a_tool_ask_and_nothing_else(db: Database) -> None:
    hr, resolver = open_handrail(db, make_tool("a.auto"), make_tool("b.asks", policy="always_ask"))
    tool_admin, by = ToolAdmin(resolver), console_principal(ACME)
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
            await tool_admin.override(by, "a-auto", changes)
    with pytest.raises(Exception, match="never make it ask less"):
        await tool_admin.override(by, "b-asks", {"permission_policy": "auto"})
    put_tool_row(db, "b-asks", permission_policy="auto")
    assert (await hr.call("b.asks", principal=ANA)).status == "pending"
    await tool_admin.override(by, "a-auto", {"permission_policy": "always_ask", "name": "Ours"})
    assert (await hr.call("a.auto", principal=ANA)).status == "pending"
    assert (await hr.call("a.auto", principal=BOB)).ok
    assert [found.tool.name for found in await hr.search("ours", ANA)] == ["Ours"]
    assert await hr.search("ours", BOB) == []
    put_tool_row(db, "a-auto", True, DEFAULT_TENANT_ID, permission_policy="auto", icon="star")
    resolver.forget(DEFAULT_TENANT_ID)
    assert (await hr.call("a.auto", principal=ANA)).status == "pending"


@pytest.mark.req("AT-12")
async def test_no_stored_tool_takes_the_place_of_one_in_code(db: Database) -> None:
    hr, resolver = open_handrail(
        db, make_tool("data.read", aliases=["peek"]), bodies=lambda row: lambda **given: "stored"
    )
    own: dict[str, Any] = {"description": "Ours.", "level": "read", "kind": "tenant_custom"}
    with pytest.raises(DefinitionError, match="too long"):
        await ToolAdmin(resolver).save_own(console_principal(ACME), ToolRow(ACME, "x" * 5_000, **own))
    for slug in ("data-read", "peek"):
        with pytest.raises(Exception, match="belongs to a tool written in code"):
            await ToolAdmin(resolver).save_own(console_principal(ACME), ToolRow(ACME, slug, **own))
        put_tool_row(db, slug, **own)
    assert (await hr.call("data-read", principal=ANA)).result.data == "data.read"
    assert (await hr.call("peek", principal=ANA)).result.data == "data.read"
    assert [tool.id for tool in await hr.tools(ANA)] == ["data.read"]
    put_tool_row(db, "data-read", False)
    resolver.forget(ACME)
    assert (await hr.call("data-read", principal=ANA)).result.code == "TOOL_NOT_FOUND"


@pytest.mark.req("MT-14", "AT-06")
async def test_rows_speak_of_tools_from_toolsets_too(db: Database) -> None:
    lazy = LazyToolset(lambda name: make_tool(name) if name == "far.away" else None, {"far.away": "Go far."})
    hr, _ = open_handrail(
        db, StaticToolset([make_tool("from.set"), make_tool("sys.set", origin="system")]), lazy
    )
    assert [tool.id for tool in await hr.tools(ANA)] == ["from.set"]
    assert "far.away" in await hr.menu(ANA)
    put_tool_row(db, "from-set", False)
    put_tool_row(db, "far-away", False)
    put_tool_row(db, "sys-set", True)
    hr._runtime.resolver.forget(ACME)  # type: ignore[union-attr]
    assert [tool.id for tool in await hr.tools(ANA)] == ["sys.set"]
    assert "far.away" not in await hr.menu(ANA)
    for name in ("from.set", "far.away"):
        assert (await hr.call(name, principal=ANA)).result.code == "TOOL_NOT_FOUND"
