"""Usage in a database: counted in the process, added up there every moment."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, case, func, select

from handrail.core.tell.counts import LONGEST_US, Counts
from handrail.core.tell.events import Event
from handrail.core.tell.usage import CountsByKey, Usage, UsageDimension, check_dimensions, day_range
from handrail.store.codec import fit_column
from handrail.store.statements import dialect_insert
from handrail.store.tables.operations import usage as table

if TYPE_CHECKING:
    from handrail.store.database import Database

COLLECT_SECONDS = 0.5
"""Seconds for which a process collects before it adds to the database."""
_COUNTED = frozenset(
    {"completed", "failed", "cancelled", "needs_approval", "approved", "settled", "retrying"}
)
_COLUMNS = {
    "tool": table.c.tool,
    "user": table.c.user_id,
    "agent": table.c.agent,
    "tenant": table.c.tenant_id,
    "source": table.c.source,
    "day": table.c.day,
}


def add_usage(conn: Connection, tenant: str, usage: Usage) -> None:
    """Add what was counted of one tenant; the same order everywhere, so that no two wait for each other."""
    rows: list[dict[str, Any]] = [
        {
            "tenant_id": tenant,
            "day": cell.day,
            "tool": cell.tool,
            "user_id": fit_column(cell.user),
            "agent": fit_column(cell.agent),
            "source": cell.source,
            "measure": measure,
            "amount": amount,
        }
        for cell, counts in sorted(usage.cells.items())
        if cell.tenant == tenant
        for measure, amount in sorted(counts.amounts.items())
    ]
    if not rows:
        return
    statement = dialect_insert(conn, table)
    added = statement.excluded.amount
    greater = case((added > table.c.amount, added), else_=table.c.amount)
    amount = case((table.c.measure == LONGEST_US, greater), else_=table.c.amount + added)
    keys = list(table.primary_key.columns)
    conn.execute(statement.on_conflict_do_update(index_elements=keys, set_={"amount": amount}), rows)


def read_usage(
    conn: Connection,
    tenant: str,
    *,
    since: float | None = None,
    until: float | None = None,
    by: Sequence[UsageDimension] = (),
) -> CountsByKey:
    """What a tenant used, from the day of `since` to the day of `until`, added up by the database."""
    check_dimensions(by)
    first, last = day_range(since, until)
    columns = [_COLUMNS[name] for name in by]
    rows = conn.execute(
        select(
            *columns,
            table.c.measure,
            case((table.c.measure == LONGEST_US, func.max(table.c.amount)), else_=func.sum(table.c.amount)),
        )
        .where(table.c.tenant_id == tenant, table.c.day >= first, table.c.day <= last)
        .group_by(*columns, table.c.measure)
    )
    counts: CountsByKey = {}
    for *names, measure, amount in rows:
        counts.setdefault(tuple(names), Counts()).take({measure: int(amount)})
    return dict(sorted(counts.items()))


class StoreUsageMeter:
    """The usage meter of a process with a database. Calls only queue events here; a thread counts them."""

    def __init__(self, database: Database, seconds: float = COLLECT_SECONDS) -> None:
        self._database = database
        self._seconds = seconds
        self._events: deque[Event] = deque()
        self._has_events = threading.Event()
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def hear(self, event: Event, /) -> None:
        if event.kind not in _COUNTED:
            return
        self._events.append(event)
        if not self._has_events.is_set():
            self._has_events.set()
            if self._thread is None:
                self._start()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(target=self._collect, name="handrail-usage", daemon=True)
                self._thread.start()

    def _collect(self) -> None:
        while not self._closed.is_set():
            self._has_events.wait()
            self._closed.wait(self._seconds)
            self.post()

    def post(self) -> None:
        """Hand what was counted so far to the writer of the database."""
        self._has_events.clear()
        usages: dict[str, Usage] = {}
        while True:
            try:
                event = self._events.popleft()
            except IndexError:
                break
            usages.setdefault(event.tenant, Usage()).add(event)
        for tenant, usage in usages.items():
            self._database.post(tenant, partial(add_usage, tenant=tenant, usage=usage))

    async def read(
        self,
        tenant: str,
        *,
        since: float | None = None,
        until: float | None = None,
        by: Sequence[UsageDimension] = (),
    ) -> CountsByKey:
        self.post()
        await self._database.flushed()
        return await self._database.read(tenant, read_usage, tenant, since=since, until=until, by=by)

    async def close(self) -> None:
        with self._lock:
            self._closed.set()
            thread = self._thread
        self._has_events.set()
        if thread is not None:  # it may have counted something that it has not handed over yet
            await asyncio.to_thread(thread.join)
        self.post()
        await self._database.flushed()
