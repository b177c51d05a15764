"""How tasks are told: data for programs, a checklist for models, a table for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field

from handrail import Context
from handrail.ext import Block, tool_output_to_blocks
from handrail.toolsets.tasks.entry import STATUSES, Entry, Item, Priority, Shelf, Status, id_of

_BOX: Mapping[Status, str] = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]", "cancelled": "[-]"}


class ToldTask(BaseModel):
    """A task."""

    id: str
    subject: str
    description: str
    status: Status
    depends_on: list[str]
    waits_for: Annotated[list[str], Field(description="Those it depends on that are still open")]
    created: str
    updated: str


class ToldLine(BaseModel):
    """A task in a list."""

    id: str
    subject: str
    status: Status
    waits_for: list[str]
    updated: str


class ToldItem(BaseModel):
    """A line of a todo list."""

    content: str
    status: Status
    priority: Priority


class ToldList(BaseModel):
    """A todo list."""

    todos: list[ToldItem]
    counts: dict[str, int]


def shelf_of(ctx: Context) -> Shelf:
    """The tasks that a call is about: of its session. Calls outside any share what is their caller's."""
    if not ctx.session_id.startswith("call:"):  # that of a call outside any, which those nested in it share
        return Shelf(ctx.tenant_id, f"session:{ctx.session_id}")
    if ctx.agent_id is not None:
        return Shelf(ctx.tenant_id, f"agent:{json.dumps([ctx.user_id, ctx.agent_id])}")
    return Shelf(ctx.tenant_id, f"user:{ctx.user_id or ''}")


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def told(entry: Entry) -> ToldTask:
    return ToldTask(
        id=entry.id,
        subject=entry.subject,
        description=entry.description,
        status=entry.status,
        depends_on=[id_of(number) for number in entry.depends_on],
        waits_for=[id_of(number) for number in entry.waits_for],
        created=entry.created,
        updated=entry.updated,
    )


def told_line(entry: Entry) -> ToldLine:
    waits_for = [id_of(number) for number in entry.waits_for]
    return ToldLine(
        id=entry.id,
        subject=entry.subject,
        status=entry.status,
        waits_for=waits_for,
        updated=entry.updated,
    )


def line(entry: Entry) -> str:
    """A task in a checklist: `[ ] T3 Release it (waits for T1, T2)`."""
    waits = ", ".join(map(id_of, entry.waits_for))
    return f"{_BOX[entry.status]} {entry.id} {entry.subject}" + (f" (waits for {waits})" if waits else "")


def told_list(items: Iterable[Item]) -> ToldList:
    told = [ToldItem(content=one.content, status=one.status, priority=one.priority) for one in items]
    counts: dict[str, int] = {}
    for one in told:
        counts[one.status] = counts.get(one.status, 0) + 1
    return ToldList(todos=told, counts=counts)


def checklist(items: Iterable[Item]) -> str:
    """A todo list as a model reads it."""
    lines = [
        f"{_BOX[one.status]} {one.content}" + (f" ({one.priority})" if one.priority != "medium" else "")
        for one in items
    ]
    return "\n".join(lines) or "The list is empty."


def table_alone(section: Mapping[str, Any]) -> Callable[[Any], list[Block]]:
    """How a page shows tasks: as their table. How many there are, the summary says."""
    key = section["key"]
    return lambda output: tool_output_to_blocks([section], {key: output[key]}) if output[key] else []


def tally(counts: Mapping[str, int], word: str) -> str:
    """How many there are: `3 tasks: 1 completed, 2 pending`."""
    total = sum(counts.values())
    if not total:
        return f"No {word}s"
    parts = [f"{counts[one]} {one.replace('_', ' ')}" for one in STATUSES if counts.get(one)]
    return f"{total} {word}{'' if total == 1 else 's'}: {', '.join(parts)}"
