"""What stands in a task book: tasks, which may wait for each other, and the items of a todo list."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

Status = Literal["pending", "in_progress", "completed", "cancelled"]
Priority = Literal["high", "medium", "low"]

STATUSES: tuple[Status, ...] = get_args(Status)
OPEN: tuple[Status, ...] = ("pending", "in_progress")

_ID = re.compile(r"\s*(?:task[\s_-]*)?#?\s*t?0*([1-9]\d{0,8})\s*\Z", re.IGNORECASE | re.ASCII)


class Shelf(NamedTuple):
    """Whose tasks: a tenant, and within it a session or somebody who calls outside any."""

    tenant: str
    owner: str


@dataclass(frozen=True, slots=True)
class Entry:
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
        return id_of(self.number)


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a todo list."""

    content: str
    status: Status = "pending"
    priority: Priority = "medium"


def id_of(number: int) -> str:
    """A task's name: T3."""
    return f"T{number}"


def number_of(wanted: str) -> int | None:
    """The number that somebody means by T3, t3, 3, #3 or task-3; None when it is no number at all."""
    found = _ID.match(wanted)
    return int(found[1]) if found else None


def one_line(text: str) -> str:
    """Text for a list: no line of it can pass for another entry."""
    return " ".join(text.split())
