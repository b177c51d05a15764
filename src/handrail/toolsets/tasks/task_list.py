"""task_list: the tasks of a session."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from handrail import Context, Result, Tool, tool
from handrail.toolsets.tasks import keeping
from handrail.toolsets.tasks.book import TaskBook
from handrail.toolsets.tasks.entry import Status
from handrail.toolsets.tasks.told import ToldLine, line, shelf_of, tally, told_line


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
            {
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
            },
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
        counted = tally(page.counts, "task")
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
