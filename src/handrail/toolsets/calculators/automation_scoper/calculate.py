"""All figures of the Process Automation Scoper."""

from __future__ import annotations

from decimal import Decimal

from handrail.toolsets.calculators.automation_scoper import formulas
from handrail.toolsets.calculators.automation_scoper.models import (
    Check,
    Decision,
    Factor,
    Process,
    Scope,
    ScopeSummary,
    ScopeYear,
)
from handrail.toolsets.calculators.automation_scoper.reasons import checks, decide
from handrail.toolsets.calculators.figures import (
    HUNDRED,
    cents,
    exact,
    exactly,
    part,
    rounded,
    spoken_time,
    when,
)


@exactly
def calculate(given: Process) -> Scope:
    """All figures, rounded."""
    exceptions = part(given.exception_rate)
    hours = formulas.monthly_hours(exact(given.runs_per_month), exact(given.minutes_per_run))
    scores = {
        "Clear rules": formulas.of_rating(given.rule_clarity),
        "Readable input": formulas.of_rating(given.structured_input),
        "Few exceptions": formulas.of_exceptions(exceptions),
        "Stability": formulas.of_rating(given.stability),
        "Volume": formulas.of_volume(hours),
    }
    suitable = formulas.suitability(scores)
    covered = formulas.coverage(exceptions, given.rule_clarity, given.structured_input)
    days = formulas.effort(given.steps, given.systems, exceptions, given.structured_input, given.stability)
    cost = days * cents(given.day_rate)
    yearly = hours * covered * 12 * cents(given.hourly_cost) - cost * part(given.upkeep)
    months = formulas.payback_months(cost, yearly)
    decision = decide(given, suitable, months)
    found = checks(given, suitable, months)
    return Scope(
        summary=ScopeSummary(
            decision=decision,
            suitability=rounded(suitable, 1),
            coverage=rounded(HUNDRED * covered, 1),
            hours_saved=rounded(hours * covered),
            effort_days=rounded(days, 1),
            build_cost=rounded(cost),
            yearly_saving=rounded(yearly),
            payback=when(months, 1),
            net_gain=rounded(given.years * yearly - cost),
            verdict=_verdict(given, decision, found, months),
        ),
        factors=[
            Factor(factor=name, score=rounded(score, 1), weight=rounded(HUNDRED * formulas.WEIGHTS[name]))
            for name, score in scores.items()
        ],
        checks=found,
        years=[
            ScopeYear(year=year, cumulative=rounded(year * yearly - cost)) for year in range(given.years + 1)
        ],
    )


def _verdict(given: Process, decision: Decision, found: list[Check], months: Decimal | None) -> str:
    paid = "never pays back" if months is None else f"pays back {spoken_time(rounded(months, 1), 'month')}"
    if decision == "Go":
        return f"Go: {given.process} is suitable, and {paid}."
    missing = sum(not one.holds for one in found)
    what = f"{missing} condition{' does' if missing == 1 else 's do'} not hold"
    return f"{decision}: {what} for {given.process}, which {paid}."
