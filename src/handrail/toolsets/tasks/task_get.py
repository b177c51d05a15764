"""task_get: all that is known of a task."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from handrail import Context, Result, Tool, tool
from handrail.toolsets.tasks import keeping
from handrail.toolsets.tasks.book import TaskBook
from handrail.toolsets.tasks.told import ToldTask, line, shelf_of, told


def task_get(book: TaskBook) -> Tool:
    @tool(
        "task_get",
        level="read",
        capabilities=["read"],
        concurrency="parallel",
        repeatable=True,
        param_aliases={"id": ["task_id"]},
        category="tasks",
        icon="clipboard",
        origin="system",
        output=ToldTask,
    )
    async def task_get(
        id: Annotated[str, Field(description="The task's id, such as T3")],
        *,
        ctx: Context,
    ) -> Result:
        entry = await book.within(shelf_of(ctx), lambda rows: keeping.get(rows, id))
        task = told(entry)
        lines = [line(entry)]
        if task.depends_on:
            lines.append(f"depends on {', '.join(task.depends_on)}")
        if task.description:
            lines.append(task.description)
        return Result(data=task, summary=f"{entry.id}: {entry.subject}", output="\n".join(lines))

    return task_get
