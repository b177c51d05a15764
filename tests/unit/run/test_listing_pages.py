"""Pages of a listing: the same tools as the whole, worked out a page at a time, remembered within bounds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Handrail, Policy, Principal, Tool, define
from handrail.core.run.catalogue import visible_tools

ANA = Principal(tenant="acme", user="ana")


def named(tool_id: str, **options: Any) -> Tool:
    return define(tool_id, {"description": "It does.", "level": "read", "execute": dict, **options})


@given(st.sets(st.integers(0, 40)), st.sets(st.integers(0, 40)), st.integers(1, 9))
async def test_pages_are_the_whole_listing_in_pieces(there: set[int], denied: set[int], limit: int) -> None:
    policy = Policy(deny=[f"tool{number}" for number in denied])
    hr = Handrail([named(f"tool{number}") for number in there], policy=policy)
    paged: list[str] = []
    while page := await hr.tools(ANA, after=paged[-1] if paged else None, limit=limit):
        assert len(page) <= limit
        paged += [tool.id for tool in page]
    assert paged == sorted(f"tool{number}" for number in there - denied)
    assert paged == [tool.id for tool in await hr.tools(ANA)]


async def test_a_page_shows_a_change_of_the_registry_at_once() -> None:
    hr = Handrail([named("b")])
    assert [tool.id for tool in await hr.tools(ANA, limit=5)] == ["b"]
    hr.registry.register(named("a"))
    assert [tool.id for tool in await hr.tools(ANA, limit=5)] == ["a", "b"]
    hr.registry.unregister("b")
    assert [tool.id for tool in await hr.tools(ANA, limit=5)] == ["a"]


async def test_a_page_looks_at_no_tool_that_comes_after_it() -> None:
    looked: list[str] = []

    class Looking(Policy):
        def denies(self, tool: Tool) -> bool:
            looked.append(tool.id)
            return False

    hr = Handrail([named(f"tool{number:03}") for number in range(300)], policy=Looking())
    await hr.tools(ANA, after="tool099", limit=10)
    assert set(looked) == {f"tool{number}" for number in range(100, 110)}


async def test_what_is_remembered_of_pages_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visible_tools, "_ON_PAGES", 50)
    hr = Handrail([named(f"tool{number}") for number in range(10)])
    for number in range(40):
        page = await hr.tools(Principal("acme", f"user{number}"), limit=10)
        assert len(page) == 10
        assert sum(1 + len(one.tools) for one in hr._catalogue._pages.values()) <= 50
