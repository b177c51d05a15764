"""task_create: a new task."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from handrail import Context, Result, Tool, tool
from handrail.toolsets.tasks import keeping
from handrail.toolsets.tasks.book import TaskBook
from handrail.toolsets.tasks.told import ToldTask, line, now, shelf_of, told

Subject = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Ids = Annotated[list[str], Field(max_length=100)]


def task_create(book: TaskBook) -> Tool:
    @tool(
        "task_create",
        level="read",
        capabilities=["read"],
        concurrency="parallel",
        param_aliases={"subject": ["title"], "depends_on": ["blocked_by", "after"]},
        category="tasks",
        icon="list-plus",
        origin="system",
        output=ToldTask,
    )
    async def task_create(
        subject: Annotated[Subject, Field(description="What is to be done, in one line")],
        description: Annotated[
            str, Field(description="What belongs to it and when it is done", max_length=10_000)
        ] = "",
        depends_on: Annotated[
            Ids | None, Field(description="Ids of tasks that must be over before it can begin, such as T1")
        ] = None,
        *,
        ctx: Context,
    ) -> Result:
        entry = await book.within(
            shelf_of(ctx), lambda rows: keeping.create(rows, subject, description, depends_on or (), now())
        )
        return Result(data=told(entry), summary=f"Created {entry.id}: {entry.subject}", output=line(entry))

    return task_create
