"""Tools that make something of records, and change nothing."""

from __future__ import annotations

from pydantic import BaseModel

from handrail import Context, Result, tool
from handrail.ext.forms import build_markdown_table
from handrail.toolsets.demo.records import ONE_RECORD, STORE

POINTS = {("status", "active"): 50, ("status", "pending"): 20, ("category", "enterprise"): 40}


class ScoreReason(BaseModel):
    because: str
    points: int


class RecordScore(BaseModel):
    id: str
    score: int
    reasons: list[ScoreReason]


@tool(
    "analysis.scoreRecord",
    level="read",
    form=ONE_RECORD,
    sections=[
        {"key": "score", "label": "Score", "type": "summary"},
        {"key": "reasons", "label": "Why", "type": "ranking"},
    ],
)
async def score_record(id: str, *, ctx: Context) -> RecordScore | Result:
    """Score how promising a record is, from 0 to 100, without storing it.

    Args:
        id: The record's id, such as rec-001.
    """
    record = STORE.get(ctx.tenant_id, id)
    reasons = [
        ScoreReason(because=f"{field} is {value}", points=points)
        for (field, value), points in POINTS.items()
        if getattr(record, field) == value
    ]
    score = sum(reason.points for reason in reasons)
    return Result(
        data=RecordScore(id=id, score=score, reasons=reasons),
        summary=f"{record.name} scores {score}",
        markdown=build_markdown_table([reason.model_dump() for reason in reasons], heading=f"Score {score}"),
    )


class SummaryDraft(BaseModel):
    text: str


@tool(
    "content.generateSummary", level="draft", sections=[{"key": "text", "label": "Draft", "type": "summary"}]
)
async def generate_summary(region: str, *, ctx: Context) -> SummaryDraft | Result:
    """Draft a short text about the records of one region, for a person to edit.

    Args:
        region: The region, such as north.
    """
    records = [record for record in STORE.of(ctx.tenant_id).values() if record.region == region]
    active = [record.name for record in records if record.status == "active"]
    text = f"We have {len(records)} customers in {region}, {len(active)} of them active"
    text += f": {', '.join(active)}." if active else "."
    return Result(data=SummaryDraft(text=text), summary=f"Drafted a summary of {region}", markdown=text)
