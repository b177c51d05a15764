"""Process Automation Scoper: whether a process is worth automating, and with what effort."""

from __future__ import annotations

from decimal import Decimal

from handrail import Result, tool
from handrail.ext import FormGroup, FormSpec, OutputSection, ViewSpec, build_markdown_table
from handrail.toolsets.calculators import automation_scoper_model
from handrail.toolsets.calculators.automation_scoper_model import (
    AutomationScope,
    BusinessProcess,
    ScopeCheck,
    ScopeDecision,
    ScopeSummary,
    ScopeYear,
    SuitabilityFactor,
)
from handrail.toolsets.calculators.decimals import (
    HUNDRED,
    cents,
    format_duration,
    format_number,
    from_percent,
    rounded,
    rounded_or_never,
    to_decimal,
    with_decimal_context,
)

__all__ = ["scope_automation"]


_QUICK_MONTHS = 18
_MAX_EXCEPTIONS = 20
_MIN_RATING = 3
_SUITABLE, _HOPELESS = 60, 40


def checks(inputs: BusinessProcess, suitable: Decimal, months: Decimal | None) -> list[ScopeCheck]:
    """What must hold for a go."""

    def rated(check: str, rating: int, remedy: str) -> ScopeCheck:
        fine = rating >= _MIN_RATING
        return ScopeCheck(
            check=check, holds=fine, reason=f"Rated {rating} of 5." + ("" if fine else f" {remedy}")
        )

    exceptions, few = inputs.exception_rate, to_decimal(inputs.exception_rate) <= _MAX_EXCEPTIONS
    shown = (
        "It never pays back."
        if months is None
        else f"It takes {format_number(rounded(months, 1), 1)} months."
    )
    return [
        rated("The rules are clear", inputs.rule_clarity, "Write the rules down before you automate them."),
        rated("Programs can read the input", inputs.structured_input, "Bring the input into a form first."),
        rated("The process is stable", inputs.stability, "Wait until it has settled."),
        ScopeCheck(
            check=f"At most {_MAX_EXCEPTIONS} % are exceptions",
            holds=few,
            reason=f"{format_number(exceptions)} % are."
            + ("" if few else " Sort out the most frequent ones first."),
        ),
        ScopeCheck(
            check=f"It is suitable: {_SUITABLE} points or more",
            holds=suitable >= _SUITABLE,
            reason=f"It has {format_number(rounded(suitable, 1), 1)} of 100.",
        ),
        ScopeCheck(
            check=f"It pays back within {_QUICK_MONTHS} months",
            holds=months is not None and months <= _QUICK_MONTHS,
            reason=shown,
        ),
        ScopeCheck(
            check=f"It pays back within {12 * inputs.years} months",
            holds=_pays_back_in_time(inputs, months),
            reason=shown,
        ),
    ]


def decide(inputs: BusinessProcess, suitable: Decimal, months: Decimal | None) -> ScopeDecision:
    """No go when it does not pay or cannot work; go when every condition holds; otherwise prepare it."""
    if suitable < _HOPELESS or not _pays_back_in_time(inputs, months):
        return "No go"
    return "Go" if all(one.holds for one in checks(inputs, suitable, months)) else "Prepare first"


def _pays_back_in_time(inputs: BusinessProcess, months: Decimal | None) -> bool:
    return months is not None and months <= 12 * inputs.years


@with_decimal_context
def calculate(inputs: BusinessProcess) -> AutomationScope:
    """All figures, rounded."""
    exceptions = from_percent(inputs.exception_rate)
    hours = automation_scoper_model.monthly_hours(
        to_decimal(inputs.runs_per_month), to_decimal(inputs.minutes_per_run)
    )
    scores = {
        "Clear rules": automation_scoper_model.rating_score(inputs.rule_clarity),
        "Readable input": automation_scoper_model.rating_score(inputs.structured_input),
        "Few exceptions": automation_scoper_model.exceptions_score(exceptions),
        "Stability": automation_scoper_model.rating_score(inputs.stability),
        "Volume": automation_scoper_model.volume_score(hours),
    }
    suitable = automation_scoper_model.suitability(scores)
    covered = automation_scoper_model.coverage(exceptions, inputs.rule_clarity, inputs.structured_input)
    days = automation_scoper_model.effort(
        inputs.steps, inputs.systems, exceptions, inputs.structured_input, inputs.stability
    )
    cost = days * cents(inputs.day_rate)
    yearly = hours * covered * 12 * cents(inputs.hourly_cost) - cost * from_percent(inputs.upkeep)
    months = automation_scoper_model.payback_months(cost, yearly)
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
            SuitabilityFactor(
                factor=name,
                score=rounded(score, 1),
                weight=rounded(HUNDRED * automation_scoper_model.WEIGHTS[name]),
            )
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
    missing = sum(not one.holds for one in conditions)
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

VIEW = ViewSpec(
    (
        OutputSection(
            "summary",
            "Summary",
            "summary",
            {
                "figures": [
                    {"key": "decision"},
                    {"key": "suitability", "unit": "of 100", "decimals": 1},
                    {"key": "payback", "unit": "months", "decimals": 1},
                    {"key": "hoursSaved", "label": "Saved a month", "unit": "hours", "decimals": 1},
                    {"key": "coverage", "label": "Done by itself", "unit": "%", "decimals": 1},
                    {"key": "effortDays", "label": "Effort", "unit": "days", "decimals": 1},
                    {"key": "buildCost", "label": "Cost of building", "decimals": 2},
                    {"key": "yearlySaving", "label": "Saved a year", "decimals": 2},
                    {"key": "netGain", "label": "Net gain", "decimals": 2},
                ]
            },
        ),
        OutputSection(
            "checks", "Why", "table", {"columns": [{"key": "check"}, {"key": "holds"}, {"key": "reason"}]}
        ),
        OutputSection(
            "factors",
            "What the suitability is made of",
            "radar",
            {"axis": "factor", "value": "score", "min": 0, "max": 100},
        ),
        OutputSection(
            "years",
            "What has come in, year by year",
            "chart",
            {"kind": "bar", "x": "year", "y": [{"key": "cumulative", "label": "Savings less costs"}]},
        ),
    )
)


@tool(
    "planning.scopeAutomation",
    input=BusinessProcess,
    slug="process-automation-scoper",
    name="Process Automation Scoper",
    category="planning",
    icon="workflow",
    level="read",
    danger="safe",
    idempotent=True,
    sections=VIEW.sections,
    form=FORM,
    view=VIEW,
)
async def scope_automation(args: BusinessProcess) -> AutomationScope | Result:
    """Judge whether a process is worth automating: how suitable it is, effort, savings and payback, with a
    decision and its reasons.

    Use it for one process whose volume and rules you know. Not for a whole organisation: use
    assessment.assessAiReadiness instead.
    """
    result = calculate(args)
    return Result(
        data=result,
        summary=result.summary.verdict,
        markdown=build_markdown_table(
            [check.to_dict() for check in result.checks], heading=result.summary.verdict
        ),
    )
