"""Usage: who used which tool how often, how well and at what price. A fold over events, in any order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, Literal, NamedTuple, Protocol, get_args

from handrail.core.errors import UsageError
from handrail.core.tell.counts import TOKENS, Counts, code_of, measure
from handrail.core.tell.events import Event, ToolCancelled, ToolCompleted, ToolFailed

UsageDimension = Literal["tool", "user", "agent", "tenant", "source", "day"]

CountsByKey = dict[tuple[str, ...], Counts]
"""Counts by the names that were asked for, in order."""

UNKNOWN_NAME = "?"
"""Stands for every name that is no tool's: a model may invent as many as it likes."""


class UsageKey(NamedTuple):
    """Whose calls of what are counted together. Empty where there is no user or agent."""

    tenant: str
    day: str
    tool: str
    user: str
    agent: str
    source: str


def usage_key(event: Event) -> UsageKey:
    """Where an event is counted; the day is that of UTC."""
    principal = event.call.principal
    nowhere = isinstance(event, ToolFailed) and event.code == "TOOL_NOT_FOUND"
    return UsageKey(
        tenant=event.tenant,
        day=day_of(event.at),
        tool=UNKNOWN_NAME if nowhere else event.tool,
        user=principal.user or "",
        agent=principal.agent or "",
        source=event.call.source if isinstance(event.call.source, str) else UNKNOWN_NAME,
    )


def day_of(at: float) -> str:
    return _day(int(at // 86_400))


@lru_cache(maxsize=64)
def _day(number: int) -> str:
    """A day by its number since 1970."""
    return (date(1970, 1, 1) + timedelta(number)).isoformat()


def day_range(since: float | None, until: float | None) -> tuple[str, str]:
    """The first and the last day that are meant."""
    return "" if since is None else day_of(since), "9999-12-31" if until is None else day_of(until)


class Usage:
    """Counts by cell. Of two usages that counted different events, `merge` makes one that counted all."""

    def __init__(self) -> None:
        self.cells: dict[UsageKey, Counts] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Usage) and self.cells == other.cells

    def __bool__(self) -> bool:
        return bool(self.cells)

    def add(self, event: Event) -> None:
        """Count an event."""
        if amounts := measure(event):
            self.take(usage_key(event), amounts)

    def take(self, cell: UsageKey, amounts: Mapping[str, int]) -> None:
        self.cells.setdefault(cell, Counts()).take(amounts)

    def merge(self, other: Usage) -> None:
        for cell, counts in other.cells.items():
            self.take(cell, counts.amounts)

    def of(self, tenant: str, since: float | None = None, until: float | None = None) -> Usage:
        """What one tenant used, from the day of `since` to the day of `until`."""
        first, last = day_range(since, until)
        usage = Usage()
        usage.cells = {
            cell: Counts(counts.amounts)
            for cell, counts in self.cells.items()
            if cell.tenant == tenant and first <= cell.day <= last
        }
        return usage

    def by(self, *names: UsageDimension) -> CountsByKey:
        """The counts by these of a cell's names, in their order; without any, one for all."""
        check_dimensions(names)
        counts_by_key: CountsByKey = {}
        for cell, counts in self.cells.items():
            key = tuple(getattr(cell, name) for name in names)
            counts_by_key.setdefault(key, Counts()).take(counts.amounts)
        return dict(sorted(counts_by_key.items()))

    def total(self) -> Counts:
        return self.by().get((), Counts())


def check_dimensions(names: Iterable[str]) -> None:
    """Raise for a name that nothing is counted by."""
    dimensions = get_args(UsageDimension)
    for name in names:
        if name not in dimensions:
            raise UsageError(f"Usage is not counted by {name!r}. Give some of: {', '.join(dimensions)}.")


class UsageMeter(Protocol):
    """Counts usage: hears of events and tells what was used."""

    def hear(self, event: Event, /) -> None:
        """A listener for `hr.subscribe`."""
        ...

    async def read(
        self,
        tenant: str,
        *,
        since: float | None = None,
        until: float | None = None,
        by: Sequence[UsageDimension] = (),
    ) -> CountsByKey:
        """What a tenant used, from the day of `since` to the day of `until`."""
        ...

    async def close(self) -> None:
        """Let nothing be lost that was heard."""
        ...


class MemoryUsageMeter:
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
        self,
        tenant: str,
        *,
        since: float | None = None,
        until: float | None = None,
        by: Sequence[UsageDimension] = (),
    ) -> CountsByKey:
        with self._lock:
            return self._usage.of(tenant, since, until).by(*by)

    async def close(self) -> None:
        return


def tool_runs(listener: Callable[[dict[str, Any]], None]) -> Callable[[Event], None]:
    """A listener for `hr.subscribe` that passes on one `tool_run` for each run, when it has ended."""

    def hear(event: Event) -> None:
        if (tool_run := to_tool_run(event)) is not None:
            listener(tool_run)

    return hear


def to_tool_run(event: Event) -> dict[str, Any] | None:
    """The `tool_run` of an event that ends a run: names and numbers, never arguments or results."""
    if not isinstance(event, (ToolCompleted, ToolFailed, ToolCancelled)) or event.run_id is None:
        return None
    counts = Counts(measure(event))
    return {
        "event": "tool_run",
        "run_id": event.run_id,
        "call_id": event.call_id,
        "session": event.session,
        "at": event.at,
        **usage_key(event)._asdict(),
        "status": "needs_review" if counts["unclear"] else event.kind,
        "code": None if event.result.success else code_of(event.result),
        "duration_ms": event.duration_ms,
        "cost": counts.cost,
        **{name: counts[name] for name in TOKENS},
    }
