"""A decision: the strictest word wins, and every word can be read afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Decision
from handrail.core.define.decision import strictest
from handrail.ext.guard import Step

WORDS = ("allow", "ask", "queue", "deny")
"""From the mildest to the strictest."""

steps = st.builds(
    Step,
    layer=st.sampled_from(["visibility", "plan", "rules", "danger", "level"]),
    verdict=st.sampled_from(WORDS),
    reason=st.sampled_from(["", "x", "it is so"]),
    rule=st.none() | st.sampled_from(["a", "b"]),
    by=st.sampled_from([None, "reviewer", "caller"]),
)
traces = st.lists(steps, min_size=1, max_size=8).map(tuple)


@pytest.mark.req("BY-07")
@given(traces)
def test_the_strictest_verdict_wins(trace: tuple[Step, ...]) -> None:
    decision = strictest(trace)

    assert decision.verdict == max((step.verdict for step in trace), key=WORDS.index)
    assert decision.trace == trace


@pytest.mark.req("BY-07")
@given(traces, steps)
def test_one_more_word_never_makes_a_decision_milder(trace: tuple[Step, ...], more: Step) -> None:
    before, after = strictest(trace), strictest((*trace, more))

    assert WORDS.index(after.verdict) >= WORDS.index(before.verdict)
    if before.verdict == after.verdict == "ask" and before.by == "reviewer":
        assert after.by == "reviewer"


@pytest.mark.req("BY-07")
@given(traces)
def test_the_decider_is_the_first_of_the_strictest_or_the_last_word_when_all_allow(
    trace: tuple[Step, ...],
) -> None:
    decision = strictest(trace)
    alike = [step for step in trace if step.verdict == decision.verdict and step.by == decision.by]
    decider = decision.decider

    assert decider is not None
    assert decider == (trace[-1] if decision.verdict == "allow" else alike[0])
    told = (decider.layer, decider.rule, decider.code, decider.reason, decider.by)
    assert told == (decision.layer, decision.rule, decision.code, decision.reason, decision.by)


@pytest.mark.req("BY-07")
@given(traces)
def test_explaining_shows_every_step_and_marks_one(trace: tuple[Step, ...]) -> None:
    decision = strictest(trace)
    head, *lines = decision.explain().split("\n  ")

    assert head.startswith(decision.verdict)
    assert [line[2:] for line in lines] == [str(step) for step in trace]
    assert [line[0] for line in lines].count(">") == 1


@pytest.mark.req("BY-07")
def test_an_ask_that_a_reviewer_must_answer_is_stricter_than_one_the_caller_may_confirm() -> None:
    confirm = Step("danger", "ask", "it is dangerous", by="caller")
    review = Step("rules", "ask", "payments are reviewed", rule="payments", by="reviewer")

    for trace in ((confirm, review), (review, confirm)):
        assert (strictest(trace).by, strictest(trace).rule) == ("reviewer", "payments")


@pytest.mark.req("BY-07")
@pytest.mark.parametrize("verdict", ["allow", "deny"])
def test_a_later_word_settles_a_decision_and_stands_last_in_its_trace(verdict: Any) -> None:
    asked = strictest((Step("level", "ask", "it changes real data", by="reviewer"),))
    word = Step("approval", verdict, "bo said so", code="REJECTED" if verdict == "deny" else None)

    settled = asked.settled(word)

    assert settled == Decision(verdict, "approval", None, word.code, "bo said so", None, (*asked.trace, word))
    assert settled.decider is word
    assert settled.allowed == (verdict == "allow")


def test_a_decision_without_a_trace_explains_itself_in_one_word() -> None:
    assert str(Decision("allow")) == "allow"
    assert Decision("allow").decider is None
