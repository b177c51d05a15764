"""Listings: what a principal may see, fresh after every change."""

import logging
from collections.abc import Sequence
from typing import Any

import pytest

from handrail import Handrail, Policy, Principal, Rule, Tool, define
from handrail.ext.toolsets import StaticToolset

ANA = Principal(tenant="acme", user="ana")
BO = Principal(tenant="other", user="bo", permissions={"books"})


def named(tool_id: str, **options: Any) -> Tool:
    given = {"description": f"{tool_id}.", "level": "read", "execute": lambda args: tool_id, **options}
    return define(tool_id, given)


async def ids(hr: Handrail, principal: Principal = ANA, **options: Any) -> list[str]:
    return [tool.id for tool in await hr.tools(principal, **options)]


@pytest.mark.req("RG-01", "RG-03")
async def test_register_unregister_and_replace_show_at_once() -> None:
    async with Handrail([named("b")]) as hr:
        assert await ids(hr) == ["b"]
        hr.registry.register(named("a"))
        assert await ids(hr) == ["a", "b"]
        new = named("b", tenants=["acme"])
        hr.registry.register(new, replace=True)
        assert (await hr.tools(ANA))[1] is new and await ids(hr, BO) == ["a"]
        hr.registry.unregister("a")
        assert await ids(hr) == ["b"] and await ids(hr, BO) == []


@pytest.mark.req("MT-02", "PM-17")
async def test_each_principal_sees_its_own_tools() -> None:
    tools = [named("all"), named("acme", tenants=["acme"]), named("books", requires="books")]
    async with Handrail(tools) as hr:
        for _ in range(2):
            assert await ids(hr, ANA) == ["acme", "all"]
            assert await ids(hr, BO) == ["all", "books"]
            assert await ids(hr, Principal("other", "bo")) == ["all"]


@pytest.mark.req("PM-17")
async def test_what_is_certainly_refused_is_not_listed_and_what_may_be_allowed_is() -> None:
    rules = [
        Rule(tool="never", verdict="deny"),
        Rule(tool="sometimes", when={"a": 1}, verdict="deny"),
        Rule(tool="not_for_pages", when={"@source": "web"}, verdict="deny"),
    ]
    tools = [named(name) for name in ("never", "sometimes", "not_for_pages")]
    async with Handrail(tools, policy=Policy(rules=rules)) as hr:
        assert await ids(hr) == ["not_for_pages", "sometimes"]


@pytest.mark.req("TD-19", "RG-01")
async def test_a_tool_that_waits_is_initialised_for_the_list_and_one_that_cannot_is_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def initialise(init: Any) -> dict[str, Any]:
        return {"description": "Late.", "level": "read", "execute": lambda args: 1, "tenants": ["acme"]}

    def fail(init: Any) -> Any:
        raise OSError("no network")

    async with Handrail([define("late", initialise), define("never", fail), named("now")]) as hr:
        with caplog.at_level(logging.ERROR):
            assert await ids(hr) == ["late", "now"]
        assert await ids(hr, BO) == ["now"]
    assert "never could not be initialised" in caplog.text


@pytest.mark.req("RG-15")
async def test_toolsets_are_asked_each_time_and_the_registry_goes_before_them() -> None:
    mine, theirs = named("a"), named("a")
    offered = [theirs, named("c"), named("hidden", tenants=["nobody"])]

    class Changing:
        async def tools(self, principal: Principal, /) -> Sequence[Tool]:
            return offered

        async def find(self, name: str, principal: Principal, /) -> Tool | None:
            return None

    async with Handrail([mine, named("d"), Changing()]) as hr:
        assert await ids(hr) == ["a", "c", "d"]
        assert (await hr.tools(ANA))[0] is mine
        offered.append(named("b"))
        assert await ids(hr) == ["a", "b", "c", "d"]


@pytest.mark.req("RG-15")
async def test_a_toolset_that_fails_takes_neither_the_list_nor_a_call_with_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken:
        async def tools(self, principal: Principal, /) -> Sequence[Tool]:
            raise ConnectionError("the server is down")

        async def find(self, name: str, principal: Principal, /) -> Tool | None:
            return None

    async with Handrail([named("a.read"), Broken(), StaticToolset([named("b")])]) as hr:
        with caplog.at_level(logging.ERROR):
            assert await ids(hr) == ["a.read", "b"]
            outcome = await hr.call("a.raed", principal=ANA)
    assert outcome.code == "TOOL_NOT_FOUND" and "a.read" in outcome.to_model()
    assert "the server is down" in caplog.text


@pytest.mark.req("EX-02")
async def test_a_near_name_is_suggested_only_if_it_may_be_seen() -> None:
    async with Handrail([named("notes.search"), named("notes.searches", tenants=["other"])]) as hr:
        told = (await hr.call("notes.serach", principal=ANA)).to_model()
        assert "notes.search?" in told and "notes.searches" not in told
        far = (await hr.call("weather", principal=ANA)).to_model()
        assert "List the tools" in far


@pytest.mark.req("RG-01")
async def test_a_list_belongs_to_whoever_asked_for_it() -> None:
    async with Handrail([named("a")]) as hr:
        (await hr.tools(ANA)).clear()
        assert await ids(hr) == ["a"]


@pytest.mark.req("RG-01")
async def test_the_memory_of_listings_is_bounded() -> None:
    async with Handrail([named("a")]) as hr:
        for number in range(1_000):
            assert await ids(hr, Principal("acme", f"u{number}")) == ["a"]
        assert len(hr._catalogue._listed) <= 256
