"""Toolsets: tools that are asked for rather than registered, filtered, renamed, joined or found on demand."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import Handrail, Principal, Tool, define
from handrail.ext.tools import wire_name
from handrail.ext.toolsets import (
    CombinedToolset,
    FilteredToolset,
    LazyToolset,
    PrefixedToolset,
    StaticToolset,
)

ACME, OTHER = Principal(tenant="acme"), Principal(tenant="other")


def named(name: str, **options: Any) -> Tool:
    return define(name, {"description": "Do it.", "level": "read", "execute": lambda args: name, **options})


def bundle(*tools: Tool) -> FilteredToolset:
    """Tools that only acme has installed."""
    return FilteredToolset(StaticToolset(tools), lambda tool, principal: principal.tenant == "acme")


async def ids(hr: Handrail, principal: Principal = ACME) -> list[str]:
    return [one.id for one in await hr.tools(principal)]


@pytest.mark.req("RG-15")
async def test_a_tool_registered_later_is_listed_exported_and_callable_at_once() -> None:
    async with Handrail([named("first")]) as hr:
        assert await ids(hr) == ["first"]
        hr.registry.register(named("second"))

        assert await ids(hr) == ["first", "second"]
        assert [one["name"] for one in await hr.export("anthropic", ACME)] == ["first", "second"]
        assert (await hr.call("second", principal=ACME)).status == "completed"


@pytest.mark.req("RG-16")
async def test_a_bundle_is_unknown_to_tenants_that_do_not_have_it() -> None:
    async with Handrail([named("shared"), bundle(named("ims.findOffer", origin="bundle"))]) as hr:
        assert await ids(hr, ACME) == ["ims.findOffer", "shared"]
        assert await ids(hr, OTHER) == ["shared"]
        assert hr.registry.get("ims.findOffer") is None

        ours = await hr.call("ims.findOffer", principal=ACME)
        theirs = await hr.call("ims.findOffer", principal=OTHER)
        nobodys = await hr.call("ims.findNothing", principal=OTHER)

    assert (ours.status, theirs.code) == ("completed", "TOOL_NOT_FOUND")
    assert str(theirs.result.error).replace("findOffer", "findNothing") == nobodys.result.error


@pytest.mark.req("RG-16")
async def test_a_bundle_is_not_offered_to_others_as_the_name_they_may_have_meant() -> None:
    async with Handrail([bundle(named("ims.findOffer"))]) as hr:
        ours = await hr.call("ims.findOfer", principal=ACME)
        theirs = await hr.call("ims.findOfer", principal=OTHER)

    assert "ims.findOffer" in (ours.result.error or "")
    assert "ims.findOffer" not in (theirs.result.error or "")


@pytest.mark.req("NM-06", "RG-16")
@pytest.mark.parametrize(
    "spelling", ["ims.findOffer", "ims__findOffer", "ims-find-offer", "offer.find", "offer__find"]
)
async def test_a_tool_of_a_toolset_answers_to_all_its_names(spelling: str) -> None:
    async with Handrail([StaticToolset([named("ims.findOffer", aliases=["offer.find"])])]) as hr:
        assert (await hr.call(spelling)).tool == "ims.findOffer"


@pytest.mark.req("NM-06")
@pytest.mark.parametrize("name", ["read", "files.read", "files.readOne", "x" * 100])
async def test_a_prefixed_tool_answers_to_the_name_a_provider_was_given(name: str) -> None:
    async with Handrail([PrefixedToolset(StaticToolset([named(name, aliases=["peek"])]), "mcp.disk")]) as hr:
        [shown] = await hr.export("openai")
        [listed] = await hr.tools()
        spellings = [listed.id, shown["function"]["name"], listed.slug, "mcp.disk.peek", "mcp__disk__peek"]
        outs = [await hr.call(spelling) for spelling in spellings]

    assert listed.id == f"mcp.disk.{name}"
    assert shown["function"]["name"] == wire_name(listed.id)
    assert {out.tool for out in outs} == {listed.id}


async def test_a_prefix_keeps_names_apart() -> None:
    disks = [
        PrefixedToolset(StaticToolset([named("read", description=f"Read {disk}.")]), disk) for disk in "ab"
    ]

    async with Handrail(disks) as hr:
        assert await ids(hr) == ["a.read", "b.read"]
        assert [one.description for one in await hr.tools()] == ["Read a.", "Read b."]
        assert (await hr.call("read")).code == "TOOL_NOT_FOUND"


async def test_a_prefixed_tool_is_the_same_object_until_what_is_behind_it_changes() -> None:
    behind = [named("read")]

    class Changing:
        async def tools(self, principal: Principal, /) -> list[Tool]:
            return behind

        async def find(self, name: str, principal: Principal, /) -> Tool | None:
            return behind[0]

    prefixed = PrefixedToolset(Changing(), "mcp")
    [first] = await prefixed.tools(ACME)
    assert [first] == await prefixed.tools(ACME)

    behind[:] = [named("read", description="Something else.")]
    [second] = await prefixed.tools(ACME)

    assert (second.description, second.digest != first.digest) == ("Something else.", True)
    assert await prefixed.find("mcp.read", ACME) is second


async def test_of_joined_toolsets_the_first_that_knows_a_name_gives_it() -> None:
    first, second = named("read", description="First."), named("read", description="Second.")
    joined = CombinedToolset((StaticToolset([first]), StaticToolset([second, named("write")])))

    assert await joined.tools(ACME) == [first, *(await joined.parts[1].tools(ACME))[1:]]
    assert await joined.find("read", ACME) is first
    assert (await joined.find("write", ACME)).id == "write"  # type: ignore[union-attr]
    assert await joined.find("none", ACME) is None


async def test_a_registered_tool_stands_above_a_toolsets() -> None:
    async with Handrail([named("read", description="Ours."), StaticToolset([named("read")])]) as hr:
        assert [one.description for one in await hr.tools()] == ["Ours."]


@pytest.mark.parametrize("spelling", ["mail.send", "mail__send", "mail-send"])
@pytest.mark.parametrize("is_async", [True, False])
async def test_a_lazy_tool_is_resolved_when_it_is_called(spelling: str, is_async: bool) -> None:
    asked: list[str] = []

    def resolve(name: str) -> Tool | None:
        asked.append(name)
        return named(name) if name == "mail.send" else None

    async def resolve_later(name: str) -> Tool | None:
        return resolve(name)

    lazy = LazyToolset(resolve_later if is_async else resolve, {"mail.send": "Send a mail."})
    async with Handrail([lazy]) as hr:
        assert await ids(hr) == [] and asked == []
        out = await hr.call(spelling)
        missing = await hr.call("mail.burn")

    assert (out.tool, missing.code) == ("mail.send", "TOOL_NOT_FOUND")
    assert asked == ["mail.send", "mail.burn"]
