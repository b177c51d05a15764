"""Names: every style is addressable, and providers get names they accept and we can read back."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handrail import Handrail, Registry, Tool, define
from handrail.core.define.names import NAME, category_of, is_name
from handrail.ext.errors import DuplicateName
from handrail.ext.forms import humanize_field_name
from handrail.ext.tools import slug_of, wire_name

names = st.from_regex(NAME, fullmatch=True).filter(is_name)


def named(name: str, **options: Any) -> Tool:
    return define(name, description="Do it.", level="read", execute=lambda args: name, **options)


def made_of(options: dict[str, Any]) -> Tool:
    return named(options["id"], **{key: value for key, value in options.items() if key != "id"})


@pytest.mark.req("NM-01", "NM-03")
@pytest.mark.parametrize(
    "name",
    [
        "data.searchRecords",
        "read_file",
        "read",
        "webfetch",
        "searchEntities",
        "roi-calculator",
        "a.b.c",
        "_x",
    ],
)
async def test_every_style_of_name_is_addressable(name: str) -> None:
    slug = {"slug": "x"} if name == "_x" else {}

    async with Handrail([named(name, **slug)]) as hr:
        assert (await hr.call(name)).result.data == name


@pytest.mark.req("NM-03", "NM-07")
@pytest.mark.parametrize(
    "spelling", ["data.searchRecords", "data__searchRecords", "data-search-records", "find"]
)
async def test_id_wire_name_slug_and_alias_lead_to_the_same_tool(spelling: str) -> None:
    async with Handrail([named("data.searchRecords", aliases=["find"])]) as hr:
        out = await hr.call(spelling)

    assert (out.status, out.tool) == ("completed", "data.searchRecords")


@pytest.mark.req("NM-01")
@pytest.mark.parametrize(
    ("name", "category"), [("data.searchRecords", "data"), ("mcp.files.read", "mcp.files"), ("read", None)]
)
def test_the_prefix_is_the_category(name: str, category: str | None) -> None:
    assert category_of(name) == category


@pytest.mark.req("NM-02", "NM-04")
async def test_a_catalogue_of_91_tools_in_8_categories_stands_in_one_menu() -> None:
    async with Handrail([named(f"area{number % 8}.doThing{number}") for number in range(91)]) as hr:
        menu = await hr.export("prompt_menu")

    assert re.findall(r"^## (.*)$", menu, re.M) == [f"area{number}" for number in range(8)]
    assert len(re.findall(r"^- area(\d)\.doThing\d+: Do it\.$", menu, re.M)) == 91


@pytest.mark.req("NM-05")
@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("max_results", "Max Results"),
        ("roi-calculator", "Roi Calculator"),
        ("searchRecords", "Search Records"),
        ("parseHTTPResponse", "Parse HTTP Response"),
        ("data.searchRecords", "Data Search Records"),
        ("_x", "X"),
        ("", ""),
    ],
)
def test_field_names_become_labels(name: str, label: str) -> None:
    assert humanize_field_name(name) == label


@pytest.mark.req("NM-06")
@given(names)
@example("a" * 128)
@example("a." * 63 + "b")
def test_a_wire_name_fits_what_providers_accept(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", wire_name(name))


@pytest.mark.req("NM-06")
@given(st.sets(names, min_size=1, max_size=12))
@example({"a.b", "a__b"})
@example({"a.b", "a-b"})
@example({"x" * 64 + "a", "x" * 64 + "b"})
def test_the_registry_maps_wire_names_back_or_refuses_the_collision(ids: set[str]) -> None:
    some_tool, registry, refused = named("some.tool"), Registry(), set()
    for number, name in enumerate(sorted(ids)):
        try:
            registry.register(replace(some_tool, id=name, slug=f"tool-{number}"))
        except DuplicateName:
            refused.add(name)

    for name in ids - refused:
        found = registry.get(wire_name(name))
        assert found is not None and found.id == name
    for name in refused:
        other = registry.get(wire_name(name))
        assert other is not None and other.id != name


@pytest.mark.req("NM-06")
@given(names, names)
def test_names_of_any_length_differ_on_the_wire_unless_dots_are_all_that_differs(one: str, two: str) -> None:
    if one.replace(".", "__") != two.replace(".", "__"):
        assert wire_name(one) != wire_name(two)


@given(names)
def test_a_slug_is_safe_in_an_address(name: str) -> None:
    assert re.fullmatch(r"([a-z0-9]+(-[a-z0-9]+)*)?", slug_of(name))


@pytest.mark.req("NM-07")
@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        ({"id": "data.search"}, {"id": "data.search"}, "data.search"),
        ({"id": "data.search"}, {"id": "data__search", "slug": "other"}, "data__search"),
        ({"id": "data__search", "slug": "other"}, {"id": "data.search"}, "data__search"),
        ({"id": "data.search"}, {"id": "data_search"}, "data-search"),
        ({"id": "search", "aliases": ["find"]}, {"id": "find"}, "find"),
        ({"id": "find"}, {"id": "search", "aliases": ["find"]}, "find"),
        ({"id": "search", "aliases": ["look"]}, {"id": "find", "aliases": ["look"]}, "look"),
        ({"id": "search", "aliases": ["a.b"]}, {"id": "a__b"}, "a__b"),
        ({"id": "search", "slug": "find"}, {"id": "find"}, "find"),
        ({"id": "search", "slug": "x"}, {"id": "find", "slug": "x"}, "x"),
    ],
    ids=[
        "id",
        "wire name of another",
        "id that is another's wire name",
        "slug",
        "id that is an alias",
        "alias that is an id",
        "alias",
        "wire name of an alias",
        "id that is a slug",
        "given slug",
    ],
)
@pytest.mark.parametrize("origin", ["custom", "mcp"])
def test_a_name_that_is_taken_is_refused_with_both_places(
    first: dict[str, Any], second: dict[str, Any], name: str, origin: str
) -> None:
    registry = Registry([made_of(first)])
    other = made_of({**second, "origin": origin})

    with pytest.raises(DuplicateName) as refused:
        registry.register(other)

    error = refused.value
    assert f"the name {name!r} belongs to {first['id']!r} at {__file__}:" in error.problem
    assert (error.tool, error.location) == (other.id, other.location)
    assert error.remedy
    assert registry.get(name) is registry.get(first["id"])


@pytest.mark.req("NM-07")
async def test_one_canonical_id_is_told_whatever_name_was_called() -> None:
    async with Handrail([named("data.searchRecords", aliases=["find"])]) as hr:
        outs = [await hr.call(name) for name in ("find", "data__searchRecords", "data.searchRecords")]
        told = [event.tool for event in hr.log.read("local")]

    assert {out.tool for out in outs} == set(told) == {"data.searchRecords"}
