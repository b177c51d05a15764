"""Ranking: the better tool first, and the same for all who see the same."""

from __future__ import annotations

from collections.abc import Iterable
from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from handrail import Tool, ToolMatch, define, tool
from handrail.core.find.bitsets import bits_of
from handrail.core.find.index import MAX_IMPACT, Index, IndexView
from handrail.core.find.rank import _GRAIN, _query_terms, rank
from handrail.core.find.terms import stem
from handrail.ext.tools import wire_name

WORDS = "search record delete file web fetch mail send list all the github sha256 serch".split()


def named(tool_id: str, description: str = "Do it.", **options: Any) -> Tool:
    return define(tool_id, {"description": description, "level": "read", "execute": lambda a: 1, **options})


def shelf(tools: Iterable[Tool], hidden: Iterable[Tool] = ()) -> IndexView:
    shown, index = list(tools), Index([*tools, *hidden])
    return IndexView(index, bits_of((index.slots[tool] for tool in shown), len(index.tools)))


def ids(query: str, *tools: Tool, limit: int = 10) -> list[str]:
    return [one.tool.id for one in rank(query, [shelf(tools)], limit)]


@st.composite
def tools_of(draw: st.DrawFn, prefix: str) -> list[Tool]:
    texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
    described = draw(st.lists(st.tuples(texts, texts), max_size=8))
    made = [(f"{prefix}.{name.replace(' ', '_')}_{at}", text) for at, (name, text) in enumerate(described)]
    return [named(tool_id, text) for tool_id, text in made]


QUERIES = st.lists(st.sampled_from([*WORDS, "recrods", "webfetch", "rec", "deletion", "?"]), max_size=5)


def seen(found: Iterable[ToolMatch]) -> list[tuple[str, float, Any]]:
    return [(one.tool.id, one.score, one.matched) for one in found]


@pytest.mark.req("BY-17")
@given(tools_of("a"), QUERIES.map(" ".join), st.integers(1, 20))
def test_ranks_are_those_of_a_plain_sum_over_each_tool(tools: list[Tool], query: str, limit: int) -> None:
    here = shelf(tools)
    sought = _query_terms(query, [here])

    def impacts(tool: Tool) -> list[float]:
        slot = here.index.slots[tool]
        found = []
        for one in sought:
            postings = [(here.index.posting(term), weight) for term, weight in one.terms.items()]
            found.append(
                max(
                    (
                        weight * posting.impacts[list(posting.slots).index(slot)]
                        for posting, weight in postings
                        if slot in posting.slots
                    ),
                    default=0.0,
                )
            )
        return found

    rows = {tool: impacts(tool) for tool in tools}
    having = [sum(row[at] > 0 for row in rows.values()) for at in range(len(sought))]
    worth = [
        _GRAIN * one.weight * log(1 + (len(tools) - number + 0.5) / (number + 0.5))
        for one, number in zip(sought, having, strict=True)
    ]
    points = {
        tool: sum(max(1, round(value * one)) for value, one in zip(worth, row, strict=True) if one)
        for tool, row in rows.items()
    }
    expected = sorted((-number, tool.id) for tool, number in points.items() if number)
    found = rank(query, [here], limit)
    assert [one.tool.id for one in found] == [tool_id for _, tool_id in expected[:limit]]
    best = MAX_IMPACT * sum(worth)
    assert [one.score for one in found] == [min(0.99, -number / best) for number, _ in expected[:limit]]


@pytest.mark.req("BY-17")
@given(tools_of("a"), tools_of("b"), QUERIES.map(" ".join))
def test_what_is_hidden_changes_nothing(shown: list[Tool], hidden: list[Tool], query: str) -> None:
    alone = rank(query, [shelf(shown)], 20)
    assert seen(rank(query, [shelf(shown, hidden)], 20)) == seen(alone)
    assert seen(rank(query, [shelf(shown), shelf([], hidden)], 20)) == seen(alone)


