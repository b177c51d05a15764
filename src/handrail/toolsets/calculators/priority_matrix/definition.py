"""The tool: rated items in, a ranking and a matrix out."""

from __future__ import annotations

from handrail import Result, tool
from handrail.ext import build_markdown_table
from handrail.toolsets.calculators.priority_matrix.calculate import calculate
from handrail.toolsets.calculators.priority_matrix.group import aggregate
from handrail.toolsets.calculators.priority_matrix.look import FORM, VIEW
from handrail.toolsets.calculators.priority_matrix.models import Candidates, Priorities


@tool(
    "planning.rankPriorities",
    input=Candidates,
    slug="priority-matrix",
    name="Priority Matrix",
    category="planning",
    icon="grid-2x2",
    level="read",
    danger="safe",
    idempotent=True,
    collaborative=True,
    aggregate=aggregate,
    sections=VIEW.sections,
    form=FORM,
    view=VIEW,
)
async def rank_priorities(args: Candidates) -> Priorities | Result:
    """Rank what could be done by impact, effort, confidence and reach, and place each item in a matrix of
    four quadrants.

    Use it to choose among several things; with a group, in a session. For a single thing by criteria of your
    own use assessment.quickScore instead.
    """
    result = calculate(args)
    columns = ["rank", "name", "score", "quadrant"]
    return Result(
        data=result,
        summary=result.summary.verdict,
        markdown=build_markdown_table(
            [one.to_dict() for one in result.ranking], columns, heading=result.summary.verdict, limit=100
        ),
    )
