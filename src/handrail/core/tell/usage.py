"""Usage: who used which tool how often, how well and at what price. A fold over events, in any order."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import Literal, NamedTuple, Protocol, get_args

from handrail.core.errors import UsageError
from handrail.core.tell.counts import Counts, measured
from handrail.core.tell.events import Event, ToolFailed

By = Literal["tool", "user", "agent", "tenant", "source", "day"]
Told = dict[tuple[str, ...], Counts]
"""Counts by the names that were asked for, in order."""
UNKNOWN = "?"
"""Stands for every name that is no tool's: a model may invent as many as it likes."""


class Cell(NamedTuple):
    """Whose calls of what are counted together. Empty where there is no user or agent."""

    tenant: str
    day: str
    tool: str
    user: str
    agent: str
    source: str


def cell_of(event: Event) -> Cell:
    """Where an event is counted; the day is that of UTC."""
    principal = event.call.principal
    nowhere = isinstance(event, ToolFailed) and event.code == "TOOL_NOT_FOUND"
    return Cell(
        tenant=event.tenant,
        day=day_of(event.at),
        tool=UNKNOWN if nowhere else event.tool,
        user=(principal.user if principal else None) or "",
        agent=(principal.agent if principal else None) or "",
        source=event.call.source if isinstance(event.call.source, str) else UNKNOWN,
    )


def day_of(at: float) -> str:
    return _day(int(at // _SECONDS))


@lru_cache(maxsize=64)
def _day(number: int) -> str:
    """A day by its number since 1970."""
    return date.fromordinal(_FIRST + number).isoformat()


_SECONDS = 86_400
_FIRST = date(1970, 1, 1).toordinal()


def days(since: float | None, until: float | None) -> tuple[str, str]:
    """The first and the last day that are meant."""
    return "" if since is None else day_of(since), "9999-12-31" if until is None else day_of(until)


class Usage:
    """Counts by cell. Of two usages that counted different events, `merge` makes one that counted all."""

    def __init__(self) -> None:
        self.cells: dict[Cell, Counts] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Usage) and self.cells == other.cells

    def __bool__(self) -> bool:
        return bool(self.cells)

    def add(self, event: Event) -> None:
        """Count an event."""
        if amounts := measured(event):
            self.take(cell_of(event), amounts)

    def take(self, cell: Cell, amounts: Mapping[str, int]) -> None:
        self.cells.setdefault(cell, Counts()).take(amounts)

    def merge(self, other: Usage) -> None:
        for cell, counts in other.cells.items():
            self.take(cell, counts.amounts)

    def of(self, tenant: str, since: float | None = None, until: float | None = None) -> Usage:
        """What one tenant used, from the day of `since` to the day of `until`."""
        first, last = days(since, until)
        found = Usage()
        found.cells = {
            cell: Counts(counts.amounts)
            for cell, counts in self.cells.items()
            if cell.tenant == tenant and first <= cell.day <= last
        }
        return found

    def by(self, *names: By) -> Told:
        """The counts by these of a cell's names, in their order; without any, one for all."""
        check_names(names)
        found: Told = {}
        for cell, counts in self.cells.items():
            key = tuple(getattr(cell, name) for name in names)
            found.setdefault(key, Counts()).take(counts.amounts)
        return dict(sorted(found.items()))

    def total(self) -> Counts:
        return self.by().get((), Counts())


def check_names(names: Iterable[str]) -> None:
    """Raise for a name that nothing is counted by."""
    known = get_args(By)
    for name in names:
        if name not in known:
            raise UsageError(f"Usage is not counted by {name!r}. Give some of: {', '.join(known)}.")


class Tally(Protocol):
    """Counts usage: hears of events and tells what was used."""

    def hear(self, event: Event, /) -> None:
        """A listener for `hr.subscribe`."""
        ...

    async def read(
        self, tenant: str, *, since: float | None = None, until: float | None = None, by: Sequence[By] = ()
    ) -> Told:
        """What a tenant used, from the day of `since` to the day of `until`."""
        ...

    async def close(self) -> None:
        """Let nothing be lost that was heard."""
        ...


class MemoryTally:
    """The usage of a process without a database. Keeps the newest cells."""

    def __init__(self, keep: int = 50_000) -> None:
        self._usage = Usage()
        self._keep = keep
        self._lock = threading.Lock()

    def hear(self, event: Event, /) -> None:
        with self._lock:
            self._usage.add(event)
            cells = self._usage.cells
            while len(cells) > self._keep:
                del cells[next(iter(cells))]

    async def read(
        self, tenant: str, *, since: float | None = None, until: float | None = None, by: Sequence[By] = ()
    ) -> Told:
        with self._lock:
            return self._usage.of(tenant, since, until).by(*by)

    async def close(self) -> None:
        return
