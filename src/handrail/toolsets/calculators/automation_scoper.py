"""Process Automation Scoper: whether a process is worth automating, and with what effort."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from handrail.ext.forms import FormGroup, FormSpec
from handrail.toolsets.calculators import schemas
from handrail.toolsets.calculators.calculator import (
    calculator,
    chart_section,
    radar_section,
    summary_section,
    table_section,
)
from handrail.toolsets.calculators.decimals import (
    HUNDRED,
    ONE,
    cents,
    clamp,
    format_duration,
    format_number,
    from_percent,
    rounded,
    rounded_or_never,
    to_decimal,
    with_decimal_context,
)

ScopeDecision = Literal["Go", "Prepare first", "No go"]


class BusinessProcess(schemas.CalculatorInput):
    """A process as it is done today."""

    process: schemas.Name = Field(description="What it is called, such as Checking of invoices.")
    runs_per_month: Annotated[float, Field(ge=0.01, le=1e7)] = Field(
        description="How often it is done in a month, by all together."
    )
    minutes_per_run: Annotated[float, Field(ge=0.01, le=10_080)] = Field(
        description="Minutes of work that it takes once."
    )
    steps: Annotated[int, Field(ge=1, le=200)] = Field(description="How many steps it has, such as 8.")
    systems: Annotated[int, Field(ge=1, le=50)] = Field(
        description="How many systems it reads from or writes to."
    )
    exception_rate: schemas.Percent = Field(description="Percent of the runs that do not go the usual way.")
    rule_clarity: schemas.Rating = Field(
        description="How far rules decide it, from 1, mostly judgement, to 5, rules alone."
    )
    structured_input: schemas.Rating = Field(
        description="How readable its input is to programs, from 1, free text on paper, to 5, records."
    )
    stability: schemas.Rating = Field(
        description="How seldom it changes, from 1, every month, to 5, hardly ever in years."
    )
    hourly_cost: Annotated[schemas.Money, Field(le=100_000)] = Field(
        default=50, description="What an hour of the work costs."
    )
    day_rate: Annotated[schemas.Money, Field(le=1_000_000)] = Field(
        default=800, description="What a day of building costs."
    )
    upkeep: schemas.Percent = Field(
        default=15, description="Yearly cost of running it, in percent of building it."
    )
    years: Annotated[int, Field(ge=1, le=10)] = Field(
        default=3, description="In how many years it must have paid back, 1 to 10."
    )


class ScopeSummary(schemas.CalculatorOutput):
    decision: ScopeDecision = Field(description="What to do.")
    suitability: float = Field(description="How well it can be automated, 0 to 100.")
    coverage: float = Field(description="Percent of the work that software would do by itself.")
    hours_saved: float = Field(description="Hours set free in a month.")
    effort_days: float = Field(description="Days to build it.")
    build_cost: float = Field(description="What building it costs.")
    yearly_saving: float = Field(description="What it saves in a year, less upkeep.")
    payback: float | schemas.Never = Field(description="After how many months it has paid back, or Never.")
    net_gain: float = Field(description="Savings less all costs over the years looked at.")
    verdict: schemas.Verdict = ""


class SuitabilityFactor(schemas.CalculatorOutput):
    factor: str = Field(description="What is looked at.")
    score: float = Field(description="0 to 100.")
    weight: float = Field(description="Percent that it counts.")


class ScopeCheck(schemas.CalculatorOutput):
    check: str = Field(description="What must hold.")
    holds: bool = Field(description="Whether it does.")
    reason: str = Field(description="The figure behind it, and what to do about it.")


class ScopeYear(schemas.CalculatorOutput):
    year: int = Field(description="0 is when it is built.")
    cumulative: float = Field(description="Savings less costs up to then.")


class AutomationScope(schemas.CalculatorOutput):
    summary: ScopeSummary = Field(description="The figures that decide.")
    factors: list[SuitabilityFactor] = Field(description="What the suitability is made of.")
    checks: list[ScopeCheck] = Field(description="Why: each condition and whether it holds.")
    years: list[ScopeYear] = Field(description="What it brings, year by year.")


WEIGHTS: dict[str, Decimal] = {
    "Clear rules": Decimal("0.30"),
    "Readable input": Decimal("0.25"),
    "Few exceptions": Decimal("0.20"),
    "Stability": Decimal("0.15"),
    "Volume": Decimal("0.10"),
}

_FULL_VOLUME = Decimal(80)
"""Hours of work in a month from which on more volume makes a process no more suitable."""
_HALF = Decimal("0.5")

_MAX_YEARS = 1000
"""Years."""


def monthly_hours(runs: Decimal, minutes: Decimal) -> Decimal:
    """runs × minutes / 60."""
    return runs * minutes / 60


def rating_score(rating: int) -> Decimal:
    """A rating from 1 to 5 as a score: 1 is 0, 5 is 100."""
    return HUNDRED * (rating - 1) / 4


def exceptions_score(rate: Decimal) -> Decimal:
    """100 without exceptions, 0 when every second run is one."""
    return clamp(HUNDRED - 2 * HUNDRED * rate)


def volume_score(hours: Decimal) -> Decimal:
    """100 from 80 hours a month on, less in proportion."""
    return clamp(HUNDRED * hours / _FULL_VOLUME)


def suitability(scores: dict[str, Decimal]) -> Decimal:
    """The weighted mean of the five factors."""
    return sum((WEIGHTS[name] * score for name, score in scores.items()), Decimal(0))


def coverage(exceptions: Decimal, rules: int, readable: int) -> Decimal:
    """(1 − exceptions) × mean of both ratings / 5: the share of the work that software does by itself."""
    return (ONE - exceptions) * Decimal(rules + readable) / 10


def effort(steps: int, systems: int, exceptions: Decimal, readable: int, stability: int) -> Decimal:
    """(2 + ½ steps + 3 systems) days, more for exceptions, for input that is hard to read, and for change."""
    plain = 2 + _HALF * steps + 3 * systems
    harder = (ONE + Decimal("0.15") * (5 - readable)) * (ONE + Decimal("0.10") * (5 - stability))
    return plain * (ONE + exceptions) * harder


def payback_months(cost: Decimal, yearly: Decimal) -> Decimal | None:
    """cost / (yearly saving / 12); None when nothing is saved, or so little that it takes 1000 years."""
    if cost == 0 and yearly >= 0:
        return Decimal(0)
    return cost * 12 / yearly if yearly * _MAX_YEARS >= cost else None


_QUICK_MONTHS = 18
_MAX_EXCEPTIONS = 20
_MIN_RATING = 3
_SUITABLE, _HOPELESS = 60, 40


def checks(inputs: BusinessProcess, suitable: Decimal, months: Decimal | None) -> list[ScopeCheck]:
    """What must hold for a go."""

    def condition(check: str, holds: bool, reason: str, remedy: str = "") -> ScopeCheck:
        return ScopeCheck(
            check=check, holds=holds, reason=reason if holds or not remedy else f"{reason} {remedy}"
        )

    def rated(check: str, rating: int, remedy: str) -> ScopeCheck:
        return condition(check, rating >= _MIN_RATING, f"Rated {rating} of 5.", remedy)

    few = to_decimal(inputs.exception_rate) <= _MAX_EXCEPTIONS
    exceptions, points = format_number(inputs.exception_rate), format_number(rounded(suitable, 1), 1)
    is_quick = months is not None and months <= _QUICK_MONTHS
    shown = (
        "It never pays back."
        if months is None
        else f"It takes {format_number(rounded(months, 1), 1)} months."
    )
    return [
        rated("The rules are clear", inputs.rule_clarity, "Write the rules down before you automate them."),
        rated("Programs can read the input", inputs.structured_input, "Bring the input into a form first."),
        rated("The process is stable", inputs.stability, "Wait until it has settled."),
        condition(
            f"At most {_MAX_EXCEPTIONS} % are exceptions",
            few,
            f"{exceptions} % are.",
            "Sort out the most frequent ones first.",
        ),
        condition(
            f"It is suitable: {_SUITABLE} points or more", suitable >= _SUITABLE, f"It has {points} of 100."
        ),
        condition(f"It pays back within {_QUICK_MONTHS} months", is_quick, shown),
        condition(
            f"It pays back within {12 * inputs.years} months", _pays_back_in_time(inputs, months), shown
        ),
    ]


def decide(inputs: BusinessProcess, suitable: Decimal, months: Decimal | None) -> ScopeDecision:
    """No go when it does not pay or cannot work; go when every condition holds; otherwise prepare it."""
    if suitable < _HOPELESS or not _pays_back_in_time(inputs, months):
        return "No go"
    return "Go" if all(check.holds for check in checks(inputs, suitable, months)) else "Prepare first"


def _pays_back_in_time(inputs: BusinessProcess, months: Decimal | None) -> bool:
    return months is not None and months <= 12 * inputs.years


@with_decimal_context
def calculate(inputs: BusinessProcess) -> AutomationScope:
    """All figures, rounded."""
    exceptions = from_percent(inputs.exception_rate)
    hours = monthly_hours(to_decimal(inputs.runs_per_month), to_decimal(inputs.minutes_per_run))
    scores = {
        "Clear rules": rating_score(inputs.rule_clarity),
        "Readable input": rating_score(inputs.structured_input),
        "Few exceptions": exceptions_score(exceptions),
        "Stability": rating_score(inputs.stability),
        "Volume": volume_score(hours),
    }
    suitable = suitability(scores)
    covered = coverage(exceptions, inputs.rule_clarity, inputs.structured_input)
    days = effort(inputs.steps, inputs.systems, exceptions, inputs.structured_input, inputs.stability)
    cost = days * cents(inputs.day_rate)
    yearly = hours * covered * 12 * cents(inputs.hourly_cost) - cost * from_percent(inputs.upkeep)
    months = payback_months(cost, yearly)
    decision = decide(inputs, suitable, months)
    conditions = checks(inputs, suitable, months)
    return AutomationScope(
        summary=ScopeSummary(
            decision=decision,
            suitability=rounded(suitable, 1),
            coverage=rounded(HUNDRED * covered, 1),
            hours_saved=rounded(hours * covered),
            effort_days=rounded(days, 1),
            build_cost=rounded(cost),
            yearly_saving=rounded(yearly),
            payback=rounded_or_never(months, 1),
            net_gain=rounded(inputs.years * yearly - cost),
            verdict=_verdict(inputs, decision, conditions, months),
        ),
        factors=[
            SuitabilityFactor(factor=name, score=rounded(score, 1), weight=rounded(HUNDRED * WEIGHTS[name]))
            for name, score in scores.items()
        ],
        checks=conditions,
        years=[
            ScopeYear(year=year, cumulative=rounded(year * yearly - cost)) for year in range(inputs.years + 1)
        ],
    )


def _verdict(
    inputs: BusinessProcess, decision: ScopeDecision, conditions: list[ScopeCheck], months: Decimal | None
) -> str:
    paid = (
        "never pays back" if months is None else f"pays back {format_duration(rounded(months, 1), 'month')}"
    )
    if decision == "Go":
        return f"Go: {inputs.process} is suitable, and {paid}."
    missing = sum(not check.holds for check in conditions)
    what = f"{missing} condition{' does' if missing == 1 else 's do'} not hold"
    return f"{decision}: {what} for {inputs.process}, which {paid}."


FORM = FormSpec(
    {
        "process": {"placeholder": "Checking of invoices"},
        "runsPerMonth": {"label": "Times a month", "placeholder": "400"},
        "minutesPerRun": {"label": "Time for one", "unit": "minutes", "placeholder": "15"},
        "steps": {"placeholder": "8"},
        "systems": {"placeholder": "2"},
        "exceptionRate": {"label": "Exceptions", "unit": "%", "widget": "slider"},
        "ruleClarity": {"label": "Clear rules", "widget": "radio", "class": "form-scale"},
        "structuredInput": {"label": "Readable input", "widget": "radio", "class": "form-scale"},
        "stability": {"widget": "radio", "class": "form-scale"},
        "hourlyCost": {"label": "Cost of an hour"},
        "dayRate": {"label": "Cost of a day of building"},
        "upkeep": {"unit": "% a year"},
        "years": {"label": "Must pay back within", "unit": "years"},
    },
    groups=(FormGroup("Cost and time", ("hourlyCost", "dayRate", "upkeep", "years"), closed=True),),
)

SECTIONS = (
    summary_section(
        {"key": "decision"},
        {"key": "suitability", "unit": "of 100", "decimals": 1},
        {"key": "payback", "unit": "months", "decimals": 1},
        {"key": "hoursSaved", "label": "Saved a month", "unit": "hours", "decimals": 1},
        {"key": "coverage", "label": "Done by itself", "unit": "%", "decimals": 1},
        {"key": "effortDays", "label": "Effort", "unit": "days", "decimals": 1},
        {"key": "buildCost", "label": "Cost of building", "decimals": 2},
        {"key": "yearlySaving", "label": "Saved a year", "decimals": 2},
        {"key": "netGain", "label": "Net gain", "decimals": 2},
    ),
    table_section("checks", "Why", {"key": "check"}, {"key": "holds"}, {"key": "reason"}),
    radar_section("factors", "What the suitability is made of", "factor", "score"),
    chart_section(
        "years",
        "What has come in, year by year",
        "bar",
        "year",
        {"key": "cumulative", "label": "Savings less costs"},
    ),
)


@calculator(
    "planning.scopeAutomation",
    slug="process-automation-scoper",
    name="Process Automation Scoper",
    icon="workflow",
    form=FORM,
    sections=SECTIONS,
    rows="checks",
)
def scope_automation(args: BusinessProcess) -> AutomationScope:
    """Judge whether a process is worth automating: how suitable it is, effort, savings and payback, with a
    decision and its reasons.

    Use it for one process whose volume and rules you know. Not for a whole organisation: use
    assessment.assessAiReadiness instead.
    """
    return calculate(args)
