"""A guard that remembers decides as one that never saw the call before, step by step."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Policy, Principal, Rule, Tool, define
from handrail.core.guard.guard import Guard
from handrail.ext.guard import decide

CALLERS = [
    Principal(tenant="acme", user="ana"),
    Principal(tenant="acme", user="bo", roles={"boss"}, permissions={"data.read"}),
    Principal(tenant="acme", key="service"),
    Principal(tenant="acme", user="ana", agent="ops", ancestors=("chief",)),
]
DANGERS = ["safe", "moderate", "dangerous"]

conditions = st.dictionaries(
    st.sampled_from(["limit", "rows.*.id", "rows.0.id", "@user", "@role", "@agent", "@level", "@source"]),
    st.sampled_from([1, 2, "ana", "boss", "chief", "write", "agent", [1, 2], {"exists": True}, {"neq": 1}]),
    max_size=2,
)
rules = st.builds(
    Rule,
    tool=st.sampled_from(["*", "data.find", "data.*", "mail.*"]),
    when=conditions,
    verdict=st.sampled_from(["allow", "ask", "queue", "deny"]),
)
arguments = st.fixed_dictionaries(
    {},
    optional={
        "limit": st.integers(0, 3),
        "danger": st.sampled_from(DANGERS),
        "rows": st.lists(st.fixed_dictionaries({"id": st.integers(0, 2)}), max_size=2),
    },
)
calls = st.tuples(arguments, st.sampled_from(CALLERS), st.sampled_from(["agent", "web", "api"]))


def finding(**options: Any) -> Tool:
    return define(
        "data.find", {"description": "Find.", "level": "write", "execute": lambda args: 1, **options}
    )


def said(args: Any) -> Any:
    return args.get("danger", "safe")


TOOLS = [finding(), finding(danger=said), finding(danger=said, requires="data.read")]


@pytest.mark.req("PM-26")
@given(
    st.lists(rules, max_size=3),
    st.lists(rules, max_size=2),
    st.sampled_from(TOOLS),
    st.lists(calls, min_size=1, max_size=8),
)
def test_what_is_remembered_is_what_would_be_decided(
    own: list[Rule], above: list[Rule], tool: Tool, made: list[Any]
) -> None:
    policy = Policy(rules=above).spawn(Policy(rules=own))
    guard = Guard(policy)
    for args, principal, source in made * 2:
        assert guard.decide(tool, args, principal, source) == decide(tool, args, principal, policy, source)


@pytest.mark.req("PM-26")
def test_a_danger_that_changes_its_mind_is_asked_once_for_each_call() -> None:
    answers = iter(DANGERS * 2)
    guard = Guard(Policy(approval_mode="danger", moderate="allow"))
    tool = finding(danger=lambda args: next(answers))
    verdicts = [guard.decide(tool, {}, CALLERS[0], "agent").verdict for _ in range(6)]
    assert verdicts == ["allow", "allow", "ask"] * 2
