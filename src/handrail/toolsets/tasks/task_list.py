"""task_list: the tasks of a session."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from handrail import Context, Result, Tool, tool
from handrail.ext import register_output_block
from handrail.toolsets.tasks import keeping
from handrail.toolsets.tasks.book import TaskBook
from handrail.toolsets.tasks.entry import Status
from handrail.toolsets.tasks.told import ToldLine, line, shelf_of, table_alone, tally, told_line

_TABLE: dict[str, Any] = {
    "key": "tasks",
    "label": "Tasks",
    "type": "table",
    "config": {
        "columns": [
            {"key": "id", "label": "Task"},
            "subject",
            "status",
            "waits_for",
            {"key": "updated", "format": "datetime"},
        ]
    },
}
register_output_block("block:tool-output-task-list", table_alone(_TABLE))


class ToldTasks(BaseModel):
    """A part of the tasks, and how many there are."""

    tasks: list[ToldLine]
    counts: dict[str, int]
    more: Annotated[int, Field(description="How many that match come after these")]


def task_list(book: TaskBook) -> Tool:
    @tool(
        "task_list",
        level="read",
        capabilities=["read"],
        concurrency="parallel",
        repeatable=True,
        category="tasks",
        icon="list",
        origin="system",
        output=ToldTasks,
        sections=[
            _TABLE,
            {"key": "counts", "label": "How many", "type": "summary"},
            {"key": "more", "label": "Behind these", "type": "summary"},
        ],
    )
    async def task_list(
        status: Annotated[Status | None, Field(description="Only tasks with this status")] = None,
        limit: Annotated[int, Field(description="How many to show at most", ge=1, le=500)] = 50,
        after: Annotated[str | None, Field(description="Only tasks behind the one with this id")] = None,
        *,
        ctx: Context,
    ) -> Result:
        chosen = () if status is None else (status,)
        page = await book.within(shelf_of(ctx), lambda rows: keeping.listed(rows, chosen, after, limit))
        counted = _counted(page, status, after)
        lines = [
            counted + ("" if page.counts else ". Create one with task_create."),
            *map(line, page.entries),
        ]
        if page.more:
            lines.append(f"{page.more} more; go on with after={page.entries[-1].id}")
        return Result(
            data=ToldTasks(tasks=list(map(told_line, page.entries)), counts=page.counts, more=page.more),
            summary=counted,
            output="\n".join(lines),
        )

    return task_list


def _counted(page: keeping.Page, status: Status | None, after: str | None) -> str:
    """How many there are, and first that none is as wanted."""
    every = tally(page.counts, "task")
    if page.entries or not page.counts:
        return every
    if status is None:
        return f"No task comes after {after} ({every})."
    behind = "" if after is None else f" after {after}"
    return f"No task{behind} is {status.replace('_', ' ')} ({every})."
