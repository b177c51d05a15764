"""decide, for every combination of what has a say, against the table of the specification."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from handrail import Policy, Principal, Tool, tool
from handrail.core.define.levels import DANGERS, LEVELS, POLICIES
from handrail.core.guard.decide import is_standing
from handrail.ext.guard import decide
from tests.unit.guard.oracle import TABLE, Case, Expected, expected, table_word

CALLERS: list[tuple[Any, Any]] = [
    ("agent", None),
    ("mcp", None),
    ("job", None),
    ("web", None),
    ("cli", None),
    ("api", "agent"),
    ("api", "person"),
    ("api", "service"),
]
LISTS: dict[str, dict[str, Any]] = {
    "none": {},
    "allowed": {"allow": ["t.act"]},
    "not allowed": {"allow": ["t.other"]},
    "denied": {"deny": ["t.act"]},
    "both": {"allow": ["t.act"], "deny": ["t.act"]},
}
HELD = {"none required": [], "held": ["t.right"], "missing": ["t.other"]}
MODES = ("strict", "policy", "danger")
MODERATE = ("ask", "allow")
PLANS = (False, True, "all")


def tools() -> dict[tuple[str, str, str, bool], Tool]:
    def act() -> None:
        """Act."""

    def made(level: str, danger: str, policy: str, bound: bool) -> Tool:
        requires = "t.right" if bound else None
        return tool(
            "t.act", level=level, danger=danger, policy=policy, requires=requires, capabilities=["network"]
        )(act)

    return {axes: made(*axes) for axes in product(LEVELS, DANGERS, POLICIES, (False, True))}


def policies() -> dict[tuple[str, str, str, str, object], Policy]:
    def made(mode, moderate, lists, capability, plan) -> Policy:
        granted: Any = ["read", "network"] if capability == "granted" else ["read"]
        return Policy(approval_mode=mode, moderate=moderate, capabilities=granted, plan=plan, **LISTS[lists])

    return {axes: made(*axes) for axes in product(MODES, MODERATE, LISTS, ("granted", "missing"), PLANS)}


def cases() -> Iterator[tuple[Case, Tool, Principal, Policy]]:
    """Every case, and the tool, principal and policy that make it up."""
    principals = {
        (key, permission): Principal(tenant="acme", permissions=held, key=key or "agent")
        for (_, key), (permission, held) in product(CALLERS, HELD.items())
    }
    made = tools()
    for (mode, moderate, lists, capability, plan), policy in policies().items():
        for (source, key), permission in product(CALLERS, HELD):
            principal = principals[key, permission]
            bound = permission != "none required"
            for level, danger, asks in product(LEVELS, DANGERS, POLICIES):
                case = Case(
                    level, danger, asks, mode, moderate, source, key, lists, permission, capability, plan
                )
                yield case, made[level, danger, asks, bound], principal, policy


def decided(case: Case, tool: Tool, principal: Principal, policy: Policy) -> Expected:
    decision = decide(tool, {}, principal, policy, case.source)  # type: ignore[arg-type]
    told = decision.verdict in ("deny", "queue")
    return Expected(
        decision.verdict,
        decision.code,
        decision.layer if told else None,
        decision.rule,
        decision.by,
        is_standing(decision),
    )


@pytest.mark.req("PM-01", "PM-02", "PM-03", "PM-04", "PM-05", "PM-06", "PM-10", "PM-11", "PM-12", "PM-18")
@pytest.mark.req("PM-20", "PM-21", "PM-22", "AP-10", "AP-11", "EX-06")
def test_every_combination_is_decided_as_the_table_says() -> None:
    wrong: list[str] = []
    count = 0
    for case, made, principal, policy in cases():
        count += 1
        got, wanted = decided(case, made, principal, policy), expected(case)
        if got != wanted:
            wrong.append(f"{case}\n    said   {got}\n    wanted {wanted}")
    assert count == 4 * 3 * 2 * 3 * 2 * 8 * 5 * 3 * 2 * 3
    assert not wrong, f"{len(wrong)} of {count} are wrong; the first:\n" + "\n".join(wrong[:10])


def test_the_oracle_reads_the_table_that_the_specification_prints() -> None:
    specification = Path(__file__).parents[3] / "docs" / "spec" / "requirements.md"
    assert TABLE in specification.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("case", "word"),
    [
        (Case("write", "moderate"), "ask"),
        (Case("write", "moderate", mode="policy"), "allow"),
        (Case("draft", "moderate", mode="danger", moderate="allow"), "allow"),
        (Case("draft", "moderate", mode="danger", moderate="ask"), "ask"),
        (Case("read", "safe", "always_ask", mode="policy"), "ask"),
        (Case("read", "safe", "always_ask", source="cli"), "allow"),
        (Case("destructive", "safe", "always_ask", source="web"), "confirm"),
        (Case("read", "dangerous", source="api", key="service"), "confirm"),
        (Case("read", "dangerous", source="api", key="agent"), "ask"),
    ],
)
def test_the_oracle_itself_reads_the_rows_rightly(case: Case, word: str) -> None:
    assert table_word(case) == word


@pytest.mark.req("PM-04", "PM-05")
def test_nothing_destructive_or_dangerous_is_ever_allowed_outright() -> None:
    made = tools()
    grave = [made[axes] for axes in made if "destructive" in axes or "dangerous" in axes]
    for one, mode, moderate, (source, key) in product(grave, MODES, MODERATE, CALLERS):
        principal = Principal(tenant="acme", permissions=["*"], key=key or "agent")
        policy = Policy(approval_mode=mode, moderate=moderate)
        decision = decide(one, {}, principal, policy, source)
        assert decision.verdict == "ask", (one.level, one.danger, mode, source, key)
