"""Rules: which calls they single out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Handrail, Policy, Principal, Rule, tool

pytestmark = pytest.mark.req("PM-26")

ANA = Principal(tenant="acme", user="ana", roles=["clerk", "buyer"])


def holds(when: dict[str, Any], args: dict[str, Any], **facts: Any) -> bool:
    return Rule("t", when).holds(args, {f"@{name}": value for name, value in facts.items()})


OPERATORS: dict[str, tuple[Any, list[Any], list[Any]]] = {
    "eq": (5, [5, 5.0], [4, "5", None, [5]]),
    "neq": (5, [4, "5", None], [5]),
    "gt": (5, [5.1, 6], [5, 4]),
    "gte": (5, [5, 6], [4.9]),
    "lt": (5, [4.9, -1], [5, 6]),
    "lte": (5, [5, 4], [5.1]),
    "in": (["eu", "us"], ["eu", "us"], ["EU", "e", None, ["eu"]]),
    "not_in": (["eu", "us"], ["uk", None], ["eu"]),
    "contains": ("cat", ["concat", ["dog", "cat"], {"cat": 1}], ["dog", ["concat"], 5, None]),
    "prefix": ("rm ", ["rm -r"], ["rmdir", "a rm ", 5]),
    "suffix": (".env", [".env", "a.env"], [".envy", None]),
    "glob": ("*.p[yi]", ["a.py", "/x/b.pi", "a\nb.py"], ["a.pyc", "apy", 5]),
    "regex": (r"\brm\s+-\w*r", ["rm -rf /", "ls; rm -r x"], ["rm x", "charm -r", 5]),
    "under": ("/srv/data", ["/srv/data", "/srv/data/a", "/srv/x/../data/a"], ["/srv/database", "/srv", 5]),
    "exists": (True, [5, None, "", []], []),
}


@pytest.mark.parametrize("operator", OPERATORS)
def test_each_operator_takes_what_it_means_and_nothing_else(operator: str) -> None:
    wanted, yes, no = OPERATORS[operator]
    when = {"x": {operator: wanted}}

    assert [value for value in yes if not holds(when, {"x": value})] == []
    assert [value for value in no if holds(when, {"x": value})] == []


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_argument_that_is_not_there_satisfies_no_operator(operator: str) -> None:
    assert not holds({"x": {operator: OPERATORS[operator][0]}}, {"y": 5})


def test_only_exists_false_holds_for_an_argument_that_is_not_there() -> None:
    assert holds({"x": {"exists": False}}, {"y": 5})
    assert holds({"x.y": {"exists": False}}, {"x": {}})
    assert not holds({"x": {"exists": False}}, {"x": None})


def test_true_is_not_one() -> None:
    assert not holds({"x": 1}, {"x": True})
    assert not holds({"x": True}, {"x": 1})
    assert not holds({"x": [0, 1]}, {"x": False})
    assert not holds({"x": {"contains": 1}}, {"x": [True]})


def test_a_value_stands_for_eq_and_a_list_for_in() -> None:
    assert holds({"x": "eu"}, {"x": "eu"})
    assert holds({"x": ["eu", "us"]}, {"x": "us"})
    assert holds({"x": None}, {"x": None})
    assert not holds({"x": None}, {})


def test_all_conditions_must_hold() -> None:
    when = {"x": {"gt": 1, "lt": 5}, "y": "eu"}
    assert holds(when, {"x": 3, "y": "eu"})
    assert not holds(when, {"x": 9, "y": "eu"})
    assert not holds(when, {"x": 3, "y": "us"})


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("items.*.price", True),
        ("items.1.price", True),
        ("items.0.price", False),
        ("items.9.price", False),
        ("*.*.price", True),
        ("items.price", False),
        ("deep.a.b", True),
        ("deep.*.b", True),
        ("deep.a.b.c", False),
        ("items.²", False),
    ],
)
def test_a_path_leads_through_objects_and_lists_and_a_star_is_any_of_them(path: str, found: bool) -> None:
    args = {"items": [{"price": 1}, {"price": 99}], "deep": {"a": {"b": 99}}}
    assert holds({path: 99}, args) is found


@given(st.lists(st.integers(0, 9)))
def test_a_star_holds_when_any_item_does(items: list[int]) -> None:
    assert holds({"items.*": {"gt": 5}}, {"items": items}) == any(item > 5 for item in items)


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "//etc/passwd",
        "///etc//passwd",
        "/etc/./passwd",
        "/srv/../etc/passwd",
        "/etc/ssh/../passwd",
        "/../etc",
        "/etc/",
    ],
)
def test_under_sees_through_dots_and_slashes(path: str) -> None:
    assert holds({"path": {"under": "/etc"}}, {"path": path})


@pytest.mark.parametrize(
    "path", ["/etc/../srv", "/etcetera", "/etc/../../etc2", "etc/passwd", "", "/", "/srv/etc"]
)
def test_under_is_not_deceived_into_taking_another_folder(path: str) -> None:
    assert not holds({"path": {"under": "/etc"}}, {"path": path})


@pytest.mark.parametrize(
    ("root", "inside", "outside"),
    [
        (".", ["a", "a/b", ".", "a/../b", "./a"], ["..", "../a", "a/../../b", "/a"]),
        ("data", ["data", "data/a", "./data/a", "x/../data"], ["data/../x", "database", "../data", "/data"]),
        ("..", ["..", "../a"], ["../..", "../../a", "a", "/a"]),
        ("/", ["/", "/a", "//a", "/../a"], ["a", ".."]),
    ],
)
def test_under_knows_relative_folders_too(root: str, inside: list[str], outside: list[str]) -> None:
    assert [path for path in inside if not holds({"p": {"under": root}}, {"p": path})] == []
    assert [path for path in outside if holds({"p": {"under": root}}, {"p": path})] == []


FACTS = [
    ({"@source": "mcp"}, {"source": "mcp"}, {"source": "agent"}),
    ({"@tenant": {"prefix": "test-"}}, {"tenant": "test-a"}, {"tenant": "acme"}),
    ({"@user": ["ana", "bo"]}, {"user": "bo"}, {"user": None}),
    ({"@agent": {"exists": True}}, {"agent": "ops"}, {"agent": None}),
    ({"@agent": {"exists": False}}, {"agent": None}, {"agent": "ops"}),
    ({"@agent": None}, {"agent": None}, {"agent": "ops"}),
    ({"@agent": {"neq": "ops"}}, {"agent": None}, {"agent": "ops"}),
    ({"@role": "admin"}, {"role": frozenset({"admin", "clerk"})}, {"role": frozenset({"clerk"})}),
    ({"@role": {"neq": "admin"}}, {"role": frozenset({"clerk"})}, {"role": frozenset({"admin", "clerk"})}),
    ({"@role": {"not_in": ["admin", "boss"]}}, {"role": frozenset()}, {"role": frozenset({"boss", "x"})}),
    ({"@level": ["write", "destructive"]}, {"level": "write"}, {"level": "read"}),
    ({"@danger": {"neq": "safe"}}, {"danger": "moderate"}, {"danger": "safe"}),
]


@pytest.mark.parametrize(("when", "yes", "no"), FACTS)
def test_a_fact_of_the_call_can_be_a_condition(
    when: dict[str, Any], yes: dict[str, Any], no: dict[str, Any]
) -> None:
    assert holds(when, {}, **yes)
    assert not holds(when, {}, **no)


def test_an_argument_cannot_pass_for_a_fact() -> None:
    assert not holds({"@role": "admin"}, {"@role": "admin"}, role=frozenset({"clerk"}))


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("data.*", ["data.search", "data.a.b"], ["data", "mydata.x", "Data.search"]),
        ("mcp.*", ["mcp.github.push"], ["mcpx.y"]),
        ("*", ["anything"], []),
        ("*.purge", ["mail.purge"], ["mail.purged"]),
        ("mail.send", ["mail.send"], ["mail.sender"]),
    ],
)
def test_a_rule_names_tools_by_pattern(pattern: str, yes: list[str], no: list[str]) -> None:
    rule = Rule(pattern)
    assert [name for name in yes if not rule.applies_to([name])] == []
    assert [name for name in no if rule.applies_to([name])] == []


@tool("files.write", level="write", aliases=["write_file"])
async def write(path: str, mode: str = "keep", lines: list[str] | None = None) -> None:
    """Write."""


@pytest.mark.parametrize("name", ["files.*", "write_file", "files-write", "files__write"])
async def test_a_rule_holds_however_the_tool_is_named_in_the_rule_or_in_the_call(name: str) -> None:
    async with Handrail([write], policy=Policy(rules=[Rule(name, {"path": "/x"}, "deny")])) as hr:
        for called in ("files.write", "write_file", "files__write"):
            out = await hr.call(called, {"path": "/x"}, principal=ANA)
            assert (out.code, out.decision and out.decision.rule) == ("NOT_PERMITTED", name)


async def test_a_rule_sees_repaired_arguments_with_their_defaults() -> None:
    rules = [
        Rule("files.*", {"mode": "keep", "lines": {"contains": "x"}}, "deny", name="default and repair"),
    ]
    async with Handrail([write], policy=Policy(rules=rules)) as hr:
        out = await hr.call("files.write", {"path": "a", "lines": "x"}, principal=ANA)

    assert out.decision is not None and out.decision.rule == "default and repair"


async def test_a_rule_sees_the_defaults_of_a_tool_with_plain_arguments_too() -> None:
    @tool("files.list", level="read")
    async def list_files(folder: str = "/etc", depth: int = 1) -> None:
        """List."""

    async with Handrail(
        [list_files], policy=Policy(rules=[Rule("*", {"folder": {"under": "/etc"}}, "deny")])
    ) as hr:
        assert (await hr.call("files.list", principal=ANA)).code == "NOT_PERMITTED"
        assert (await hr.call("files.list", {"depth": 2}, principal=ANA)).code == "NOT_PERMITTED"
        assert (await hr.call("files.list", {"folder": "/srv"}, principal=ANA)).ok


@pytest.mark.parametrize(
    ("verdict", "status"),
    [("allow", "pending"), ("ask", "pending"), ("queue", "queued"), ("deny", "refused")],
)
async def test_a_rule_may_say_allow_but_takes_no_gate_away(verdict: Any, status: str) -> None:
    async with Handrail([write], policy=Policy(rules=[Rule("files.*", verdict=verdict)])) as hr:
        assert (await hr.call("files.write", {"path": "a"}, principal=ANA)).status == status


async def test_facts_of_a_real_call_reach_the_rules() -> None:
    rules = [
        Rule("*", {"@source": "mcp"}, "deny", name="source"),
        Rule("*", {"@tenant": "globex"}, "deny", name="tenant"),
        Rule("*", {"@user": "eve"}, "deny", name="user"),
        Rule("*", {"@agent": "rogue"}, "deny", name="agent"),
        Rule("*", {"@role": "guest"}, "deny", name="role"),
        Rule("*", {"@level": "write", "@danger": "moderate", "mode": "force"}, "deny", name="axes"),
    ]
    calls: dict[str, tuple[Principal, Any, dict[str, Any]]] = {
        "source": (ANA, "mcp", {}),
        "tenant": (Principal(tenant="globex"), "agent", {}),
        "user": (Principal(tenant="acme", user="eve"), "agent", {}),
        "agent": (Principal(tenant="acme", agent="rogue"), "agent", {}),
        "role": (Principal(tenant="acme", roles=["guest"]), "agent", {}),
        "axes": (ANA, "agent", {"mode": "force"}),
    }
    async with Handrail([write], policy=Policy(rules=rules)) as hr:
        for name, (who, source, args) in calls.items():
            said = await hr.explain("files.write", {"path": "a", **args}, who, source=source)
            assert (said.verdict, said.rule) == ("deny", name)
        assert (await hr.explain("files.write", {"path": "a"}, ANA)).verdict == "ask"