@pytest.mark.req("BY-17")
@pytest.mark.parametrize("query", ["serch", "webfetch", "web fetch", "remove", "data.serch"])
def test_a_word_that_only_a_hidden_tool_has_is_looked_for_as_if_nobody_had_it(query: str) -> None:
    shown = [named("data.search"), named("web.fetch"), named("file.delete")]
    hidden = [named("x.serch"), named("x.webfetch"), named("x.remove"), named("data.serch")]
    alone = rank(query, [shelf(shown)], 20)
    assert alone and seen(rank(query, [shelf(shown, hidden)], 20)) == seen(alone)


@pytest.mark.req("BY-17")
@given(tools_of("a"), QUERIES.map(" ".join), st.integers(1, 10), st.randoms())
def test_the_order_of_tools_does_not_matter_and_a_shorter_list_is_the_beginning_of_a_longer(
    tools: list[Tool], query: str, limit: int, random: Any
) -> None:
    whole = seen(rank(query, [shelf(tools)], 20))
    shuffled = random.sample(tools, len(tools))
    assert seen(rank(query, [shelf(shuffled)], limit)) == whole[:limit]


@pytest.mark.req("BY-17")
@given(tools_of("a"), tools_of("b"), QUERIES.map(" ".join))
def test_tools_on_two_shelves_rank_as_if_on_one(one: list[Tool], other: list[Tool], query: str) -> None:
    both = shelf([*one, *other])
    known = " ".join(word for word in query.split() if both.has(stem(word)))
    assert seen(rank(known, [shelf(one), shelf(other)], 20)) == seen(rank(known, [both], 20))


@pytest.mark.req("BY-17")
@given(tools_of("a"), st.text())
def test_any_text_can_be_searched_for(tools: list[Tool], query: str) -> None:
    for one in rank(query, [shelf(tools)], 5):
        assert 0 < one.score <= 1
    assert rank(query, [], 5) == rank(query, [shelf([])], 5) == []


@pytest.mark.req("BY-17", "NM-06")
@pytest.mark.parametrize(
    "query",
    [
        "data.getRecord",
        "data__getRecord",
        "data-get-record",
        "DATA.GETRECORD",
        " data get record ",
        "fetch_one",
        "_",
        wire_name(f"other.{'long' * 20}"),
    ],
)
def test_a_tool_of_that_very_name_comes_first(query: str) -> None:
    long = f"other.{'long' * 20}"
    meant = named("data.getRecord", aliases=["fetch_one", "_", long])
    others = [named(f"data.getRecord{n}", "Data get record fetch one: data.getRecord.") for n in range(20)]
    found = rank(query, [shelf([*others, meant])], 3)
    assert found[0].tool is meant and found[0].score == 1.0
    assert all(one.score < 1 for one in found[1:])


@pytest.mark.req("BY-17")
def test_of_names_that_differ_only_in_style_the_one_written_comes_first() -> None:
    tools = [named("data.get_record"), named("data.getRecord"), named("dataGet.record")]
    assert ids("data.getRecord", *tools)[0] == "data.getRecord"
    assert ids("data.get_record", *tools)[0] == "data.get_record"


@pytest.mark.req("BY-17")
def test_a_name_says_more_than_a_category_and_that_more_than_the_texts() -> None:
    tools = [
        named("a.one", "Other.", guidance="About parrots."),
        named("b.two", "About parrots."),
        named("c.three", "Other.", params={"parrot": {"type": "string"}}),
        named("d.four", "Other.", category="parrots"),
        named("e.five", "Other.", aliases=["parrotFive"]),
        named("f.parrotSix", "Other."),
    ]
    assert ids("parrot", *tools) == ["f.parrotSix", "e.five", "d.four", "b.two", "c.three", "a.one"]


