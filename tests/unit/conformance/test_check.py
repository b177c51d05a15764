"""check: every rule over every tool, in an order to rely on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import BaseTool, Handrail, define, from_json_schema, from_params, tool
from handrail.conformance import RULES, Finding, check, check_ready
from handrail.core.find.registry import as_tool
from handrail.ext.compat import InitContext
from handrail.ext.errors import DefinitionError
from scripts.coverage_req import read_spec
from tests.unit.conformance.conformant_tool import findings, good, schema

ROOT = Path(__file__).parents[3]
POOR: dict[str, Any] = {"description": "Search.", "output": None, "input": schema(q={"type": "string"})}


@pytest.mark.req("CF-01", "CF-06")
def test_findings_come_by_tool_and_then_by_rule() -> None:
    told = check([good("b.two", **POOR), good("a.one", **POOR), good("c.three")])

    rules = ["description-length", "output-schema", "parameter-description"]
    assert [(one.tool, one.rule) for one in told] == [
        (name, rule) for name in ("a.one", "b.two") for rule in rules
    ]


@pytest.mark.req("CF-06")
def test_a_tool_that_is_given_twice_is_checked_once() -> None:
    made = good(output=None)

    assert [one.rule for one in check([made, made])] == ["output-schema"]


@pytest.mark.req("CF-06")
def test_a_finding_says_which_tool_what_is_wrong_what_to_do_and_where() -> None:
    [finding] = findings(good(output=None))

    assert finding.where is not None and re.search(r"conformant_tool\.py:\d+$", finding.where)
    assert str(finding) == (
        f"{finding.where}: data.search: error output-schema: {finding.message}\n  remedy: {finding.remedy}"
    )
    assert str(Finding("a.b", "default", "error", "It is so.", "Do this.")) == (
        "a.b: error default: It is so.\n  remedy: Do this."
    )


@pytest.mark.req("CF-06", "DS-05")
def test_the_rules_are_a_table_of_different_slugs_with_requirements_that_exist() -> None:
    slugs = [rule.slug for rule in RULES]
    known = {one for group in read_spec(ROOT)["req"].values() for one in group}

    assert len(set(slugs)) == len(slugs) and all(re.fullmatch("[a-z]+(-[a-z]+)*", slug) for slug in slugs)
    assert {rule.requirement for rule in RULES} <= known
    assert {rule.requirement for rule in RULES} >= {"CF-01", "CF-03", "DS-01", "DS-02", "DS-03", "DS-04"}
    assert all(rule.sentence.endswith(".") for rule in RULES)


class Search(BaseTool):
    """Search the records of a region, newest first."""

    id = "data.search"
    level = "read"

    def execute(self, limit: int) -> list[str]:
        """Search.

        Args:
            limit: How many at most.
        """
        return []


@tool("data.search", level="read")
def search(limit: int) -> list[str]:
    """Search the records of a region, newest first.

    Args:
        limit: How many at most.
    """
    return []


TEXT = "Search the records of a region, newest first."
LIMIT = {"type": "integer", "description": "How many at most."}
STYLES = {
    "function": search,
    "class": Search,
    "instance": Search(),
    "definition": good(),
    "parameters": from_params(
        "data.search",
        lambda args: [],
        description=TEXT,
        level="read",
        params={"limit": LIMIT},
        output={"type": "array", "items": {"type": "string"}},
    ),
    "tenant's own": from_json_schema(
        "data.search",
        schema(limit=LIMIT),
        lambda args: [],
        description=TEXT,
        level="read",
        origin="tenant_custom",
    ),
}


@pytest.mark.req("CF-06")
@pytest.mark.parametrize("style", STYLES)
def test_users_check_their_own_tools_however_they_are_written(style: str) -> None:
    assert check([as_tool(STYLES[style])]) == []


@pytest.mark.req("CF-06")
def test_a_tool_of_a_tenant_is_checked_while_it_is_authored() -> None:
    drafted = from_json_schema(
        "tenant.wipe",
        {"type": "object"},
        dict,
        description="Wipe.",
        level="destructive",
        origin="tenant_custom",
    )

    assert [one.rule for one in check([drafted])] == [
        "description-length",
        "destructive-guidance",
        "input-schema",
    ]


def test_what_is_no_tool_is_refused() -> None:
    with pytest.raises(DefinitionError, match="is not a tool"):
        check(["data.search"])  # type: ignore[list-item]


async def prepare(init: InitContext) -> dict[str, Any]:
    return {"description": f"Search {init.working_dir}.", "level": "read", "execute": lambda args: 1}


@pytest.mark.req("CF-06")
async def test_a_tool_that_waits_for_its_initialiser_says_so_and_can_be_made_ready() -> None:
    waiting = define("data__late", prepare)

    early = check([waiting])
    late = await check_ready([waiting], working_dir="/srv")

    assert [(one.rule, one.level) for one in early] == [
        ("name-style", "warning"),
        ("not-initialised", "warning"),
    ]
    assert "await check_ready" in early[1].remedy
    assert [one.rule for one in late] == ["description-length", "input-schema", "name-style", "output-schema"]
    assert not waiting.ready


@pytest.mark.req("CF-06")
async def test_an_initialiser_that_fails_is_a_finding_and_hides_no_other() -> None:
    def fail(init: InitContext) -> Any:
        raise OSError("the database is away")

    def unusable(init: InitContext) -> Any:
        return {"description": "", "execute": print}

    def other(init: InitContext) -> Any:
        return good("data.other")

    waiting = [define("a.away", fail), define("b.unusable", unusable), define("c.renamed", other)]
    told = await check_ready([*waiting, good(output=None)])

    assert [(one.tool, one.rule) for one in told] == [
        ("a.away", "not-initialised"),
        ("b.unusable", "not-initialised"),
        ("c.renamed", "not-initialised"),
        ("data.search", "output-schema"),
    ]
    assert "OSError('the database is away')" in told[0].message
    assert "it has no description" in told[1].message
    assert "it returned 'data.other'" in told[2].message


@pytest.mark.req("CF-06")
async def test_what_an_engine_lists_is_initialised_already() -> None:
    async with Handrail([define("data.late", prepare)]) as hr:
        told = check(await hr.tools())

    assert "not-initialised" not in [one.rule for one in told]


names = st.sampled_from(["a", "b/~", "limit", "$ref", "default", "tenant_id"])
anything = st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=3)
notes = st.fixed_dictionaries(
    {},
    optional={
        "default": anything,
        "examples": st.lists(anything, max_size=2),
        "example": anything,
        "description": st.text(max_size=5),
    },
)
leaves: st.SearchStrategy[Any] = st.sampled_from(
    [
        True,
        {},
        {"type": "object"},
        {"$ref": "#"},
        {"$ref": "#/$defs/a"},
        {"type": "integer"},
        {"enum": ["x", 1]},
    ]
)


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several, named = st.lists(inner, min_size=1, max_size=3), st.dictionaries(names, inner, max_size=3)
    parts = {
        "properties": named,
        "patternProperties": st.dictionaries(st.just("^x"), inner, max_size=1),
        "additionalProperties": inner,
        "items": inner,
        "prefixItems": several,
        **dict.fromkeys(("anyOf", "oneOf", "allOf"), several),
        **dict.fromkeys(("not", "if", "then"), inner),
    }
    return st.builds(lambda part, told: part | told, st.fixed_dictionaries({}, optional=parts), notes)


schemas = st.recursive(leaves, nested, max_leaves=10)


@pytest.mark.req("CF-01", "CF-03", "DS-05")
@given(nested(schemas), schemas, st.text(max_size=60), st.text(max_size=60))
def test_whatever_can_be_defined_can_be_checked(whole: Any, part: Any, text: str, guidance: str) -> None:
    given = {**whole, "type": "object", "$defs": {"a": part}}
    made = good(input=given, description=f"Do {text}", guidance=guidance)

    told = check([made])

    assert all(one.message and one.remedy and one.level in ("error", "warning") for one in told)
    assert told == check([made])
