"""Names that read the same everywhere, and belong to one tool."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Registry, Tool, define
from handrail.conformance import check
from handrail.ext.errors import DuplicateName
from tests.unit.conformance.conformant_tool import findings, good


@pytest.mark.req("NM-01", "NM-03")
@pytest.mark.parametrize(
    "name",
    "data.searchRecords read_file read searchEntities roi-calculator GetWeather a.b.c _x data.get_it".split(),
)
def test_every_style_of_names_is_fine(name: str) -> None:
    assert findings(good(name)) == []


@pytest.mark.req("NM-01", "NM-06")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("data.search_allRecords", "'search_allRecords' mixes snake_case and camelCase"),
        ("search-all_records", "'search-all_records' mixes snake_case and kebab-case"),
        ("data__search", "contains `__`"),
        ("d" * 70, "more than the 64 characters"),
    ],
)
def test_a_name_that_reads_differently_elsewhere_is_found(name: str, said: str) -> None:
    [finding] = findings(good(name))

    assert (finding.rule, finding.level) == ("name-style", "warning")
    assert said in finding.message


@pytest.mark.req("NM-06", "NM-07")
@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        (good("data.search"), good("data.search"), "'data.search'"),
        (good("data.find"), good("data__find"), "'data__find'"),
        (good("data.getStats"), good("data.get_stats"), "'data-get-stats'"),
        (good("read"), good("files.read", aliases=["read"]), "'read'"),
        (good("a.b", slug="same"), good("c.d", slug="same"), "'same'"),
    ],
    ids=["id", "wire name", "slug from the id", "alias", "slug"],
)
def test_two_tools_with_one_name_are_found_both(one: Tool, other: Tool, shared: str) -> None:
    told = [finding for finding in check([one, other]) if finding.rule == "name-collision"]

    assert sorted(finding.tool for finding in told) == sorted([one.id, other.id])
    assert all(finding.level == "error" and shared in finding.message for finding in told)
    assert all(
        "test_text_rules_names.py" in finding.message or "conformant_tool.py" in finding.message
        for finding in told
    )


@pytest.mark.req("NM-06")
def test_one_tool_given_twice_is_no_collision() -> None:
    made = good()

    assert check([made, made]) == []


names = st.sampled_from(["a.b", "a__b", "a-b", "aB", "a_b", "ab", "a.c"])


@pytest.mark.req("NM-06", "NM-07")
@given(st.lists(st.tuples(names, st.lists(names, max_size=1)), min_size=2, max_size=4))
def test_a_collision_is_found_exactly_when_a_registry_would_refuse(
    given: list[tuple[str, list[str]]],
) -> None:
    made = [
        define(name, description="Do it.", aliases=[a for a in aliases if a != name], execute=lambda args: 1)
        for name, aliases in given
    ]
    try:
        Registry(made)
        refused = False
    except DuplicateName:
        refused = True

    assert any(finding.rule == "name-collision" for finding in check(made)) == refused
