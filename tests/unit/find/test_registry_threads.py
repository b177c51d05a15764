"""Many tools, many threads: every lookup is right at every moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from handrail import Registry, Tool, define, from_json_schema, tool
from handrail.ext.errors import DuplicateName
from handrail.ext.tools import wire_name


def named(name: str, **options: Any) -> Tool:
    return define(name, {"description": "Do it.", "level": "read", "execute": lambda args: name, **options})


def together(*works: Callable[[], Any]) -> list[Any]:
    """Run functions in threads that begin at the same moment."""
    start = threading.Barrier(len(works))

    def begin(work: Callable[[], Any]) -> Any:
        start.wait(timeout=30)
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(begin, works))


@pytest.mark.req("RG-18", "RG-01")
def test_tools_registered_by_several_threads_are_all_there() -> None:
    registry, some_tool = Registry(), named("some.tool")

    def register(thread: int) -> None:
        for number in range(200):
            name = f"area{thread}.tool{number}"
            registry.register(replace(some_tool, id=name, slug=name.replace(".", "-")))

    together(*(lambda thread=thread: register(thread) for thread in range(8)))

    assert len(registry.list()) == 1600
    for one in registry.list():
        assert registry.get(one.id) is registry.get(wire_name(one.id)) is registry.get(one.slug) is one


@pytest.mark.req("RG-18")
def test_of_several_threads_that_claim_one_name_one_gets_it() -> None:
    for _ in range(20):
        registry = Registry()

        def claim(registry: Registry = registry) -> Tool | None:
            try:
                return registry.register(named("search"))
            except DuplicateName:
                return None

        won = [made for made in together(*[claim] * 6) if made is not None]

        assert won == registry.list()


@pytest.mark.req("RG-18")
def test_a_reader_never_sees_half_of_a_replacement() -> None:
    first, second = named("search", aliases=["find"]), named("search", aliases=["find"], description="Newer.")
    registry = Registry([first])
    done = threading.Event()

    def write() -> None:
        for number in range(500):
            registry.register((second, first)[number % 2], replace=True)
        done.set()

    def read() -> int:
        looks = 0
        while not done.is_set() or not looks:
            snapshot = registry.snapshot()
            spellings = {id(snapshot.find(name)) for name in ("search", "find")}
            assert spellings == {id(tool) for tool in snapshot.tools}
            looks += 1
        return looks

    assert all(together(write, read, read, read)[1:])


@pytest.mark.req("RG-18", "RG-03")
def test_readers_find_what_stays_while_others_come_and_go() -> None:
    registry, staying = Registry(), named("staying")
    registry.register(staying)
    some_tool = named("some.tool")
    done = threading.Event()

    def churn() -> None:
        for number in range(500):
            registry.register(replace(some_tool, id=f"going{number}", slug=f"going-{number}"))
            assert registry.unregister(f"going{number}")
        done.set()

    def read() -> bool:
        while not done.is_set():
            if registry.get("staying") is not staying:
                return False
        return True

    assert together(churn, read, read, read)[1:] == [True, True, True]
    assert registry.list() == [staying]


@pytest.mark.req("RG-13", "RG-18")
def test_readers_wait_until_the_system_tools_are_there() -> None:
    for _ in range(20):
        registry = Registry()
        fed: list[int] = []

        def loader(into: Registry, fed: list[int] = fed) -> None:
            fed.append(1)
            for number in range(20):
                into.register(named(f"system.tool{number}"))
                into.get("system.tool0")

        registry.add_loader(loader)

        counts = together(*[lambda registry=registry: len(registry.list())] * 6)

        assert counts == [20] * 6
        assert fed == [1]


@pytest.mark.req("RG-01", "NM-02")
def test_ten_thousand_tools_find_their_place() -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}, "additionalProperties": False}
    registry = Registry()

    for number in range(10_000):
        registry.register(
            from_json_schema(
                f"area{number % 100}.tool{number}", schema, dict, description="Do it.", level="read"
            )
        )

    listed = registry.list()
    assert len(listed) == 10_000
    assert [one.id for one in listed] == sorted(one.id for one in listed)
    assert all(registry.get(wire_name(one.id)) is one for one in listed)


def test_a_thousand_functions_become_tools() -> None:
    def make(number: int) -> Tool:
        @tool(f"area.tool{number}", level="read")
        def work(query: str, limit: int = number) -> str:
            """Do it."""
            return query

        return work

    registry = Registry(make(number) for number in range(1_000))

    assert len(registry.list()) == 1_000
    assert registry.get("area__tool7").input_schema["properties"]["limit"]["default"] == 7  # type: ignore[union-attr]
