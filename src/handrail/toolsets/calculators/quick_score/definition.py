"""The tool: criteria with scores and weights in, one score out."""

from __future__ import annotations

from handrail import Result, tool
from handrail.ext import build_markdown_table
from handrail.toolsets.calculators.quick_score.calculate import calculate
from handrail.toolsets.calculators.quick_score.group import aggregate
from handrail.toolsets.calculators.quick_score.look import FORM, VIEW
from handrail.toolsets.calculators.quick_score.models import Rated, Score


@tool(
    "assessment.quickScore",
    input=Rated,
    slug="quick-score",
    name="Quick Score",
    category="assessment",
    icon="gauge",
    level="read",
    danger="safe",
    idempotent=True,
    collaborative=True,
    aggregate=aggregate,
    sections=VIEW.sections,
    form=FORM,
    view=VIEW,
)
async def score_quickly(args: Rated) -> Score | Result:
    """Score one thing from 0 to 100 by freely named criteria that count as much as you say.

    Use it for an offer, an idea or a candidate system; with a group, in a session. To rank several things
    by impact and effort use planning.rankPriorities instead.
    """
    result = calculate(args)
    return Result(
        data=result,
        summary=result.summary.verdict,
        markdown=build_markdown_table(
            [one.to_dict() for one in result.criteria], heading=result.summary.verdict
        ),
    )
