"""todoread and todowrite: the todo list of a session, read and written as a whole."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from handrail import Context, Result, Tool, tool
from handrail.ext import register_output_block
from handrail.toolsets.tasks.output import (
    TodoListOutput,
    checklist,
    count_summary,
    list_key_of,
    table_block,
    todo_list_output,
)
from handrail.toolsets.tasks.store import Priority, Status, TaskStore, TodoItem, one_line

_SECTIONS: list[dict[str, Any]] = [
    {
        "key": "todos",
        "label": "Todos",
        "type": "table",
        "config": {"columns": [{"key": "content", "label": "What"}, "status", "priority"]},
    },
    {"key": "counts", "label": "How many", "type": "summary"},
]

for _slug in ("todoread", "todowrite"):
    register_output_block(f"block:tool-output-{_slug}", table_block(_SECTIONS[0]))


def todoread(store: TaskStore) -> Tool:
    @tool(
        "todoread",
        level="read",
        capabilities=["read"],
        concurrency="parallel",
        repeatable=True,
        category="tasks",
        icon="list-todo",
        origin="system",
        output=TodoListOutput,
        sections=_SECTIONS,
    )
    async def todoread(
        status: Annotated[Status | None, Field(description="Only todos with this status")] = None,
        *,
        ctx: Context,
    ) -> Result:
        every = await store.within(list_key_of(ctx), lambda tasks: tasks.items())
        items = [one for one in every if status in (None, one.status)]
        data = todo_list_output(items)
        return Result(data=data, summary=count_summary(data.counts, "todo"), output=checklist(items))

    return todoread


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


def todowrite(store: TaskStore) -> Tool:
    @tool(
        "todowrite",
        level="read",
        capabilities=["read"],
        concurrency="sequential",
        repeatable=True,
        category="tasks",
        icon="list-todo",
        origin="system",
        output=TodoListOutput,
        sections=_SECTIONS,
    )
    async def todowrite(
        todos: Annotated[
            list[Todo],
            Field(description="The whole list in order; it takes the place of the old", max_length=500),
        ],
        *,
        ctx: Context,
    ) -> Result:
        items = [TodoItem(one_line(one.content), one.status, one.priority) for one in todos]
        await store.within(list_key_of(ctx), lambda tasks: tasks.put_items(items))
        data = todo_list_output(items)
        counted, warning = count_summary(data.counts, "todo"), _warning(data.counts.get("in_progress", 0))
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
