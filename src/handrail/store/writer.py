"""Writer: one thread that commits the changes of this process, in order, as many at a time as there are."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError, OperationalError

from handrail.core.errors import UsageError
from handrail.store.engines import Dialect, enter_tenant, write_lock_of
from handrail.store.tables.operations import writers

_log = logging.getLogger("handrail.store")

T = TypeVar("T")
Settlement = tuple[asyncio.Future[Any], Any, BaseException | None]
"""A future, and the value or the error that it gets."""

_MOST = 2_000
"""Entries of one group."""
_ENOUGH = 200
"""So many entries do not wait for the next iteration of the loop."""
_PAUSE = 0.1
_FROZEN_MILLISECONDS = 30_000
"""After so long the server gives up on a process that was stopped in the midst of a change."""
_TRANSIENT = (
    "database is locked",
    "connection refused",
    "connection failed",
    "connection is bad",
    "connection to server",
    "the database system is",
)


@dataclass(slots=True, eq=False)
class WriteOperation:
    """A change that somebody posted, or waits for."""

    tenant: str
    fn: Callable[[Connection], Any]
    future: asyncio.Future[Any] | None = None
    value: Any = None
    error: BaseException | None = None

    def run(self, conn: Connection) -> None:
        enter_tenant(conn, self.tenant)
        self.value = self.fn(conn)


@dataclass(slots=True, eq=False)
class _Group:
    number: int
    appended: list[Any] = field(default_factory=list)
    operations: list[WriteOperation] = field(default_factory=list)
    barriers: list[WriteOperation] = field(default_factory=list)


class Writer:
    """What is queued is run in one transaction; when that fails, each part in one of its own.

    Appended entries (events) are handed as a whole to `append_all`, before the operations of their group.
    """

    def __init__(self, engine: Engine, dialect: Dialect, holder: str, patience: float) -> None:
        self.append_all: Callable[[Connection, list[Any]], None] = _no_event_log
        """(connection, entries): writes entries of any tenants; may be called again with the same ones."""
        self.after: Callable[[list[Any]], None] = lambda entries: None
        """Called with the entries that are committed."""
        self.gave_up: Callable[[list[Any], BaseException], None] = lambda entries, error: None
        """Called with the entries that could not be written, and the reason."""
        self._engine = engine
        self._dialect = dialect
        self._holder = holder
        self._patience = patience
        self._gate = write_lock_of(engine) if dialect == "sqlite" else nullcontext()
        self._queue: deque[Any] = deque()
        self._wake = threading.Event()
        self._waking_loop: asyncio.AbstractEventLoop | None = None
        """The loop that wakes the thread in its next iteration."""
        self._closed = self._forked = False
        self._count = 0
        self._conn: Connection | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def append(self, entry: Any) -> None:
        """Queue an entry; quick. It is written with all that this iteration of the loop appends."""
        self._put(entry)
        if len(self._queue) >= _ENOUGH:
            self._wake.set()
        else:
            self._wake_soon()

    def wake(self) -> None:
        """Write what is queued now, for somebody who blocks the loop until then."""
        self._wake.set()

    def _wake_soon(self) -> None:
        """Wake the thread in the next iteration of the loop; at once where no loop runs."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._wake.set()
            return
        if self._waking_loop is not loop:
            self._waking_loop = loop
            loop.call_soon(self._wake_from_loop)

    def _wake_from_loop(self) -> None:
        self._waking_loop = None
        self._wake.set()

    def post(self, tenant: str, fn: Callable[[Connection], object]) -> None:
        """Queue a change that nobody waits for."""
        self._put(WriteOperation(tenant, fn))
        self._wake.set()

    async def run(self, tenant: str, fn: Callable[[Connection], T]) -> T:
        """Queue a change and wait for its commit. Whoever stops waiting does not stop the change."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._put(WriteOperation(tenant, fn, future))
        self._wake.set()
        return await future

    async def flushed(self) -> None:
        """Return when all that was queued before is committed or given up."""
        if self._thread is not None:
            await self.run("", _barrier)

    def close(self) -> None:
        """Commit what is queued, then end the thread."""
        with self._starting:
            self._closed = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()

    def after_fork(self) -> None:
        """Write nothing more: this is a fork of the process that writes, and its thread is not here."""
        self._closed, self._forked, self._thread, self._conn = True, True, None, None
        self._starting = threading.Lock()
        self._queue.clear()

    def _put(self, entry: Any) -> None:
        if self._forked:
            raise UsageError(
                "This process was forked from the one that opened the database. Open a Handrail of its own."
            )
        if self._closed:
            raise UsageError("The database is closed.")
        self._queue.append(entry)
        if self._thread is None:
            self._start()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="handrail-writer", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while True:
            group = self._next_group()
            if group is None:
                break
            try:
                self._commit(group)
            except BaseException as error:  # the thread must go on; whoever waits must get the error
                _log.exception("a group of changes was lost")
                self._fail(group, error)
            self._settle(group)
        self._disconnect()

    def _next_group(self) -> _Group | None:
        queue = self._queue
        while not self._closed:
            self._wake.wait()
            self._wake.clear()
            if queue:
                break
        if not queue:
            return None
        self._count += 1
        group = _Group(self._count)
        for _ in range(min(len(queue), _MOST)):
            entry = queue.popleft()
            if not isinstance(entry, WriteOperation):
                group.appended.append(entry)
            elif entry.fn is _barrier:
                group.barriers.append(entry)
            else:
                group.operations.append(entry)
        if queue:
            self._wake.set()
        return group

    def _commit(self, group: _Group) -> None:
        if not group.appended and not group.operations:
            return
        try:
            self._in_transaction(group.number, group.appended, group.operations)
        except Exception as error:
            if is_transient(error) or len(group.appended) + len(group.operations) == 1:
                self._fail(group, error)  # what is away is so for each of them
            else:
                self._one_by_one(group)
            return
        if group.appended:
            self.after(group.appended)

    def _one_by_one(self, group: _Group) -> None:
        """One of the changes cannot be made: the others are made without it."""
        if group.appended:
            self._append_apart(group.appended)
        for operation in group.operations:
            self._count += 1
            try:
                self._in_transaction(self._count, [], [operation])
            except Exception as error:
                operation.error = error

    def _append_apart(self, entries: list[Any]) -> None:
        self._count += 1
        try:
            self._in_transaction(self._count, entries, [])
        except Exception as error:
            if is_transient(error) or len(entries) == 1:
                self.gave_up(entries, error)
            else:
                for half in (entries[: len(entries) // 2], entries[len(entries) // 2 :]):
                    self._append_apart(half)
        else:
            self.after(entries)

    def _in_transaction(self, number: int, entries: list[Any], operations: Sequence[WriteOperation]) -> None:
        """Run and commit; patiently, while the database is away for a moment."""
        deadline, is_retry = time.monotonic() + self._patience, False
        while True:
            try:
                conn = self._connected()
                with self._gate, conn.begin():
                    if self._dialect == "postgresql" and not self._record_group(conn, number):
                        return  # committed by the attempt before, whose answer was lost
                    if entries:
                        self.append_all(conn, entries)
                    for operation in operations:
                        operation.run(conn)
                return
            except Exception as error:
                self._disconnect()
                if not is_transient(error) or time.monotonic() > deadline or (self._closed and is_retry):
                    raise
                _log.warning("the database is away, trying again: %s", error)
                is_retry = True
                time.sleep(_PAUSE)  # in a thread of its own, which has nothing else to do meanwhile

    def _record_group(self, conn: Connection, number: int) -> bool:
        """Record, before all else, which group this is; False when it is recorded already.

        An attempt that the server still works on is waited for, since it holds the same row.
        """
        row = {"holder": self._holder, "last_group": number}
        recorded = (
            postgresql_insert(writers)
            .values(row)
            .on_conflict_do_update(index_elements=["holder"], set_=row, where=writers.c.last_group < number)
        )
        return conn.execute(recorded.returning(writers.c.last_group)).first() is not None

    def _connected(self) -> Connection:
        if self._conn is None:
            conn = self._engine.connect().execution_options(handrail_write=True)
            if self._dialect == "postgresql":
                conn.detach()  # it never returns to the pool
                conn.exec_driver_sql(f"SET idle_in_transaction_session_timeout = {_FROZEN_MILLISECONDS}")
                conn.commit()
            self._conn = conn
        return self._conn

    def _disconnect(self) -> None:
        conn, self._conn = self._conn, None
        if conn is None:
            return
        try:
            conn.close()
        except Exception:
            _log.debug("the connection was lost", exc_info=True)

    def _fail(self, group: _Group, error: BaseException) -> None:
        if group.appended:
            self.gave_up(group.appended, error)
        for operation in group.operations:
            operation.error = operation.error or error

    def _settle(self, group: _Group) -> None:
        settlements: list[Settlement] = []
        for operation in (*group.operations, *group.barriers):
            if operation.future is not None:
                settlements.append((operation.future, operation.value, operation.error))
            elif operation.error is not None:
                _log.error("a change for %s was lost", operation.tenant, exc_info=operation.error)
        settle_futures(settlements)


def settle_futures(settlements: Iterable[Settlement]) -> None:
    """Give futures their value or error, from another thread; each loop is woken once."""
    loops: dict[asyncio.AbstractEventLoop, list[Settlement]] = {}
    for settlement in settlements:
        loops.setdefault(settlement[0].get_loop(), []).append(settlement)
    for loop, of_loop in loops.items():
        try:
            loop.call_soon_threadsafe(_settle_in_loop, of_loop)
        except RuntimeError:  # the loop is closed: nobody waits any more
            _log.debug("nobody waited for %d changes", len(of_loop))


def _settle_in_loop(settlements: list[Settlement]) -> None:
    for future, value, error in settlements:
        if future.done():
            continue
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)


def _barrier(conn: Connection) -> None:
    """Marks in the queue that everything before it is committed."""


def _no_event_log(conn: Connection, entries: list[Any]) -> None:
    raise UsageError("This database has no event log.")


def is_transient(error: Exception) -> bool:
    """Whether the same may succeed in a moment: the server restarts, or two got in each other's way."""
    if not isinstance(error, DBAPIError):
        return False
    if error.connection_invalidated:
        return True
    state = getattr(error.orig, "sqlstate", None)
    if state is not None:
        return state in ("40001", "40P01") or state.startswith(("08", "57P"))
    message = str(error.orig)
    return isinstance(error, OperationalError) and any(part in message for part in _TRANSIENT)
