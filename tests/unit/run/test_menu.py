"""The menu for a prompt: what is not loaded, by category, in few tokens."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail import Handrail, Policy, Principal, Rule, Tool, define
from handrail.core.run.catalogue.export import prompt_menu, short_menu
from handrail.ext.errors import UsageError
from handrail.ext.tools import wire_name
from handrail.ext.toolsets import LazyToolset
from handrail.toolsets.search import describe_tool, search_tools

ANA = Principal(tenant="acme", user="ana")


def named(tool_id: str, description: str = "Do it.", **options: Any) -> Tool:
    return define(tool_id, {"description": description, "level": "read", "execute": lambda a: 1, **options})


def tokens(text: str) -> float:
    return len(text) / 4


@pytest.mark.req("NM-04", "NM-01")
async def test_the_menu_has_what_is_not_loaded_under_its_category() -> None:
    tools = [named("data.get"), named("data.find", aliases=["find"]), named("web.fetch"), named("hello")]
    async with Handrail(tools) as hr:
        assert await hr.menu(ANA) == await hr.export("prompt_menu", ANA)
        for loaded in (["data.find"], ["find"], [wire_name("data.find")], ["data-find"], [tools[1]]):
            assert await hr.menu(ANA, loaded=loaded) == snapshot("""\
## data
- data.get: Do it.

## general
- hello: Do it.

## web
- web.fetch: Do it.\
""")
        assert await hr.menu(ANA, loaded=tools) == ""


@pytest.mark.req("NM-04", "PM-17", "BY-17")
async def test_the_menu_has_only_what_may_be_seen() -> None:
    tools = [named("a.one"), named("a.theirs", tenants=["other"]), named("a.never"), named("a.denied")]
    policy = Policy(deny=["a.denied"], rules=[Rule(tool="a.never", verdict="deny")])
    async with Handrail(tools, policy=policy) as hr:
        assert await hr.menu(ANA) == "## a\n- a.one: Do it."


@pytest.mark.req("NM-04", "BY-17")
async def test_tools_that_load_on_demand_are_in_the_menu_unless_policy_knows_their_name() -> None:
    lazy = LazyToolset(lambda name: None, {"mcp.read": "Read.", "mcp.drop": "Drop.", "own.get": "Other."})
    policy = Policy(deny=["mcp.drop"])
    async with Handrail([named("own.get"), lazy], policy=policy) as hr:
        assert await hr.menu(ANA) == "## mcp\n- mcp.read: Read.\n\n## own\n- own.get: Do it."
        assert await hr.menu(ANA, loaded=["mcp.read", "own.get"]) == ""


@pytest.mark.req("NM-04", "BY-17")
def test_categories_share_the_room_and_the_rest_is_told_in_numbers() -> None:
    entries = [(f"{area}.tool{n}", area, "Do one thing.") for area in ("a", "b") for n in range(20)]
    entries.append(("c.only", "c", "Do one thing."))
    assert short_menu(entries, 80, True) == snapshot("""\
## a (2 of 20)
- a.tool0: Do one thing.
- a.tool1: Do one thing.

## b (2 of 20)
- b.tool0: Do one thing.
- b.tool1: Do one thing.

## c
- c.only: Do one thing.

Not every tool is listed here. Find others with search_tools and read about one with describe_tool.\
""")


ENTRIES = st.lists(
    st.tuples(
        st.text("abc.", min_size=1, max_size=30),
        st.none() | st.text("xyz", min_size=1, max_size=3) | st.text("xyz", min_size=200, max_size=300),
        st.text(max_size=300),
    ),
    max_size=60,
)


@pytest.mark.req("NM-04", "BY-17")
@given(ENTRIES, st.integers(60, 400), st.booleans())
def test_a_menu_keeps_to_its_room_and_counts_every_tool(
    entries: list[Any], max_tokens: int, searchable: bool
) -> None:
    menu = short_menu(entries, max_tokens, searchable)
    assert tokens(menu) <= max_tokens
    lines = len(re.findall(r"^- ", menu, re.MULTILINE))
    partly = [
        (int(shown), int(all_)) for shown, all_ in re.findall(r"^## .* \((\d+) of (\d+)\)$", menu, re.M)
    ]
    untold = [int(number) for number in re.findall(r"^## .* \((\d+)\)$", menu, re.M)]
    assert lines + sum(all_ - shown for shown, all_ in partly) + sum(untold) == len(entries)


def test_a_long_description_becomes_one_short_line() -> None:
    menu = short_menu([("a.b", "a", "Line one.\n\n# Line two " + "x" * 500)], 100, True)
    assert menu.startswith("## a\n- a.b: Line one. # Line two xxx") and menu.endswith("x…")
    assert len(menu) < 200


@pytest.mark.req("NM-04")
async def test_a_menu_names_search_tools_only_to_those_who_have_it() -> None:
    tools = [named(f"a.tool{n}") for n in range(300)]
    async with Handrail([*tools, search_tools]) as having, Handrail(tools) as not_having:
        assert "search_tools" in await having.menu(ANA, loaded=[search_tools])
        menu = await not_having.menu(ANA)
    assert "search_tools" not in menu and menu.endswith("Not every tool is listed here.")


@pytest.mark.parametrize("max_tokens", [59, 0, -1])
async def test_a_menu_needs_some_room(max_tokens: int) -> None:
    async with Handrail([named("a.b")]) as hr:
        with pytest.raises(UsageError, match="60 tokens or more"):
            await hr.menu(ANA, max_tokens=max_tokens)


@pytest.mark.req("BY-17", "NM-02")
async def test_a_menu_and_search_cost_hundreds_of_tokens_where_schemas_cost_tens_of_thousands() -> None:
    def many(n: int) -> Tool:
        params = {
            name: {"type": "string", "description": f"The {name} of what is wanted, as it stands in the list"}
            for name in ("identifier", "region", "status", "comment")
        }
        return named(f"area{n % 25}.handleThing{n}", f"Handle thing number {n} of its area.", params=params)

    async with Handrail([search_tools, describe_tool, *map(many, range(1_000))]) as hr:
        loaded = {"search_tools", "describe_tool"}
        schemas = await hr.export("openai", ANA)
        finding = [one for one in schemas if one["function"]["name"] in loaded]
        menu = await hr.menu(ANA, loaded=loaded)
        answer = (await hr.call("search_tools", {"query": "handle thing 700"}, principal=ANA)).to_model()
    assert tokens(json.dumps(schemas)) > 100_000
    assert tokens(menu) <= 500
    assert tokens(json.dumps(finding)) < 400
    assert tokens(answer) < 250 and answer.startswith("area0.handleThing700 (read): ")


def test_the_whole_menu_is_not_cut() -> None:
    entries = [(f"a.{n}", "a", "Do it.") for n in range(500)]
    assert prompt_menu(entries).count("\n") == 500
