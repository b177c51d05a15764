"""task_create, task_get, task_list, task_update: tasks that may wait for each other."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

from handrail import Context, Result, Tool, tool
from handrail.ext import ToolError, register_output_block
from handrail.toolsets.tasks import rules
from handrail.toolsets.tasks.output import (
    TaskLine,
    TaskOutput,
    checklist_line,
    count_summary,
    list_key_of,
    now,
    table_block,
    task_line,
    task_output,
)
from handrail.toolsets.tasks.rules import TaskPatch
from handrail.toolsets.tasks.store import Status, TaskEntry, TaskStore

Subject = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Ids = Annotated[list[str], Field(max_length=100)]


def task_create(store: TaskStore) -> Tool:
    @tool(
        "task_create",
        level="read",
        capabilities=["read"],
        concurrency="parallel",
        param_aliases={"subject": ["title"], "depends_on": ["blocked_by", "after"]},
        category="tasks",
        icon="list-plus",
        origin="system",
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
        output=TaskOutput,
    )
    async def task_get(
        id: Annotated[str, Field(description="The task's id, such as T3")],
        *,
        ctx: Context,
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
        level="read",
        capabilities=["read"],
        concurrency="parallel",
        repeatable=True,
        category="tasks",
        icon="list",
        origin="system",
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
        level="read",
        capabilities=["read"],
        concurrency="parallel",
        repeatable=True,
        param_aliases={"id": ["task_id"], "subject": ["title"], "depends_on": ["blocked_by", "after"]},
        category="tasks",
        icon="list-checks",
        origin="system",
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
        warning = _warning(entry)
        return Result(
            data=task_output(entry),
            summary=f"{entry.id} is {entry.status.replace('_', ' ')}: {entry.subject}",
            output=checklist_line(entry) + (f"\nNote: {warning}" if warning else ""),
            metadata={"warning": warning} if warning else {},
        )

    return task_update


def _warning(entry: TaskEntry) -> str:
    if entry.waits_for and entry.status in ("in_progress", "completed"):
        waits = ", ".join(f"T{number}" for number in entry.waits_for)
        return f"{entry.id} depends on what is still open: {waits}."
    return ""
