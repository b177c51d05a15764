"""The tool: a process in, a scope and a decision with its reasons out."""

from __future__ import annotations

from handrail import Result, tool
from handrail.ext import build_markdown_table
from handrail.toolsets.calculators.automation_scoper.calculate import calculate
from handrail.toolsets.calculators.automation_scoper.look import FORM, VIEW
from handrail.toolsets.calculators.automation_scoper.models import Process, Scope


@tool(
    "planning.scopeAutomation",
    input=Process,
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
async def scope_automation(args: Process) -> Scope | Result:
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
