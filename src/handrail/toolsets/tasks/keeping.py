"""Keeping: what may be written into a task book, decided in one way for every twin of it."""

from __future__ import annotations

import difflib
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from handrail.ext import ToolError
from handrail.toolsets.tasks.book import Rows
from handrail.toolsets.tasks.entry import STATUSES, Entry, Status, id_of, number_of, one_line

MOST_TASKS = 10_000
"""In one session."""
_MOST_COMPARED = 50
_COMPARED = 60
"""Of so many tasks, and so many characters of each, the nearest is found while others wait."""


@dataclass(frozen=True, slots=True)
class Revision:
    """What is to change in a task; None leaves it."""

    status: Status | None = None
    subject: str | None = None
    description: str | None = None
    depends_on: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a shelf's tasks, and how many there are."""

    entries: list[Entry]
    counts: dict[str, int]
    more: int


def create(rows: Rows, subject: str, description: str, depends_on: Sequence[str], now: str) -> Entry:
    """A new task under the next number. It closes no circle: nothing can depend on it yet."""
    number = rows.last() + 1
    if number > MOST_TASKS:
        raise ToolError(
            f"This session has {MOST_TASKS:,} tasks, which is as many as it can hold. "
            "Use task_update on one that is there.",
            code="TOO_MANY_TASKS",
        )
    before = _numbers(rows, depends_on)
    entry = Entry(number, one_line(subject), description, "pending", before, (), now, now)
    rows.put(entry)
    return waiting(rows, [entry])[0]


def update(rows: Rows, wanted: str, revision: Revision, now: str) -> Entry:
    """The task as it is now; refused when it would wait for itself."""
    entry = _found(rows, wanted)
    before = entry.depends_on if revision.depends_on is None else _numbers(rows, revision.depends_on)
    if revision.depends_on is not None and (circle := circle_through(rows, entry.number, before)):
        raise ToolError(
            f"{entry.id} cannot depend on that: {' → '.join(map(id_of, circle))} is a circle, in which no "
            "task could ever begin. Leave one of these out. Nothing was changed.",
            code="TASK_CYCLE",
        )
    changed = replace(
        entry,
        status=revision.status or entry.status,
        subject=one_line(revision.subject) if revision.subject else entry.subject,
        description=entry.description if revision.description is None else revision.description,
        depends_on=before,
    )
    if changed != entry:
        changed = replace(changed, updated=now)
        rows.put(changed)
    return waiting(rows, [changed])[0]


def get(rows: Rows, wanted: str) -> Entry:
    return waiting(rows, [_found(rows, wanted)])[0]


def listed(rows: Rows, statuses: Sequence[Status], after: str | None, limit: int) -> Page:
    """The tasks with one of these statuses, from behind one of them on."""
    chosen = statuses or STATUSES
    first = 0 if after is None else _found(rows, after).number
    entries = rows.page(chosen, first, limit)
    behind = rows.counts(entries[-1].number) if len(entries) == limit else {}
    more = sum(count for status, count in behind.items() if status in chosen)
    return Page(waiting(rows, entries), rows.counts(), more)


def waiting(rows: Rows, entries: Sequence[Entry]) -> list[Entry]:
    """The same, each with what it still waits for."""
    numbers = {number for entry in entries for number in entry.depends_on}
    held = rows.still_open(numbers) if numbers else set()
    if not held:
        return list(entries)
    return [replace(one, waits_for=tuple(n for n in one.depends_on if n in held)) for one in entries]


def circle_through(rows: Rows, number: int, depends_on: Iterable[int]) -> list[int]:
    """The shortest way from a task through what it would depend on back to itself, or nothing."""
    came_from = dict.fromkeys(depends_on, number)
    ahead = deque(came_from)
    while ahead:
        here = ahead.popleft()
        if here == number:
            way = [here, came_from[here]]
            while way[-1] != number:
                way.append(came_from[way[-1]])
            return way[::-1]
        entry = rows.get(here)
        for further in entry.depends_on if entry is not None else ():
            if further not in came_from:
                came_from[further] = here
                ahead.append(further)
    return []


def _numbers(rows: Rows, wanted: Sequence[str]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(_found(rows, one).number for one in wanted))


def _found(rows: Rows, wanted: str) -> Entry:
    number = number_of(wanted)
    entry = None if number is None else rows.get(number)
    if entry is None:
        raise ToolError(_unknown(rows, wanted), code="TASK_NOT_FOUND")
    return entry


def _unknown(rows: Rows, wanted: str) -> str:
    said = f"There is no task {one_line(wanted)[:80]!r} in this session"
    last = rows.last()
    if not last:
        return f"{said}, and no other. Create one with task_create."
    entries = rows.newest(_MOST_COMPARED)
    subjects = {entry.subject.casefold()[:_COMPARED]: entry for entry in reversed(entries)}
    near = difflib.get_close_matches(one_line(wanted[:200]).casefold()[:_COMPARED], subjects, 1, 0.5)
    nearest = subjects[near[0]] if near else entries[0]
    there = "There is only" if last == 1 else f"Tasks are T1 to T{last}; the nearest is"
    return f"{said}. {there} {nearest.id}: {nearest.subject}."
