"""Database: reads in threads, writes through the one writer, each within one tenant."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakSet

from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.exc import OperationalError

from handrail.core.clock import Clock
from handrail.core.errors import StorageError
from handrail.core.ids import new_id
from handrail.store.engines import Dialect, dialect_of, enter_system, enter_tenant, make_engine
from handrail.store.writer import Writer

T = TypeVar("T")
P = ParamSpec("P")

_READERS = 4
_open: WeakSet[Database] = WeakSet()


def _after_fork() -> None:
    for database in list(_open):
        database.after_fork()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def storage_errors() -> Iterator[None]:
    """Raise `StorageError` for what goes wrong with the database itself."""
    try:
        yield
    except OperationalError as error:
        reason = " ".join(str(error.orig).split())
        raise StorageError(f"The database cannot be used now ({reason}), so nothing was changed.") from error


class Database:
    """One database, as one process sees it. There is no connection without a tenant.

    What reads or changes rows is a function of a connection; it is handed over together with its arguments,
    as to `asyncio.to_thread`: `await db.read(tenant, get_key, tenant, key_id)`.
    """

    def __init__(
        self, url: str, clock: Clock | None = None, *, synchronous: str = "NORMAL", patience: float = 30.0
    ) -> None:
        self.dialect: Dialect = dialect_of(url)
        self.url = url
        self.clock = clock or Clock()
        self.holder = new_id("holder")
        """The id of this process among those that have the database open."""
        self.engine: Engine = make_engine(url, synchronous)
        self.writer = Writer(self.engine, self.dialect, self.holder, patience)
        self._readers = _reader_threads()
        _open.add(self)

    def after_fork(self) -> None:
        """In a fork: touch no connection of the process that opened it, and write nothing in its name."""
        self.writer.after_fork()
        self.engine.dispose(close=False)
        self._readers = _reader_threads()

    @property
    def name(self) -> str:
        """The address without its password, for messages."""
        return make_url(self.url).render_as_string(hide_password=True)

    @contextmanager
    def reading(self, tenant: str) -> Iterator[Connection]:
        """A connection that sees one tenant."""
        with self.engine.connect() as conn, conn.begin():
            enter_tenant(conn, tenant)
            yield conn

    @contextmanager
    def reading_all(self) -> Iterator[Connection]:
        """A connection that sees all tenants and changes nothing, for the system itself."""
        with self.engine.connect() as conn, conn.begin():
            enter_system(conn)
            yield conn

    @contextmanager
    def transaction(self, tenant: str) -> Iterator[Connection]:
        """A transaction apart from the writer; committed when the block ends without an error."""
        with self._writing() as conn:
            enter_tenant(conn, tenant)
            yield conn

    @contextmanager
    def system(self) -> Iterator[Connection]:
        """A transaction over all tenants, for the system itself, such as sweepers."""
        with self._writing() as conn:
            enter_system(conn)
            yield conn

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self.engine.connect().execution_options(handrail_write=True) as conn, conn.begin():
            yield conn

    async def read(
        self, tenant: str, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What the function returns for the rows of one tenant, in a thread."""
        return await _in_thread(self._readers, self.reading(tenant), lambda conn: fn(conn, *args, **kwargs))

    async def read_all(
        self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What the function returns for the rows of all tenants, in a thread; it changes nothing."""
        return await _in_thread(self._readers, self.reading_all(), lambda conn: fn(conn, *args, **kwargs))

    async def write_all(
        self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What the function returns, once its changes to rows of any tenant are committed.

        Not in a thread of the readers: whoever waits for the lock of a SQLite file must not hold them up.
        """
        return await _in_thread(None, self.system(), lambda conn: fn(conn, *args, **kwargs))

    async def write(
        self, tenant: str, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What the function returns, once its changes are committed; raises what it raises.

        It may be called a second time, on a fresh transaction, when the first one came to nothing.
        """
        with storage_errors():
            return await self.writer.run(tenant, lambda conn: fn(conn, *args, **kwargs))

    def post(
        self,
        tenant: str,
        fn: Callable[Concatenate[Connection, P], object],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> None:
        """Have changes committed soon, after all that was posted before. A failure is logged."""
        self.writer.post(tenant, lambda conn: fn(conn, *args, **kwargs))

    async def flushed(self) -> None:
        """Return when all that was posted so far is committed, or was given up."""
        await self.writer.flushed()

    def close(self) -> None:
        """Commit what is posted and give back every connection."""
        self.writer.close()
        self._readers.shutdown(wait=True, cancel_futures=True)
        self.engine.dispose()


def _reader_threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_READERS, thread_name_prefix="handrail-read")


async def _in_thread(
    threads: ThreadPoolExecutor | None,
    scope: AbstractContextManager[Connection],
    fn: Callable[[Connection], T],
) -> T:
    def run() -> T:
        with scope as conn:
            return fn(conn)

    with storage_errors():
        return await asyncio.get_running_loop().run_in_executor(threads, run)
