"""Go or no go: conditions in words, and the decision that follows from them."""

from __future__ import annotations

from decimal import Decimal

from handrail.toolsets.calculators.automation_scoper.models import Check, Decision, Process
from handrail.toolsets.calculators.figures import exact, rounded, spoken

_QUICK = 18
_MOST_EXCEPTIONS = 20
_ENOUGH = 3
_SUITABLE, _HOPELESS = 60, 40


def checks(given: Process, suitable: Decimal, months: Decimal | None) -> list[Check]:
    """What must hold for a go."""

    def rated(check: str, rating: int, remedy: str) -> Check:
        fine = rating >= _ENOUGH
        return Check(check=check, holds=fine, reason=f"Rated {rating} of 5." + ("" if fine else f" {remedy}"))

    exceptions, few = given.exception_rate, exact(given.exception_rate) <= _MOST_EXCEPTIONS
    shown = "It never pays back." if months is None else f"It takes {spoken(rounded(months, 1), 1)} months."
    return [
        rated("The rules are clear", given.rule_clarity, "Write the rules down before you automate them."),
        rated("Programs can read the input", given.structured_input, "Bring the input into a form first."),
        rated("The process is stable", given.stability, "Wait until it has settled."),
        Check(
            check=f"At most {_MOST_EXCEPTIONS} % are exceptions",
            holds=few,
            reason=f"{spoken(exceptions)} % are."
            + ("" if few else " Sort out the most frequent ones first."),
        ),
        Check(
            check=f"It is suitable: {_SUITABLE} points or more",
            holds=suitable >= _SUITABLE,
            reason=f"It has {spoken(rounded(suitable, 1), 1)} of 100.",
        ),
        Check(
            check=f"It pays back within {_QUICK} months",
            holds=months is not None and months <= _QUICK,
            reason=shown,
        ),
        Check(
            check=f"It pays back within {12 * given.years} months",
            holds=_in_time(given, months),
            reason=shown,
        ),
    ]


def decide(given: Process, suitable: Decimal, months: Decimal | None) -> Decision:
    """No go when it does not pay or cannot work; go when every condition holds; otherwise prepare it."""
    if suitable < _HOPELESS or not _in_time(given, months):
        return "No go"
    return "Go" if all(one.holds for one in checks(given, suitable, months)) else "Prepare first"


def _in_time(given: Process, months: Decimal | None) -> bool:
    return months is not None and months <= 12 * given.years
