"""The tool: a task in, hours and money set free out."""

from __future__ import annotations

from handrail import Result, tool
from handrail.ext import build_markdown_table
from handrail.toolsets.calculators.time_savings.calculate import calculate
from handrail.toolsets.calculators.time_savings.look import FORM, VIEW
from handrail.toolsets.calculators.time_savings.models import Task, TimeSavings


@tool(
    "analysis.calculateTimeSavings",
    input=Task,
    slug="time-savings-calculator",
    name="Time Savings Calculator",
    category="analysis",
    icon="timer",
    level="read",
    danger="safe",
    idempotent=True,
    sections=VIEW.sections,
    form=FORM,
    view=VIEW,
)
async def calculate_time_savings(args: Task) -> TimeSavings | Result:
    """Calculate the hours and the money that a quicker way of doing a task sets free, month by month, while
    people take it up and learn it.

    Use it when you know how long a task takes and how often it is done. To see what that means for the size
    of a team, use analysis.calculateFteImpact instead.
    """
    result = calculate(args)
    return Result(
        data=result,
        summary=result.summary.verdict,
        markdown=build_markdown_table(
            [month.to_dict() for month in result.months], heading=result.summary.verdict, limit=60
        ),
    )
