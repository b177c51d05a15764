"""The rules of a task list: what may be created and changed, decided in one way for every store."""

from __future__ import annotations

import difflib
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from handrail import ToolError
from handrail.toolsets.tasks.store import (
    STATUSES,
    Status,
    TaskEntry,
    TaskList,
    one_line,
    parse_task_id,
    task_id,
)

MOST_TASKS = 10_000
"""In one session."""
_MAX_COMPARED = 50
_COMPARED_CHARS = 60
"""Of so many tasks, and so many characters of each, the nearest is found while others wait."""


@dataclass(frozen=True, slots=True)
class TaskPatch:
    """What is to change in a task; None leaves it."""

    status: Status | None = None
    subject: str | None = None
    description: str | None = None
    depends_on: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class TaskPage:
    """A part of a list's tasks, and how many there are."""

    entries: list[TaskEntry]
    counts: dict[str, int]
    more: int


def create(tasks: TaskList, subject: str, description: str, depends_on: Sequence[str], now: str) -> TaskEntry:
    """A new task under the next number. It closes no circle: nothing can depend on it yet."""
    number = tasks.last() + 1
    if number > MOST_TASKS:
        raise ToolError(
            f"This session has {MOST_TASKS:,} tasks, which is as many as it can hold. "
            "Use task_update on one that is there.",
            code="TOO_MANY_TASKS",
        )
    before = _numbers(tasks, depends_on)
    entry = TaskEntry(number, one_line(subject), description, "pending", before, (), now, now)
    tasks.put(entry)
    return with_open_dependencies(tasks, [entry])[0]


def update(tasks: TaskList, task: str, patch: TaskPatch, now: str) -> TaskEntry:
    """The task as it is now; refused when it would wait for itself."""
    entry = _find(tasks, task)
    before = entry.depends_on if patch.depends_on is None else _numbers(tasks, patch.depends_on)
    if patch.depends_on is not None and (circle := find_cycle(tasks, entry.number, before)):
        raise ToolError(
            f"{entry.id} cannot depend on that: {' → '.join(map(task_id, circle))} is a circle, in which no "
            "task could ever begin. Leave one of these out. Nothing was changed.",
            code="TASK_CYCLE",
        )
    changed = replace(
        entry,
        status=patch.status or entry.status,
        subject=one_line(patch.subject) if patch.subject else entry.subject,
        description=entry.description if patch.description is None else patch.description,
        depends_on=before,
    )
    if changed != entry:
        changed = replace(changed, updated=now)
        tasks.put(changed)
    return with_open_dependencies(tasks, [changed])[0]


def get(tasks: TaskList, task: str) -> TaskEntry:
    return with_open_dependencies(tasks, [_find(tasks, task)])[0]


def list_page(tasks: TaskList, statuses: Sequence[Status], after: str | None, limit: int) -> TaskPage:
    """The tasks with one of these statuses, from behind one of them on."""
    chosen = statuses or STATUSES
    first = 0 if after is None else _find(tasks, after).number
    entries = tasks.page(chosen, first, limit)
    behind = tasks.counts(entries[-1].number) if len(entries) == limit else {}
    more = sum(count for status, count in behind.items() if status in chosen)
    return TaskPage(with_open_dependencies(tasks, entries), tasks.counts(), more)


def with_open_dependencies(tasks: TaskList, entries: Sequence[TaskEntry]) -> list[TaskEntry]:
    """The same, each with what it still waits for."""
    numbers = {number for entry in entries for number in entry.depends_on}
    held = tasks.still_open(numbers) if numbers else set()
    if not held:
        return list(entries)
    return [replace(entry, waits_for=tuple(n for n in entry.depends_on if n in held)) for entry in entries]


def find_cycle(tasks: TaskList, number: int, depends_on: Iterable[int]) -> list[int]:
    """The shortest way from a task through what it would depend on back to itself, or nothing."""
    came_from = dict.fromkeys(depends_on, number)
    ahead = deque(came_from)
    while ahead:
        current = ahead.popleft()
        if current == number:
            way = [current, came_from[current]]
            while way[-1] != number:
                way.append(came_from[way[-1]])
            return way[::-1]
        entry = tasks.get(current)
        for further in entry.depends_on if entry is not None else ():
            if further not in came_from:
                came_from[further] = current
                ahead.append(further)
    return []


def _numbers(tasks: TaskList, wanted_tasks: Sequence[str]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(_find(tasks, task).number for task in wanted_tasks))


def _find(tasks: TaskList, task: str) -> TaskEntry:
    number = parse_task_id(task)
    entry = None if number is None else tasks.get(number)
    if entry is None:
        raise ToolError(_unknown_task(tasks, task), code="TASK_NOT_FOUND")
    return entry


def _unknown_task(tasks: TaskList, task: str) -> str:
    message = f"There is no task {one_line(task)[:80]!r} in this session"
    last = tasks.last()
    if not last:
        return f"{message}, and no other. Create one with task_create."
    entries = tasks.newest(_MAX_COMPARED)
    subjects = {entry.subject.casefold()[:_COMPARED_CHARS]: entry for entry in reversed(entries)}
    near = difflib.get_close_matches(one_line(task[:200]).casefold()[:_COMPARED_CHARS], subjects, 1, 0.5)
    nearest = subjects[near[0]] if near else entries[0]
    introduction = "There is only" if last == 1 else f"Tasks are T1 to T{last}; the nearest is"
    return f"{message}. {introduction} {nearest.id}: {nearest.subject}."
