"""The tool: three estimates for each part in, a range out."""

from __future__ import annotations

from handrail import Result, tool
from handrail.ext import build_markdown_table
from handrail.toolsets.calculators.complexity.calculate import calculate
from handrail.toolsets.calculators.complexity.look import FORM, VIEW
from handrail.toolsets.calculators.complexity.models import Estimate, Work


@tool(
    "planning.estimateComplexity",
    input=Work,
    slug="complexity-estimator",
    name="Complexity Estimator",
    category="planning",
    icon="puzzle",
    level="read",
    danger="safe",
    idempotent=True,
    sections=VIEW.sections,
    form=FORM,
    view=VIEW,
)
async def estimate_complexity(args: Work) -> Estimate | Result:
    """Estimate how many days a piece of work takes, as a range, from three estimates for each of its parts
    and from what makes it harder.

    Use it before work begins, with parts that somebody can picture. Not to choose what to do first: use
    planning.rankPriorities instead.
    """
    result = calculate(args)
    return Result(
        data=result,
        summary=result.summary.verdict,
        markdown=build_markdown_table(
            [item.to_dict() for item in result.items], heading=result.summary.verdict
        ),
    )
