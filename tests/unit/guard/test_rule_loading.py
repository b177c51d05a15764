"""Rules carry their own examples, and a rule that is wrong does not load."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import Policy, Rule
from handrail.ext.errors import PolicyError


@pytest.mark.req("BY-08", "PM-26")
@pytest.mark.parametrize(
    ("options", "example"),
    [
        ({"match": [{"amount": 100}]}, "{'amount': 100}"),
        ({"match": [{"amount": 101}, {}]}, "{}"),
        ({"match": ["mail.send"]}, "'mail.send'"),
        ({"match": [{"tool": "pay.send", "args": {"amount": 1}}]}, "'amount': 1"),
        ({"match": [{"tool": "mail.send", "args": {"amount": 101}}]}, "'mail.send'"),
        ({"not_match": [{"amount": 101}]}, "{'amount': 101}"),
        ({"not_match": ["pay.send"]}, "'pay.send'"),
        ({"not_match": [{"tool": "pay.send", "args": {"amount": 101}}]}, "'amount': 101"),
        ({"match": [5]}, "5"),
        ({"match": [{"amount": "many"}]}, "'many'"),
        ({"not_match": [{"amount": None}]}, "None"),
    ],
)
def test_a_rule_whose_example_fails_does_not_load_and_says_which(
    options: dict[str, Any], example: str
) -> None:
    with pytest.raises(PolicyError) as raised:
        Rule("pay.*", {"amount": {"gt": 100}}, "ask", name="large payments", **options)

    assert "rule 'large payments'" in str(raised.value)
    assert example in str(raised.value)


@pytest.mark.req("BY-08", "PM-26")
def test_a_rule_whose_examples_hold_loads() -> None:
    Rule(
        "pay.*",
        {"amount": {"gt": 100}, "@source": ["mcp", "agent"], "@role": {"neq": "boss"}},
        match=[
            {"amount": 101, "@source": "mcp"},
            {"tool": "pay.send", "args": {"amount": 101}, "@source": "agent", "@role": ["clerk"]},
            "pay.refund",
        ],
        not_match=[
            {"amount": 101},
            {"amount": 101, "@source": "web"},
            {"amount": 101, "@source": "mcp", "@role": ["boss", "clerk"]},
            {"tool": "mail.send", "args": {"amount": 101}, "@source": "mcp"},
            "mail.send",
        ],
    )


@pytest.mark.req("PM-26")
@pytest.mark.parametrize(
    ("when", "said"),
    [
        ({"x": {"regex": "("}}, "regex cannot use '('"),
        ({"x": {"regex": 5}}, "regex cannot use 5"),
        ({"x": {"glob": None}}, "glob cannot use None"),
        ({"x": {"under": ["/srv"]}}, "under cannot use"),
        ({"x": {"prefix": 5}}, "prefix cannot use 5"),
        ({"x": {"suffix": None}}, "suffix cannot use None"),
        ({"x": {"in": "eu"}}, "in cannot use 'eu'"),
        ({"x": {"in": 5}}, "in cannot use 5"),
        ({"x": {"not_in": "eu"}}, "not_in cannot use 'eu'"),
        ({"x": {"exists": "no"}}, "exists cannot use 'no'"),
        ({"x": {"like": "a%"}}, "'like' is no operator"),
        ({"x": {}}, "x names no operator"),
        ({"@sauce": "mcp"}, "'@sauce' is no fact"),
        ({5: 5}, "5 is no fact"),
        (["x"], "when is ['x']"),
    ],
)
def test_a_condition_that_means_nothing_is_refused_with_the_rule_and_what_is_wrong(
    when: Any, said: str
) -> None:
    with pytest.raises(PolicyError) as raised:
        Rule("pay.*", when, name="payments")

    assert "rule 'payments'" in str(raised.value)
    assert said in str(raised.value)


@pytest.mark.req("PM-26")
@pytest.mark.parametrize(
    "options",
    [
        {"verdict": "forbid"},
        {"verdict": None},
        {"verdict": ["deny"]},
        {"tool": ""},
        {"tool": None},
        {"tool": 5},
    ],
)
def test_a_rule_needs_a_tool_and_one_of_the_four_verdicts(options: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        Rule(**options)


@pytest.mark.req("BY-08")
@pytest.mark.parametrize("examples", ["pay.send", {"amount": 5}])
@pytest.mark.parametrize("which", ["match", "not_match"])
def test_one_example_without_a_list_around_it_is_refused(which: str, examples: Any) -> None:
    with pytest.raises(PolicyError, match=f"{which} is a list"):
        Rule("pay.*", **{which: examples})


@pytest.mark.req("PM-26", "PM-20")
@pytest.mark.parametrize(
    "options",
    [
        {"approval_mode": "lax"},
        {"approval_mode": None},
        {"moderate": "deny"},
        {"plan": "some"},
        {"plan": 1},
        {"capabilities": ["fly"]},
        {"capabilities": "read"},
        {"allow": "data.*"},
        {"deny": "data.*"},
        {"deny": [5]},
        {"rules": [{"tool": "data.*"}]},
    ],
)
def test_a_policy_that_is_written_wrongly_does_not_load(options: dict[str, Any]) -> None:
    with pytest.raises(PolicyError) as raised:
        Policy(**options)

    assert raised.value.remedy
