"""A decision in words: every layer that was asked, in order, and the one that decided."""

from __future__ import annotations

from typing import get_args

import pytest

from handrail.core.define.decision import Step, Verdict, strictest
from handrail.platform.decisions import layer_reasons, remedy


@pytest.mark.req("BY-07")
def test_every_layer_is_told_in_order_and_the_one_that_decided_is_marked() -> None:
    decision = strictest(
        (
            Step("visibility", "allow", "this tenant may see it"),
            Step("rules", "deny", "no deletes", "no-deletes", "NOT_PERMITTED"),
            Step("level", "ask", "Needs approval: it changes real data", None, "NEEDS_APPROVAL", "reviewer"),
        )
    )
    told = layer_reasons(decision)
    assert [(one.layer, one.says, one.reason, one.decided) for one in told] == [
        ("Who may see it", "allows it", "this tenant may see it", False),
        ("Rules", "refuses it", "no deletes", True),
        ("Level", "wants a person to agree", "it changes real data", False),
    ]
    assert told[1].rule == "no-deletes"


@pytest.mark.parametrize("verdict", get_args(Verdict))
def test_a_layer_of_somebody_else_is_told_by_its_own_name(verdict: Verdict) -> None:
    [one] = layer_reasons(strictest((Step("my layer", verdict, "because"),)))
    assert (one.layer, one.decided) == ("My layer", True)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Step("allow/deny", "deny", "", "deny"), "take it off the deny list"),
        (Step("allow/deny", "deny", "", "allow"), "add it to the allow list"),
        (Step("permission", "deny", ""), "hold that permission"),
        (Step("capability", "deny", ""), "grant the capability"),
        (Step("plan", "queue", ""), "switch plan mode off"),
        (Step("level", "ask", ""), None),
    ],
)
def test_what_would_help_is_said_where_it_is_the_same_at_every_door(step: Step, words: str | None) -> None:
    said = remedy(step)
    assert said is None if words is None else words in (said or "")
