"""todowrite: the todo list of a session, written as a whole."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from handrail import Context, Result, Tool, tool
from handrail.toolsets.tasks.book import TaskBook
from handrail.toolsets.tasks.entry import Item, Priority, Status, one_line
from handrail.toolsets.tasks.todoread import SECTIONS
from handrail.toolsets.tasks.told import ToldList, checklist, shelf_of, tally, told_list


class Todo(BaseModel):
    """One line of the list."""

    model_config = ConfigDict(extra="forbid")

    content: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
        Field(description="What is to be done, in one line"),
    ]
    status: Annotated[Status, Field(description="How far it is")] = "pending"
    priority: Annotated[Priority, Field(description="How much it matters")] = "medium"


def todowrite(book: TaskBook) -> Tool:
    @tool(
        "todowrite",
        level="read",
        capabilities=["read"],
        concurrency="sequential",
        repeatable=True,
        category="tasks",
        icon="list-todo",
        origin="system",
        output=ToldList,
        sections=SECTIONS,
    )
    async def todowrite(
        todos: Annotated[
            list[Todo],
            Field(description="The whole list in order; it takes the place of the old", max_length=500),
        ],
        *,
        ctx: Context,
    ) -> Result:
        items = [Item(one_line(one.content), one.status, one.priority) for one in todos]
        await book.within(shelf_of(ctx), lambda rows: rows.put_items(items))
        data = told_list(items)
        counted, warning = tally(data.counts, "todo"), _warning(data.counts.get("in_progress", 0))
        return Result(
            data=data,
            summary=counted,
            output=checklist(items) + (f"\nNote: {warning}" if warning else ""),
            metadata={"warning": warning} if warning else {},
        )

    return todowrite


def _warning(in_progress: int) -> str:
    if in_progress < 2:
        return ""
    return f"{in_progress} todos are in progress at once; keep it to the one you are at."
