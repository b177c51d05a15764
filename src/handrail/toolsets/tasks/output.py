"""How tasks are shown: data for programs, a checklist for models, a table for people."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field

from handrail import Context
from handrail.ext.forms import Block, tool_output_to_blocks
from handrail.toolsets.tasks.store import (
    STATUSES,
    Priority,
    Status,
    TaskEntry,
    TaskListKey,
    TodoItem,
    task_id,
)

TASK_TOOL: Mapping[str, Any] = {
    "level": "read",
    "capabilities": ["read"],
    "concurrency": "parallel",
    "category": "tasks",
    "origin": "system",
}
"""Options of every tool here: what it changes is the agent's own list."""

_CHECKBOXES: Mapping[Status, str] = {
    "pending": "[ ]",
    "in_progress": "[~]",
    "completed": "[x]",
    "cancelled": "[-]",
}


class TaskOutput(BaseModel):
    """A task."""

    id: str
    subject: str
    description: str
    status: Status
    depends_on: list[str]
    waits_for: Annotated[list[str], Field(description="Those it depends on that are still open")]
    created: str
    updated: str


class TaskLine(BaseModel):
    """A task in a list."""

    id: str
    subject: str
    status: Status
    waits_for: list[str]
    updated: str


class TodoLine(BaseModel):
    """A line of a todo list."""

    content: str
    status: Status
    priority: Priority


class TodoListOutput(BaseModel):
    """A todo list."""

    todos: list[TodoLine]
    counts: dict[str, int]


def list_key_of(ctx: Context) -> TaskListKey:
    """The tasks that a call is about: of its session. Calls outside any share what is their caller's."""
    if not ctx.session_id.startswith("call:"):  # that of a call outside any, which those nested in it share
        return TaskListKey(ctx.tenant_id, f"session:{ctx.session_id}")
    if ctx.agent_id is not None:
        return TaskListKey(ctx.tenant_id, f"agent:{json.dumps([ctx.user_id, ctx.agent_id])}")
    return TaskListKey(ctx.tenant_id, f"user:{ctx.user_id or ''}")


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def task_output(entry: TaskEntry) -> TaskOutput:
    return TaskOutput(
        id=entry.id,
        subject=entry.subject,
        description=entry.description,
        status=entry.status,
        depends_on=[task_id(number) for number in entry.depends_on],
        waits_for=[task_id(number) for number in entry.waits_for],
        created=entry.created,
        updated=entry.updated,
    )


def task_line(entry: TaskEntry) -> TaskLine:
    return TaskLine.model_validate(task_output(entry), from_attributes=True)


def checklist_line(entry: TaskEntry) -> str:
    """A task in a checklist: `[ ] T3 Release it (waits for T1, T2)`."""
    waits = ", ".join(map(task_id, entry.waits_for))
    return f"{_CHECKBOXES[entry.status]} {entry.id} {entry.subject}" + (
        f" (waits for {waits})" if waits else ""
    )


def todo_list_output(items: Iterable[TodoItem]) -> TodoListOutput:
    lines = [TodoLine(content=item.content, status=item.status, priority=item.priority) for item in items]
    return TodoListOutput(todos=lines, counts=dict(Counter(line.status for line in lines)))


def checklist(items: Iterable[TodoItem]) -> str:
    """A todo list as a model reads it."""
    lines = [
        f"{_CHECKBOXES[item.status]} {item.content}"
        + (f" ({item.priority})" if item.priority != "medium" else "")
        for item in items
    ]
    return "\n".join(lines) or "The list is empty."


def table_block(section: Mapping[str, Any]) -> Callable[[Any], list[Block]]:
    """How a page shows tasks: as their table. How many there are, the summary says."""
    key = section["key"]
    return lambda output: tool_output_to_blocks([section], {key: output[key]}) if output[key] else []


def count_summary(counts: Mapping[str, int], word: str) -> str:
    """How many there are: `3 tasks: 1 completed, 2 pending`."""
    total = sum(counts.values())
    if not total:
        return f"No {word}s"
    parts = [f"{counts[status]} {status.replace('_', ' ')}" for status in STATUSES if counts.get(status)]
    return f"{total} {word}{'' if total == 1 else 's'}: {', '.join(parts)}"
