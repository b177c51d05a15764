"""Search: authority first, then ranking; as fresh as a listing."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Context, Handrail, Policy, Principal, Rule, Tool, ToolMatch, define, tool
from handrail.core.guard.guard import Guard
from handrail.ext.errors import UsageError
from handrail.ext.toolsets import StaticToolset
from handrail.sync import Handrail as SyncHandrail

ANA = Principal(tenant="acme", user="ana")
BO = Principal(tenant="other", user="bo", permissions={"books"})
WORDS = "search record delete file web mail list send invoice the".split()


def named(tool_id: str, description: str = "Do it.", **options: Any) -> Tool:
    given = {"description": description, "level": "read", "execute": lambda args: tool_id, **options}
    return define(tool_id, given)


async def ids(hr: Handrail, words: str, principal: Principal = ANA, **options: Any) -> list[str]:
    return [one.tool.id for one in await hr.search(words, principal, **options)]


def seen(found: list[ToolMatch]) -> list[tuple[str, float, Any]]:
    return [(one.tool.id, one.score, one.matched) for one in found]


@pytest.mark.req("BY-17")
async def test_the_best_tools_come_first() -> None:
    tools = [named("data.searchRecords", "Search records."), named("data.getRecord"), named("mail.send")]
    async with Handrail(tools) as hr:
        found = await hr.search("search records", ANA)
    assert [one.tool.id for one in found] == ["data.searchRecords", "data.getRecord"]
    assert found[0].tool is tools[0] and 1 > found[0].score > found[1].score > 0
    assert found[0].matched["name"] == ("search", "records", "search records")


@pytest.mark.req("BY-17", "PM-17", "MT-02")
async def test_only_what_the_principal_may_see_is_found() -> None:
    tools = [
        named("record.all"),
        named("record.acme", tenants=["acme"]),
        named("record.books", requires="books"),
        named("record.denied"),
        named("record.never"),
        named("record.network", capabilities=["network"]),
        named("record.notForPages"),
    ]
    policy = Policy(
        deny=["*.denied"],
        capabilities=["read"],
        rules=[
            Rule(tool="record.never", verdict="deny"),
            Rule(tool="record.notForPages", when={"@source": "web"}, verdict="deny"),
        ],
    )
    async with Handrail(tools, policy=policy) as hr:
        assert sorted(await ids(hr, "record")) == ["record.acme", "record.all", "record.notForPages"]
        assert sorted(await ids(hr, "record", BO)) == ["record.all", "record.books", "record.notForPages"]
        assert sorted(await ids(hr, "record", BO, source="web")) == ["record.all", "record.books"]
        assert await ids(hr, "record.denied") == await ids(hr, "record.unknown")


@st.composite
def tools_of(draw: st.DrawFn, /, prefix: str, **options: Any) -> list[Tool]:
    texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
    described = draw(st.lists(st.tuples(texts, texts), max_size=6))
    made = [(f"{prefix}.{name.replace(' ', '_')}_{at}", text) for at, (name, text) in enumerate(described)]
    return [named(tool_id, text, **options) for tool_id, text in made]


QUERIES = st.lists(st.sampled_from([*WORDS, "recrods", "a.record_0", "rec", "?"]), max_size=4).map(" ".join)


@pytest.mark.req("BY-17")
@given(tools_of("a"), tools_of("b", tenants=["other"]), tools_of("c"), QUERIES, st.integers(1, 8))
async def test_tools_that_cannot_be_seen_change_no_result(
    shown: list[Tool], hidden: list[Tool], denied: list[Tool], words: str, limit: int
) -> None:
    async with (
        Handrail(shown) as alone,
        Handrail([*denied, *hidden, *shown], policy=Policy(deny=["c.*"])) as hr,
    ):
        found = await hr.search(words, ANA, limit=limit)
        assert seen(found) == seen(await alone.search(words, ANA, limit=limit))
        assert {one.tool for one in found} <= set(await hr.tools(ANA))
        assert len(found) <= limit


@pytest.mark.req("BY-17")
async def test_hidden_tools_cost_no_place() -> None:
    hidden = [named(f"record.search{n}", "Search records.", tenants=["other"]) for n in range(50)]
    async with Handrail([*hidden, named("z.last", "About records.")]) as hr:
        assert await ids(hr, "search records", limit=1) == ["z.last"]


@pytest.mark.req("BY-17", "RG-01", "RG-03")
async def test_a_change_of_the_registry_shows_at_once() -> None:
    async with Handrail([named("a.record")]) as hr:
        assert await ids(hr, "record") == ["a.record"]
        hr.registry.register(named("b.record"))
        assert await ids(hr, "record") == ["a.record", "b.record"]
        hr.registry.register(named("a.record", "About parrots."), replace=True)
        assert await ids(hr, "parrots") == ["a.record"]
        hr.registry.unregister("a.record")
        assert await ids(hr, "record") == ["b.record"]


@pytest.mark.req("BY-17")
async def test_another_policy_holds_at_once() -> None:
    async with Handrail([named("a.record"), named("b.record")]) as hr:
        assert await ids(hr, "record") == ["a.record", "b.record"]
        hr._runtime.guard = Guard(Policy(deny=["a.*"]))
        assert await ids(hr, "record") == ["b.record"]


@pytest.mark.req("BY-17", "TD-19")
async def test_a_tool_that_waits_is_initialised_to_be_found() -> None:
    async def initialise(init: Any) -> dict[str, Any]:
        return {"description": "About parrots.", "level": "read", "execute": lambda args: 1}

    async with Handrail([define("late", initialise)]) as hr:
        assert await ids(hr, "parrots") == ["late"]


@pytest.mark.req("BY-17", "RG-15")
async def test_tools_of_toolsets_are_found_as_they_are_listed() -> None:
    offered = [named("bird.parrot"), named("bird.hidden", "A parrot.", tenants=["other"])]

    class Changing:
        async def tools(self, principal: Principal, /) -> Sequence[Tool]:
            return offered if principal.tenant == "acme" else ()

        async def find(self, name: str, principal: Principal, /) -> Tool | None:
            return None

    mine = named("own.parrot")
    async with Handrail([mine, Changing(), StaticToolset([mine, named("own.parrot")])]) as hr:
        assert await ids(hr, "parrot") == ["bird.parrot", "own.parrot"]
        assert await ids(hr, "parrot", BO) == ["own.parrot"]
        offered.append(named("bird.parrotTwo"))
        assert await ids(hr, "parrot") == ["bird.parrot", "own.parrot", "bird.parrotTwo"]
        assert (await hr.search("own.parrot", ANA))[0].tool is mine


@pytest.mark.req("BY-17")
@pytest.mark.parametrize("words", [None, 7, b"record", ["record"]])
async def test_words_are_text(words: Any) -> None:
    async with Handrail([named("a.record")]) as hr:
        with pytest.raises(UsageError, match="takes words as text, not"):
            await hr.search(words, ANA)


@pytest.mark.req("BY-17")
@pytest.mark.parametrize("limit", [0, -1, True, 2.5, "3", None])
async def test_a_limit_is_a_number_from_one_on(limit: Any) -> None:
    async with Handrail([named("a.record")]) as hr:
        with pytest.raises(UsageError, match="whole number from 1 on, not"):
            await hr.search("record", ANA, limit=limit)


@pytest.mark.req("BY-17")
@pytest.mark.parametrize("words", ["", "   ", "?!", "🙂"])
async def test_without_a_word_nothing_is_found(words: str) -> None:
    async with Handrail([named("a.record")]) as hr:
        assert await hr.search(words, ANA) == []


@given(st.text())
async def test_any_text_may_be_searched_for(words: str) -> None:
    async with Handrail([named("a.record", "Ünïcode 搜索 ß."), named("b.other")]) as hr:
        assert set(await ids(hr, words)) <= {"a.record", "b.other"}


@pytest.mark.req("BY-17")
async def test_all_principals_share_the_index_of_many_tools_also_when_they_ask_at_once() -> None:
    tools = [named(f"area{n}.record", tenants=["acme"] if n % 2 else []) for n in range(400)]
    everybody = [Principal(tenant=f"t{n}", user="u") for n in range(20)] + [ANA]
    async with Handrail(tools) as hr:
        found = await asyncio.gather(*(hr.search("record", one, limit=400) for one in everybody))
        assert [len(one) for one in found] == [200] * 20 + [400]
        assert len({id(shelf.index) for shelves in hr._search._views.values() for shelf in shelves}) == 1


@pytest.mark.req("BY-17")
async def test_the_index_outlives_the_listings_that_are_forgotten() -> None:
    async with Handrail([named("a.record")]) as hr:
        await hr.search("record", ANA)
        [index] = [weakref.ref(one.index) for [one] in hr._search._views.values()]
        for number in range(600):
            assert await ids(hr, "record", Principal("acme", f"u{number}")) == ["a.record"]
        assert all(one.index is index() for [one] in hr._search._views.values())
        assert len(hr._search._views) <= 256


@pytest.mark.req("BY-17")
async def test_a_body_searches_with_the_authority_of_its_call() -> None:
    @tool("ask", level="read")
    async def ask(words: str, *, ctx: Context) -> list[str]:
        """Ask."""
        return [one.tool.id for one in await ctx.search(words, 5)]

    async with Handrail([ask, named("record.acme", tenants=["acme"]), named("record.all")]) as hr:
        theirs = await hr.call("ask", {"words": "record"}, principal=BO)
        ours = await hr.call("ask", {"words": "record"}, principal=ANA)
    assert theirs.result.data == ["record.all"] and ours.result.data == ["record.acme", "record.all"]


@pytest.mark.req("BY-17", "EX-01")
def test_the_blocking_facade_searches_and_gives_the_menu() -> None:
    with SyncHandrail([named("a.record"), named("b.other")]) as hr:
        assert [one.tool.id for one in hr.search("record", ANA, limit=1)] == ["a.record"]
        assert hr.menu(ANA, loaded=["b.other"]) == "## a\n- a.record: Do it."
        assert [one.id for one in hr.tools(ANA, after="a.record")] == ["b.other"]


@pytest.mark.req("EX-02", "BY-17")
async def test_a_name_that_is_wrong_gets_the_near_ones_by_any_of_their_names() -> None:
    hidden = named("notes.searches", tenants=["other"])
    many = [named(f"area{n}.thing{n}") for n in range(600)]
    async with Handrail([*many, hidden, named("notes.search", aliases=["find_notes"])]) as hr:
        for wrong in ("notes.serach", "NOTES_SEARCH", "find_note", "findnotes"):
            told = (await hr.call(wrong, principal=ANA)).to_model()
            assert "notes.search?" in told and "notes.searches" not in told
        assert "List the tools" in (await hr.call("weather", principal=ANA)).to_model()


@pytest.mark.req("RG-01", "BY-17")
@given(st.sets(st.from_regex(r"[a-z]{1,3}\.[a-z]{1,3}", fullmatch=True), max_size=12), st.integers(1, 5))
async def test_pages_put_together_are_the_listing(names: set[str], limit: int) -> None:
    async with Handrail([named(name) for name in names]) as hr:
        listed: list[str] = []
        while page := await hr.tools(ANA, after=listed[-1] if listed else None, limit=limit):
            assert len(page) <= limit
            listed += [one.id for one in page]
        assert listed == sorted(names)


@pytest.mark.req("RG-01")
async def test_a_page_begins_after_an_id_that_need_not_be_there() -> None:
    async with Handrail([named("a.a"), named("c.c")]) as hr:
        assert [one.id for one in await hr.tools(ANA, after="b.b")] == ["c.c"]
        assert await hr.tools(ANA, after="c.c", limit=5) == []
        with pytest.raises(UsageError, match="tools on a page is a whole number from 1 on"):
            await hr.tools(ANA, limit=0)
