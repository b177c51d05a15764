"""Process Automation Scoper: worked by hand, at the edges, and whatever is put in."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.toolsets.calculators import automation_scoper
from handrail.toolsets.calculators.automation_scoper import BusinessProcess, calculate
from tests.unit.toolsets.calculators.tool_inputs import answer, refusal

INVOICES: dict[str, Any] = {
    "process": "Checking of invoices",
    "runsPerMonth": 400,
    "minutesPerRun": 15,
    "steps": 8,
    "systems": 2,
    "exceptionRate": 10,
    "ruleClarity": 4,
    "structuredInput": 4,
    "stability": 5,
}


def judged(**changed: Any) -> Any:
    return calculate(BusinessProcess.model_validate({**INVOICES, **changed}))


@pytest.mark.req("CC-06", "CC-09")
def test_invoices_by_hand() -> None:
    # hours: 400 × 15/60 = 100 a month
    # suitability: 75 × 0.30 + 75 × 0.25 + (100 - 20) × 0.20 + 100 × 0.15 + 100 × 0.10
    #   = 22.5 + 18.75 + 16 + 15 + 10 = 82.25, to even 82.2
    # coverage: 0.9 × (4 + 4)/10 = 72 %; hours saved 72 a month
    # effort: (2 + 4 + 6) × 1.1 × 1.15 × 1 = 15.18 days; × 800 = 12144
    # a year: 72 × 12 × 50 = 43200, less 15 % of 12144 = 1821.60: 41378.40
    # payback: 12144 × 12/41378.40 = 3.52 months; in 3 years 3 × 41378.40 - 12144 = 111991.20
    out = answer(automation_scoper.scope_automation, INVOICES)

    assert out["summary"] == {
        "decision": "Go",
        "suitability": 82.2,
        "coverage": 72.0,
        "hoursSaved": 72.0,
        "effortDays": 15.2,
        "buildCost": 12144.0,
        "yearlySaving": 41378.4,
        "payback": 3.5,
        "netGain": 111991.2,
        "verdict": "Go: Checking of invoices is suitable, and pays back in 3.5 months.",
    }
    assert [one["score"] for one in out["factors"]] == [75, 75, 80, 100, 100]
    assert [one["cumulative"] for one in out["years"]] == [-12144, 29234.4, 70612.8, 111991.2]
    assert all(one["holds"] for one in out["checks"])


@pytest.mark.req("CC-06")
def test_a_process_without_rules_is_to_be_prepared_and_told_how() -> None:
    found = judged(ruleClarity=2, exceptionRate=25)

    assert found.summary.decision == "Prepare first"
    missing = [(one.check, one.reason) for one in found.checks if not one.holds]
    assert missing == [
        ("The rules are clear", "Rated 2 of 5. Write the rules down before you automate them."),
        ("At most 20 % are exceptions", "25 % are. Sort out the most frequent ones first."),
    ]
    assert found.summary.verdict.startswith(
        "Prepare first: 2 conditions do not hold for Checking of invoices"
    )


@pytest.mark.req("CC-06")
def test_what_saves_less_than_its_upkeep_never_pays_back() -> None:
    # 1 run of 1 minute: 0.0167 h × 0.72 × 12 × 50 = 7.20 a year against 1821.60 of upkeep
    found = judged(runsPerMonth=1, minutesPerRun=1)

    assert (found.summary.decision, found.summary.payback) == ("No go", "Never")
    assert found.summary.yearly_saving == -1814.4
    assert "never pays back" in found.summary.verdict


@pytest.mark.req("CC-06")
def test_what_cannot_work_is_no_go_however_well_it_pays() -> None:
    # 0 × 0.3 + 0 × 0.25 + 0 × 0.2 + 25 × 0.15 + 100 × 0.1 = 13.75
    found = judged(ruleClarity=1, structuredInput=1, exceptionRate=60, stability=2, runsPerMonth=100_000)

    assert found.summary.suitability == 13.8
    assert found.summary.payback != "Never" and found.summary.payback < 18
    assert found.summary.decision == "No go"


@pytest.mark.req("CC-06")
def test_what_costs_nothing_to_build_pays_back_at_once() -> None:
    found = judged(dayRate=0).summary

    assert (found.payback, found.decision) == (0, "Go")
    assert found.verdict.endswith("pays back at once.")
    assert automation_scoper.payback_months(Decimal(0), Decimal(-1)) is None


@pytest.mark.req("CC-06")
def test_what_takes_a_thousand_years_never_pays_back() -> None:
    assert automation_scoper.payback_months(Decimal(1000), Decimal(1)) == 12_000
    assert automation_scoper.payback_months(Decimal(1000), Decimal("0.999")) is None
    assert automation_scoper.payback_months(Decimal(1), Decimal("1e-80")) is None
    assert automation_scoper.payback_months(Decimal(1), Decimal(0)) is None


@pytest.mark.req("CC-06")
def test_a_process_that_is_never_run_is_refused_at_its_field() -> None:
    message = refusal(automation_scoper.scope_automation, {**INVOICES, "runsPerMonth": 0})
    assert "runsPerMonth: should be greater than or equal to 0.01, got 0" in message


@given(st.integers(0, 100), st.integers(1, 5), st.integers(1, 5))
def test_coverage_and_suitability_stay_within_their_scale(percent: int, rules: int, readable: int) -> None:
    exceptions = Decimal(percent) / 100

    assert 0 <= automation_scoper.coverage(exceptions, rules, readable) <= 1
    assert 0 <= automation_scoper.exceptions_score(exceptions) <= 100
    assert sum(automation_scoper.WEIGHTS.values()) == 1


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 99))
def test_more_exceptions_never_make_it_easier(readable: int, stability: int, percent: int) -> None:
    few, more = Decimal(percent) / 100, Decimal(percent + 1) / 100

    assert automation_scoper.effort(5, 2, few, readable, stability) < automation_scoper.effort(
        5, 2, more, readable, stability
    )
    assert automation_scoper.coverage(few, 4, readable) > automation_scoper.coverage(more, 4, readable)
