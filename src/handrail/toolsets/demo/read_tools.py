"""Tools that look at records."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from handrail import Context, Result, tool
from handrail.ext.forms import build_markdown_table
from handrail.toolsets.demo.records import ONE_RECORD, STORE, CustomerRecord, RecordStatus


class RecordHit(BaseModel):
    id: str
    name: str
    status: RecordStatus
    score: int | None


class RecordHits(BaseModel):
    records: list[RecordHit]
    total: int
    filters_applied: dict[str, str]


@tool("data.searchRecords", level="read", sections=[{"key": "records", "label": "Records", "type": "table"}])
async def search_records(
    region: str | None = None,
    category: str | None = None,
    status: RecordStatus | None = None,
    limit: Annotated[int, Field(ge=1, le=1000)] = 100,
    *,
    ctx: Context,
) -> RecordHits | Result:
    """Search the records of the organisation; without a filter it finds all of them.

    Use it to get ids for the other tools. To count records use data.getStats instead.

    Args:
        region: Only records of this region, such as north.
        category: Only records of this category, such as enterprise.
        status: Only records in this state.
        limit: How many records to show at most; all that match are counted.
    """
    conditions = {"region": region, "category": category, "status": status}
    filters = {name: value for name, value in conditions.items() if value is not None}
    every = STORE.of(ctx.tenant_id).values()
    matching = [
        record for record in every if all(getattr(record, name) == value for name, value in filters.items())
    ]
    shown = [
        RecordHit(**record.model_dump(include={"id", "name", "status", "score"}))
        for record in matching[:limit]
    ]
    return Result(
        data=RecordHits(records=shown, total=len(matching), filters_applied=filters),
        summary=f"Found {len(matching)} records" + (f" in {region}" if region else ""),
        markdown=build_markdown_table(
            [hit.model_dump() for hit in shown],
            ["id", "name", "status", "score"],
            heading=" ".join(["Search Results:", *(filters.values() or ["all records"])]),
            total=len(matching),
        ),
    )


@tool(
    "data.getRecordDetail",
    level="read",
    form=ONE_RECORD,
    sections=[{"key": "name", "label": "Name", "type": "summary"}],
)
async def get_record_detail(id: str, *, ctx: Context) -> CustomerRecord | Result:
    """Get everything that is known of one record of the organisation.

    Args:
        id: The record's id, such as rec-001.
    """
    record = STORE.get(ctx.tenant_id, id)
    facts = [{"field": name, "value": value} for name, value in record.model_dump().items()]
    table = build_markdown_table(facts, heading=record.name)
    return Result(data=record, summary=f"{record.name} is {record.status}", markdown=table)


class RecordGroup(BaseModel):
    name: str
    count: int


class RecordStats(BaseModel):
    groups: list[RecordGroup]
    total: int


@tool(
    "data.getStats",
    level="read",
    sections=[
        {"key": "total", "label": "Records", "type": "summary"},
        {"key": "groups", "label": "By group", "type": "chart", "config": {"x": "name", "y": "count"}},
    ],
)
async def get_stats(
    by: Literal["region", "category", "status"] = "status", *, ctx: Context
) -> RecordStats | Result:
    """Count the records of the organisation, group by group.

    Args:
        by: What makes a group.
    """
    counted = Counter(str(getattr(record, by)) for record in STORE.of(ctx.tenant_id).values())
    groups = [RecordGroup(name=name, count=count) for name, count in sorted(counted.items())]
    total = counted.total()
    return Result(
        data=RecordStats(groups=groups, total=total),
        summary=f"{total} records by {by}",
        markdown=build_markdown_table([group.model_dump() for group in groups], heading=f"Records by {by}"),
    )
