"""Tools that change records. They only declare how grave that is; the guard sees to the rest."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from handrail import Context, Result, tool
from handrail.ext.forms import build_markdown_table
from handrail.toolsets.demo.records import ONE_RECORD, SEVERAL_RECORDS, STORE, RecordStatus


class StatusChange(BaseModel):
    id: str
    before: RecordStatus
    after: RecordStatus


def _undo_update(args: Any, data: Any) -> tuple[str, dict[str, str]] | None:
    """To the status that the record had before; a change to what it was already takes nothing back."""
    if data["before"] == data["after"]:
        return None
    return "data.updateRecord", {"id": data["id"], "status": data["before"]}


@tool(
    "data.updateRecord",
    level="write",
    writes=lambda args: f"record:{args.id}",
    form=ONE_RECORD,
    undo=_undo_update,
)
async def update_record(id: str, status: RecordStatus, *, ctx: Context) -> StatusChange | Result:
    """Change the status of one record; a person is asked before an agent may.

    Use it when a customer's situation has changed. Not to delete: set it to inactive instead. Look at the
    record with data.getRecordDetail first.

    Args:
        id: The record's id, such as rec-001.
        status: Its new status.
    """
    records = STORE.of(ctx.tenant_id)
    old = STORE.get(ctx.tenant_id, id)
    records[id] = old.model_copy(update={"status": status})
    change = StatusChange(id=id, before=old.status, after=status)
    return Result(
        data=change,
        summary=f"{old.name} was {old.status} and is {status}",
        markdown=build_markdown_table([change.model_dump()], heading=f"Changed {old.name}"),
    )


class DeletedRecords(BaseModel):
    ids: list[str]


@tool(
    "data.bulkDelete",
    level="destructive",
    writes=lambda args: [f"record:{record_id}" for record_id in args.ids],
    form=SEVERAL_RECORDS,
    sections=[{"key": "ids", "label": "Deleted", "type": "table"}],
)
async def bulk_delete(
    ids: Annotated[list[str], Field(min_length=1, max_length=500)], *, ctx: Context
) -> DeletedRecords | Result:
    """Delete several records of the organisation for good. All of them must exist, or none is deleted, and
    nothing brings them back.

    Use it when a person has named these very records. Never to tidy up: set records to inactive with
    data.updateRecord instead.

    Args:
        ids: The ids of the records, such as rec-001.
    """
    gone = [STORE.get(ctx.tenant_id, record_id) for record_id in dict.fromkeys(ids)]
    records = STORE.of(ctx.tenant_id)
    for record in gone:
        del records[record.id]
    return Result(
        data=DeletedRecords(ids=[record.id for record in gone]),
        summary=f"Deleted {len(gone)} records",
        markdown=build_markdown_table([record.model_dump(include={"id", "name"}) for record in gone]),
    )
