"""TaskStore: the port that keeps tasks and todo lists, what stands in it, and its twin in memory."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple, Protocol, TypeVar, get_args

Status = Literal["pending", "in_progress", "completed", "cancelled"]
Priority = Literal["high", "medium", "low"]
STATUSES: tuple[Status, ...] = get_args(Status)
OPEN: tuple[Status, ...] = ("pending", "in_progress")
_ID = re.compile(r"\s*(?:task[\s_-]*)?#?\s*t?0*([1-9]\d{0,8})\s*\Z", re.IGNORECASE | re.ASCII)


class TaskListKey(NamedTuple):
    """Whose tasks: a tenant, and within it a session or somebody who calls outside any."""

    tenant: str
    owner: str


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """One task."""

    number: int
    subject: str
    description: str = ""
    status: Status = "pending"
    depends_on: tuple[int, ...] = ()
    waits_for: tuple[int, ...] = ()
    """Those of `depends_on` that are still open; worked out when it is read."""
    created: str = ""
    updated: str = ""

    @property
    def id(self) -> str:
        return task_id(self.number)


@dataclass(frozen=True, slots=True)
class TodoItem:
    """One line of a todo list."""

    content: str
    status: Status = "pending"
    priority: Priority = "medium"


def task_id(number: int) -> str:
    """A task's name: T3."""
    return f"T{number}"


def parse_task_id(text: str) -> int | None:
    """The number that somebody means by T3, t3, 3, #3 or task-3; None when it is no number at all."""
    match = _ID.match(text)
    return int(match[1]) if match else None


def one_line(text: str) -> str:
    """Text for a list: no line of it can pass for another entry."""
    return " ".join(text.split())


T = TypeVar("T")

MAX_TASK_LISTS = 1000
"""How many sessions of a tenant the memory keeps; the one that was not used for longest goes first."""


class TaskList(Protocol):
    """The tasks of one list, while nobody else changes them."""

    def last(self) -> int:
        """The highest number; 0 when there is none. Numbers have no gaps: no task is ever removed."""
        ...

    def get(self, number: int) -> TaskEntry | None: ...

    def put(self, entry: TaskEntry) -> None:
        """Add it, or write it over the one with its number."""
        ...

    def page(self, statuses: Collection[Status], after: int, limit: int) -> list[TaskEntry]:
        """In the order of their numbers."""
        ...

    def newest(self, limit: int) -> list[TaskEntry]: ...

    def counts(self, after: int = 0) -> dict[str, int]:
        """How many there are of each status behind a number."""
        ...

    def still_open(self, numbers: Collection[int]) -> set[int]:
        """Which of them are neither completed nor cancelled."""
        ...

    def items(self) -> list[TodoItem]:
        """The todo list."""
        ...

    def put_items(self, items: Sequence[TodoItem]) -> None: ...


class TaskStore(Protocol):
    """Keeps tasks and todo lists, each list for itself."""

    async def within(self, list_key: TaskListKey, work: Callable[[TaskList], T]) -> T:
        """Do something with the tasks of a list: wholly or not at all, in the order of the calls."""
        ...

    async def close(self) -> None: ...


class MemoryTaskList:
    """The tasks of one list in a dict."""

    def __init__(self) -> None:
        self._entries: dict[int, TaskEntry] = {}
        self._items: list[TodoItem] = []

    def last(self) -> int:
        return len(self._entries)

    def get(self, number: int) -> TaskEntry | None:
        return self._entries.get(number)

    def put(self, entry: TaskEntry) -> None:
        self._entries[entry.number] = entry

    def page(self, statuses: Collection[Status], after: int, limit: int) -> list[TaskEntry]:
        following = (self._entries[number] for number in range(after + 1, self.last() + 1))
        return list(islice((entry for entry in following if entry.status in statuses), limit))

    def newest(self, limit: int) -> list[TaskEntry]:
        return [self._entries[number] for number in range(self.last(), max(0, self.last() - limit), -1)]

    def counts(self, after: int = 0) -> dict[str, int]:
        return dict(Counter(self._entries[number].status for number in range(after + 1, self.last() + 1)))

    def still_open(self, numbers: Collection[int]) -> set[int]:
        return {number for number in numbers if self._entries[number].status in OPEN}

    def items(self) -> list[TodoItem]:
        return list(self._items)

    def put_items(self, items: Sequence[TodoItem]) -> None:
        self._items = list(items)


class MemoryTaskStore:
    """Tasks that are gone with the process."""

    def __init__(self) -> None:
        self._tenants: dict[str, OrderedDict[str, MemoryTaskList]] = {}

    async def within(self, list_key: TaskListKey, work: Callable[[TaskList], T]) -> T:
        task_lists = self._tenants.setdefault(list_key.tenant, OrderedDict())
        tasks = task_lists.setdefault(list_key.owner, MemoryTaskList())
        task_lists.move_to_end(list_key.owner)
        if len(task_lists) > MAX_TASK_LISTS:
            task_lists.popitem(last=False)
        return work(tasks)

    async def close(self) -> None:
        self._tenants.clear()
