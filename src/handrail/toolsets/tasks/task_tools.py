"""Tasks that may wait for each other, and the todo list of a session, which is written as a whole."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from handrail import Context, Result, Tool, ToolError, tool
from handrail.ext.forms import register_output_block
from handrail.toolsets.tasks import rules
from handrail.toolsets.tasks.output import (
    TASK_TOOL,
    TaskLine,
    TaskOutput,
    TodoListOutput,
    checklist,
    checklist_line,
    count_summary,
    list_key_of,
    now,
    table_block,
    task_line,
    task_output,
    todo_list_output,
)
from handrail.toolsets.tasks.rules import TaskPatch
from handrail.toolsets.tasks.store import Priority, Status, TaskStore, TodoItem, one_line, task_id

Subject = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Ids = Annotated[list[str], Field(max_length=100)]
_REPEATABLE: dict[str, Any] = {**TASK_TOOL, "repeatable": True}


def task_create(store: TaskStore) -> Tool:
    @tool(
        "task_create",
        **TASK_TOOL,
        param_aliases={"subject": ["title"], "depends_on": ["blocked_by", "after"]},
        icon="list-plus",
        output=TaskOutput,
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
        entry = await store.within(
            list_key_of(ctx), lambda tasks: rules.create(tasks, subject, description, depends_on or (), now())
        )
        return Result(
            data=task_output(entry),
            summary=f"Created {entry.id}: {entry.subject}",
            output=checklist_line(entry),
        )

    return task_create


def task_get(store: TaskStore) -> Tool:
    @tool("task_get", **_REPEATABLE, param_aliases={"id": ["task_id"]}, icon="clipboard", output=TaskOutput)
    async def task_get(
        id: Annotated[str, Field(description="The task's id, such as T3")], *, ctx: Context
    ) -> Result:
        entry = await store.within(list_key_of(ctx), lambda tasks: rules.get(tasks, id))
        task = task_output(entry)
        lines = [checklist_line(entry)]
        if task.depends_on:
            lines.append(f"depends on {', '.join(task.depends_on)}")
        if task.description:
            lines.append(task.description)
        return Result(data=task, summary=f"{entry.id}: {entry.subject}", output="\n".join(lines))

    return task_get


_TASK_TABLE: dict[str, Any] = {
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
register_output_block("block:tool-output-task-list", table_block(_TASK_TABLE))


class TaskListOutput(BaseModel):
    """A part of the tasks, and how many there are."""

    tasks: list[TaskLine]
    counts: dict[str, int]
    more: Annotated[int, Field(description="How many that match come after these")]


def task_list(store: TaskStore) -> Tool:
    @tool(
        "task_list",
        **_REPEATABLE,
        icon="list",
        output=TaskListOutput,
        sections=[
            _TASK_TABLE,
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
        page = await store.within(
            list_key_of(ctx), lambda tasks: rules.list_page(tasks, chosen, after, limit)
        )
        counted = _count_line(page, status, after)
        lines = [
            counted + ("" if page.counts else ". Create one with task_create."),
            *map(checklist_line, page.entries),
        ]
        if page.more:
            lines.append(f"{page.more} more; go on with after={page.entries[-1].id}")
        return Result(
            data=TaskListOutput(tasks=list(map(task_line, page.entries)), counts=page.counts, more=page.more),
            summary=counted,
            output="\n".join(lines),
        )

    return task_list


def _count_line(page: rules.TaskPage, status: Status | None, after: str | None) -> str:
    """How many there are, and first that none is as wanted."""
    every = count_summary(page.counts, "task")
    if page.entries or not page.counts:
        return every
    if status is None:
        return f"No task comes after {after} ({every})."
    behind = "" if after is None else f" after {after}"
    return f"No task{behind} is {status.replace('_', ' ')} ({every})."


def task_update(store: TaskStore) -> Tool:
    @tool(
        "task_update",
        **_REPEATABLE,
        param_aliases={"id": ["task_id"], "subject": ["title"], "depends_on": ["blocked_by", "after"]},
        icon="list-checks",
        output=TaskOutput,
    )
    async def task_update(
        id: Annotated[str, Field(description="The task's id, such as T3")],
        status: Annotated[Status | None, Field(description="How far it is now")] = None,
        subject: Annotated[Subject | None, Field(description="What is to be done, in one line")] = None,
        description: Annotated[
            str | None,
            Field(description="What belongs to it, in place of what stood there", max_length=10_000),
        ] = None,
        depends_on: Annotated[
            Ids | None, Field(description="All tasks that must be over before it can begin; [] for none")
        ] = None,
        *,
        ctx: Context,
    ) -> Result:
        patch = TaskPatch(status, subject, description, depends_on)
        if patch == TaskPatch():
            raise ToolError(
                "Say what is to change: status, subject, description or depends_on.", code="INVALID_PARAM"
            )
        entry = await store.within(list_key_of(ctx), lambda tasks: rules.update(tasks, id, patch, now()))
        warning = ""
        if entry.waits_for and entry.status in ("in_progress", "completed"):
            waits = ", ".join(map(task_id, entry.waits_for))
            warning = f"{entry.id} depends on what is still open: {waits}."
        return Result(
            data=task_output(entry),
            summary=f"{entry.id} is {entry.status.replace('_', ' ')}: {entry.subject}",
            output=checklist_line(entry) + (f"\nNote: {warning}" if warning else ""),
            metadata={"warning": warning} if warning else {},
        )

    return task_update


_TODO_SECTIONS: list[dict[str, Any]] = [
    {
        "key": "todos",
        "label": "Todos",
        "type": "table",
        "config": {"columns": [{"key": "content", "label": "What"}, "status", "priority"]},
    },
    {"key": "counts", "label": "How many", "type": "summary"},
]
_TODO_TOOL: dict[str, Any] = {
    **_REPEATABLE,
    "icon": "list-todo",
    "output": TodoListOutput,
    "sections": _TODO_SECTIONS,
}

for _slug in ("todoread", "todowrite"):
    register_output_block(f"block:tool-output-{_slug}", table_block(_TODO_SECTIONS[0]))


def todoread(store: TaskStore) -> Tool:
    @tool("todoread", **_TODO_TOOL)
    async def todoread(
        status: Annotated[Status | None, Field(description="Only todos with this status")] = None,
        *,
        ctx: Context,
    ) -> Result:
        every = await store.within(list_key_of(ctx), lambda tasks: tasks.items())
        items = [item for item in every if status in (None, item.status)]
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
    @tool("todowrite", **{**_TODO_TOOL, "concurrency": "sequential"})
    async def todowrite(
        todos: Annotated[
            list[Todo],
            Field(description="The whole list in order; it takes the place of the old", max_length=500),
        ],
        *,
        ctx: Context,
    ) -> Result:
        items = [TodoItem(one_line(todo.content), todo.status, todo.priority) for todo in todos]
        await store.within(list_key_of(ctx), lambda tasks: tasks.put_items(items))
        data = todo_list_output(items)
        warning = ""
        if (in_progress := data.counts.get("in_progress", 0)) > 1:
            warning = f"{in_progress} todos are in progress at once; keep it to the one you are at."
        return Result(
            data=data,
            summary=count_summary(data.counts, "todo"),
            output=checklist(items) + (f"\nNote: {warning}" if warning else ""),
            metadata={"warning": warning} if warning else {},
        )

    return todowrite
