"""The registry: tools by name, added and removed at any moment, told to whoever listens."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import Handrail, Registry, Tool, define
from handrail.ext.compat import RegistryEvent, ensure_system_tools_registered
from handrail.ext.errors import DuplicateName


def named(name: str, **options: Any) -> Tool:
    return define(name, {"description": "Do it.", "level": "read", "execute": lambda args: name, **options})


@pytest.mark.req("RG-01", "RG-02", "RG-04")
def test_a_registered_tool_is_found_by_its_id() -> None:
    registry = Registry()

    made = registry.register(named("data.search"))

    assert registry.get("data.search") is made
    assert registry.get("data.other") is None


@pytest.mark.req("RG-01", "RG-05")
def test_tools_are_listed_by_id_in_whatever_order_they_came() -> None:
    registry = Registry([named("b"), named("c"), named("a")])

    assert [one.id for one in registry.list()] == ["a", "b", "c"]
    assert [one.slug for one in registry.all_meta()] == ["a", "b", "c"]


@pytest.mark.req("RG-02")
async def test_a_tool_may_be_registered_while_calls_run_and_before_the_tools_it_calls() -> None:
    async def outer(args: Any, ctx: Any) -> Any:
        hr.registry.register(named("inner"))
        return (await ctx.call("inner")).result.data

    async with Handrail([named("outer", execute=outer)]) as hr:
        assert (await hr.call("outer")).result.data == "inner"


@pytest.mark.req("RG-03")
@pytest.mark.parametrize("name", ["data.search", "find", "data__search", "data-search"])
def test_a_tool_is_removed_under_any_of_its_names(name: str) -> None:
    registry = Registry([named("data.search", aliases=["find"]), named("other")])
    assert registry.get(name) is registry.get("data.search")

    assert registry.unregister(name) is True
    assert registry.unregister(name) is False
    assert [registry.get(one) for one in ("data.search", "find", "data__search", "data-search")] == [None] * 4
    assert [one.id for one in registry.list()] == ["other"]


@pytest.mark.req("RG-03", "RG-02")
async def test_a_removed_tool_is_gone_at_once_and_its_names_are_free_again() -> None:
    async with Handrail([named("search", aliases=["find"])]) as hr:
        hr.registry.unregister("search")
        gone = await hr.call("search")
        hr.registry.register(named("find"))
        back = await hr.call("find")

    assert (gone.code, back.tool) == ("TOOL_NOT_FOUND", "find")


@pytest.mark.req("RG-18")
def test_registering_an_id_again_needs_replace() -> None:
    registry = Registry([named("search")])

    with pytest.raises(DuplicateName, match="replace=True") as refused:
        registry.register(named("search", description="Newer."))

    assert refused.value.tool == "search"
    assert registry.get("search").description == "Do it."  # type: ignore[union-attr]


@pytest.mark.req("RG-18", "RG-14")
def test_a_replacement_takes_every_name_over_and_tells_what_it_replaced() -> None:
    registry = Registry()
    heard: list[RegistryEvent] = []
    old = registry.register(named("search", aliases=["find"]))
    registry.listeners.add(heard.append)

    new = registry.register(named("search", aliases=["look"], slug="seek"), replace=True)

    assert (registry.get("look"), registry.get("seek"), registry.get("find")) == (new, new, None)
    assert heard == [RegistryEvent("register", "search", new, old)]


@pytest.mark.req("RG-18", "NM-07")
def test_a_replacement_may_not_take_the_name_of_a_third() -> None:
    registry = Registry([named("search", aliases=["find"]), named("other")])

    with pytest.raises(DuplicateName, match="'other' belongs to 'other'"):
        registry.register(named("search", aliases=["other"]), replace=True)

    assert registry.get("find") is registry.get("search")


@pytest.mark.req("RG-18")
async def test_a_call_with_the_digest_of_a_replaced_tool_is_stale() -> None:
    async with Handrail([named("search")]) as hr:
        [seen] = await hr.tools()
        hr.registry.register(named("search", description="Something else."), replace=True)

        stale = await hr.call("search", digest=seen.digest)
        fresh = await hr.call("search", digest=(await hr.tools())[0].digest)

    assert (stale.code, fresh.status) == ("STALE_TOOL", "completed")


@pytest.mark.req("RG-14")
def test_listeners_hear_of_what_comes_and_goes_until_they_stop() -> None:
    registry = Registry()
    heard: list[tuple[str, str]] = []

    def hear(event: RegistryEvent) -> None:
        heard.append((event.type, event.tool))

    stop = registry.listeners.add(hear)

    registry.register(named("search"))
    registry.unregister("search")
    registry.unregister("search")
    stop()
    registry.register(named("search"))

    assert heard == [("register", "search"), ("unregister", "search")]


@pytest.mark.req("RG-14")
async def test_an_engine_tells_registrations_and_runs_in_one_stream() -> None:
    heard: list[tuple[str, str]] = []

    async with Handrail() as hr:
        hr.subscribe_registry(lambda event: heard.append((event.type, event.tool)))
        hr.registry.register(named("search"))
        await hr.call("search")

    assert heard == [("register", "search"), ("execute", "search")]


@pytest.mark.req("RG-18")
def test_registries_share_nothing() -> None:
    one, two = Registry([named("search")]), Registry()

    assert two.get("search") is None
    assert two.register(named("search")) is not one.get("search")


@pytest.mark.req("RG-18")
def test_a_snapshot_stays_as_it_was() -> None:
    registry = Registry([named("search")])
    before = registry.snapshot()

    registry.register(named("other"))
    registry.unregister("search")

    assert [one.id for one in before.tools] == ["search"]
    assert before.find("search") is before.tools[0] and before.find("other") is None
    assert registry.snapshot() is registry.snapshot()


@pytest.mark.req("RG-07")
def test_tools_are_enabled_by_the_capabilities_they_need() -> None:
    registry = Registry([named("plain"), named("reader", capabilities=["read"])])
    registry.register(named("shell"), permissions={"required": ["read", "execute"], "optional": ["network"]})

    assert [one.id for one in registry.enabled([])] == ["plain"]
    assert [one.id for one in registry.enabled(["read"])] == ["plain", "reader"]
    assert [one.id for one in registry.enabled(["read", "execute"])] == ["plain", "reader", "shell"]


@pytest.mark.req("RG-13")
def test_tools_that_ship_with_the_engine_load_once_and_by_themselves_at_the_first_look() -> None:
    registry, loaded = Registry([named("mine")]), []

    def system_tools(into: Registry) -> None:
        loaded.append(1)
        into.register(named("system.read", origin="system"))

    registry.add_loader(system_tools)
    assert loaded == []

    assert [one.id for one in registry.list()] == ["mine", "system.read"]
    ensure_system_tools_registered(registry)
    ensure_system_tools_registered(registry)
    assert registry.get("system.read") is not None
    assert loaded == [1]


@pytest.mark.req("RG-13")
@pytest.mark.parametrize(
    "look",
    [
        lambda registry: registry.get("system.read"),
        lambda registry: registry.list()[0],
        lambda registry: registry.enabled(["read"])[0],
        lambda registry: registry.snapshot().find("system.read"),
    ],
    ids=["get", "list", "enabled", "snapshot"],
)
def test_every_way_to_look_loads_them(look: Any) -> None:
    def system_tools(into: Registry) -> None:
        into.register(named("system.read"))

    registry = Registry()
    registry.add_loader(system_tools)

    assert look(registry).id == "system.read"


@pytest.mark.req("RG-13")
def test_a_feeder_may_look_at_the_registry_it_feeds() -> None:
    registry = Registry([named("mine")])
    seen: list[str] = []

    def system_tools(into: Registry) -> None:
        into.register(named("first"))
        seen.extend(one.id for one in into.list())
        into.register(named("second"))

    registry.add_loader(system_tools)

    assert [one.id for one in registry.list()] == ["first", "mine", "second"]
    assert seen == ["first", "mine"]


@pytest.mark.req("RG-13")
def test_a_feeder_that_fails_is_heard_and_tried_again() -> None:
    registry, attempts = Registry(), []

    def system_tools(into: Registry) -> None:
        attempts.append(1)
        if len(attempts) == 1:
            raise ImportError("not installed")
        into.register(named("system.read"))

    registry.add_loader(system_tools)

    with pytest.raises(ImportError):
        registry.list()
    assert [one.id for one in registry.list()] == ["system.read"]
