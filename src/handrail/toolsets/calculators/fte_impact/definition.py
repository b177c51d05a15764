"""The tool: a team and its work in, full-time equivalents out."""

from __future__ import annotations

from handrail import Result, tool
from handrail.ext import build_markdown_table
from handrail.toolsets.calculators.fte_impact.calculate import calculate
from handrail.toolsets.calculators.fte_impact.look import FORM, VIEW
from handrail.toolsets.calculators.fte_impact.models import FteImpact, Team


@tool(
    "analysis.calculateFteImpact",
    input=Team,
    slug="fte-impact-calculator",
    name="FTE Impact Calculator",
    category="analysis",
    icon="users",
    level="read",
    danger="safe",
    idempotent=True,
    sections=VIEW.sections,
    form=FORM,
    view=VIEW,
)
async def calculate_fte_impact(args: Team) -> FteImpact | Result:
    """Calculate how many full-time equivalents a team needs with and without a change to its work, year by
    year, and how many hires that spares.

    Use it to plan capacity, not to judge people. For the hours of a single task use
    analysis.calculateTimeSavings instead.
    """
    result = calculate(args)
    return Result(
        data=result,
        summary=result.summary.verdict,
        markdown=build_markdown_table(
            [year.to_dict() for year in result.years], heading=result.summary.verdict
        ),
    )
