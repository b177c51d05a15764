"""The tool: ratings in, readiness, bands and gaps out."""

from __future__ import annotations

from handrail import Result, tool
from handrail.ext import build_markdown_table
from handrail.toolsets.calculators.ai_readiness.calculate import calculate
from handrail.toolsets.calculators.ai_readiness.group import aggregate
from handrail.toolsets.calculators.ai_readiness.look import FORM, VIEW
from handrail.toolsets.calculators.ai_readiness.models import Assessment, Readiness


@tool(
    "assessment.assessAiReadiness",
    input=Assessment,
    slug="ai-readiness-assessment",
    name="AI Readiness Assessment",
    category="assessment",
    icon="brain-circuit",
    level="read",
    danger="safe",
    idempotent=True,
    collaborative=True,
    aggregate=aggregate,
    sections=VIEW.sections,
    form=FORM,
    view=VIEW,
)
async def assess_ai_readiness(args: Assessment) -> Readiness | Result:
    """Assess how ready an organisation is for AI in six dimensions, with its band of maturity, the weakest
    dimension and what to close first.

    Use it with ratings that people gave; best several of them, in a session. Not to judge a single process:
    use planning.scopeAutomation instead.
    """
    result = calculate(args)
    rows = [one.to_dict() for one in result.dimensions]
    return Result(
        data=result,
        summary=result.summary.verdict,
        markdown=build_markdown_table(rows, heading=result.summary.verdict),
    )
