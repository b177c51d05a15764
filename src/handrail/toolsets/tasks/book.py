"""TaskBook: the port behind the task tools, and its twin in memory."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Sequence
from itertools import islice
from typing import Protocol, TypeVar

from handrail.toolsets.tasks.entry import OPEN, Entry, Item, Shelf, Status

T = TypeVar("T")

MOST_SHELVES = 1000
"""How many sessions of a tenant the memory keeps; the one that was not used for longest goes first."""


class Rows(Protocol):
    """The tasks of one shelf, while nobody else changes them."""

    def last(self) -> int:
        """The highest number; 0 when there is none. Numbers have no gaps: no task is ever removed."""
        ...

    def get(self, number: int) -> Entry | None: ...

    def put(self, entry: Entry) -> None:
        """Add it, or write it over the one with its number."""
        ...

    def page(self, statuses: Collection[Status], after: int, limit: int) -> list[Entry]:
        """In the order of their numbers."""
        ...

    def newest(self, limit: int) -> list[Entry]: ...

    def counts(self, after: int = 0) -> dict[str, int]:
        """How many there are of each status behind a number."""
        ...

    def still_open(self, numbers: Collection[int]) -> set[int]:
        """Which of them are neither completed nor cancelled."""
        ...

    def items(self) -> list[Item]:
        """The todo list."""
        ...

    def put_items(self, items: Sequence[Item]) -> None: ...


class TaskBook(Protocol):
    """Keeps tasks and todo lists, each shelf for itself."""

    async def within(self, shelf: Shelf, work: Callable[[Rows], T]) -> T:
        """Do something with the tasks of a shelf: wholly or not at all, in the order of the calls."""
        ...

    async def close(self) -> None: ...


class MemoryRows:
    """The tasks of one shelf in a dict."""

    def __init__(self) -> None:
        self._entries: dict[int, Entry] = {}
        self._items: list[Item] = []

    def last(self) -> int:
        return len(self._entries)

    def get(self, number: int) -> Entry | None:
        return self._entries.get(number)

    def put(self, entry: Entry) -> None:
        self._entries[entry.number] = entry

    def page(self, statuses: Collection[Status], after: int, limit: int) -> list[Entry]:
        following = (self._entries[number] for number in range(after + 1, self.last() + 1))
        return list(islice((entry for entry in following if entry.status in statuses), limit))

    def newest(self, limit: int) -> list[Entry]:
        return [self._entries[number] for number in range(self.last(), max(0, self.last() - limit), -1)]

    def counts(self, after: int = 0) -> dict[str, int]:
        return dict(Counter(self._entries[number].status for number in range(after + 1, self.last() + 1)))

    def still_open(self, numbers: Collection[int]) -> set[int]:
        return {number for number in numbers if self._entries[number].status in OPEN}

    def items(self) -> list[Item]:
        return list(self._items)

    def put_items(self, items: Sequence[Item]) -> None:
        self._items = list(items)


class MemoryTaskBook:
    """Tasks that are gone with the process."""

    def __init__(self) -> None:
        self._tenants: dict[str, OrderedDict[str, MemoryRows]] = {}

    async def within(self, shelf: Shelf, work: Callable[[Rows], T]) -> T:
        shelves = self._tenants.setdefault(shelf.tenant, OrderedDict())
        rows = shelves.setdefault(shelf.owner, MemoryRows())
        shelves.move_to_end(shelf.owner)
        if len(shelves) > MOST_SHELVES:
            shelves.popitem(last=False)
        return work(rows)

    async def close(self) -> None:
        self._tenants.clear()
