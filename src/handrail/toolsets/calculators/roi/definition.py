"""The tool: cash flow in, net present value, payback and returns out."""

from __future__ import annotations

from handrail import Result, tool
from handrail.ext import build_markdown_table
from handrail.toolsets.calculators.roi.calculate import calculate
from handrail.toolsets.calculators.roi.look import FORM, VIEW
from handrail.toolsets.calculators.roi.models import Investment, RoiResult


@tool(
    "analysis.calculateRoi",
    input=Investment,
    slug="roi-calculator",
    name="ROI Calculator",
    category="analysis",
    icon="calculator",
    level="read",
    danger="safe",
    idempotent=True,
    sections=VIEW.sections,
    form=FORM,
    view=VIEW,
)
async def calculate_roi(args: Investment) -> RoiResult | Result:
    """Calculate what an investment is worth: net present value, payback and return year by year, from its
    costs and yearly benefits.

    Use it to judge one investment, or two by calling it twice with the same rate. Not for hours that are
    saved: use analysis.calculateTimeSavings first, and take its value as the benefit.
    """
    result = calculate(args)
    return Result(
        data=result,
        summary=result.summary.verdict,
        markdown=build_markdown_table(
            [year.to_dict() for year in result.yearly_results], heading=result.summary.verdict, limit=51
        ),
    )