@pytest.mark.req("BY-17")
def test_a_short_name_fits_better_than_a_long_one_and_equal_tools_stand_by_id() -> None:
    tools = [named("x.searchRecordHistoryOfAll"), named("b.searchRecord"), named("a.searchRecord")]
    assert ids("search record", *tools) == ["a.searchRecord", "b.searchRecord", "x.searchRecordHistoryOfAll"]


@pytest.mark.req("BY-17")
def test_a_rare_word_counts_more_than_a_common_one() -> None:
    common = [named(f"n.list{name}") for name in ("Cats", "Dogs", "Fish", "Birds", "Mice", "Cows")]
    assert ids("list parrots", *common, named("n.feedParrots"))[0] == "n.feedParrots"


@pytest.mark.req("BY-17")
def test_weak_words_count_only_where_nothing_else_does() -> None:
    tools = [named("a.the", "The the the."), named("b.parrot")]
    assert ids("the parrot", *tools) == ["b.parrot", "a.the"]
    assert ids("the", *tools) == ["a.the"]


@pytest.mark.req("BY-17")
def test_a_synonym_helps_and_the_word_itself_is_better() -> None:
    tools = [named("tags.remove"), named("files.delete"), named("files.rename")]
    assert ids("remove", *tools) == ["tags.remove", "files.delete"]
    assert ids("delete", *tools) == ["files.delete", "tags.remove"]


@pytest.mark.req("BY-17")
def test_what_is_written_as_one_word_or_two_is_found_either_way() -> None:
    assert ids("webfetch", named("web.fetch"), named("web.search"))[0] == "web.fetch"
    assert ids("web fetch", named("x.webfetch"), named("x.web"), named("x.fetch"))[0] == "x.webfetch"
    assert ids("github", named("a.b", "Ask GitHub."), named("a.c")) == ["a.b"]
    assert ids("Git Hub", named("a.b", "Ask GitHub."), named("a.c")) == ["a.b"]


@pytest.mark.req("BY-17")
def test_a_misspelled_word_is_understood_only_where_nobody_has_it() -> None:
    assert ids("serch recrods", named("data.searchRecords"), named("a.b")) == ["data.searchRecords"]
    assert ids("serch", named("data.searchRecords"), named("x.serch")) == ["x.serch"]


@pytest.mark.req("BY-17")
def test_parameters_inside_objects_and_lists_are_found() -> None:
    inner = {"type": "object", "properties": {"parrot_name": {"description": "How it squawks."}}}
    schema = {"type": "object", "properties": {"all": {"type": "array", "items": inner}}}
    deep = named("a.deep", input=schema)
    assert ids("parrot", deep) == ids("squawk", deep) == ["a.deep"]

    class Bird(BaseModel):
        parrot_name: str

    @tool("a.typed")
    async def typed(birds: list[Bird]) -> None:
        """Other."""

    assert ids("parrot", typed) == ["a.typed"]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": None},
        {"properties": {"a": True, "b": None, "c": {"description": 7}}},
        {"anyOf": "none", "items": [1, None], "$defs": []},
        {},
    ],
)
def test_a_schema_of_any_shape_is_read_as_far_as_it_can_be(schema: dict[str, Any]) -> None:
    odd = Tool(id="odd.parrot", input_schema=schema)
    assert ids("parrot", odd) == ["odd.parrot"]


@pytest.mark.req("BY-17")
def test_a_result_says_which_words_met_which_part() -> None:
    tool = named("files.removeAll", "Delete every file.", params={"path": {"type": "string"}})
    [found] = rank("deleting the files at a paht", [shelf([tool])], 5)
    assert found.matched == {
        "name": ("deleting",),
        "category": ("files",),
        "description": ("deleting", "files"),
        "parameter": ("paht",),
    }


@pytest.mark.req("BY-17")
def test_a_long_text_is_read_from_its_beginning() -> None:
    tools = [named("a.parrot"), named("b.late")]
    assert ids("parrot " + "filler " * 5_000 + "late", *tools) == ["a.parrot"]
