"""Database: reads in threads, writes through the one writer, each within one tenant."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar
from weakref import WeakSet

from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.exc import OperationalError

from handrail.core.clock import Clock
from handrail.core.errors import StorageError
from handrail.core.ids import new_id
from handrail.store.engines import Dialect, dialect_of, enter_system, enter_tenant, make_engine
from handrail.store.writer import Writer

T = TypeVar("T")

_READERS = 4
_open: WeakSet[Database] = WeakSet()


def _after_fork() -> None:
    for database in list(_open):
        database.after_fork()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def storage_errors() -> Iterator[None]:
    """What goes wrong with the database itself, in words of ours."""
    try:
        yield
    except OperationalError as error:
        said = " ".join(str(error.orig).split())
        raise StorageError(f"The database cannot be used now ({said}), so nothing was changed.") from error


class Database:
    """One database, as one process sees it. There is no connection without a tenant."""

    def __init__(
        self, url: str, clock: Clock | None = None, *, synchronous: str = "NORMAL", patience: float = 30.0
    ) -> None:
        self.dialect: Dialect = dialect_of(url)
        self.url = url
        self.clock = clock or Clock()
        self.holder = new_id("holder")
        """Who this process is to the others."""
        self.engine: Engine = make_engine(url, synchronous)
        self.writer = Writer(self.engine, self.dialect, self.holder, patience)
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="handrail-read")
        _open.add(self)

    def after_fork(self) -> None:
        """In a fork: touch no connection of the process that opened it, and write nothing in its name."""
        self.writer.after_fork()
        self.engine.dispose(close=False)
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="handrail-read")

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
    def transaction(self, tenant: str) -> Iterator[Connection]:
        """A change of one's own, apart from the writer; committed when the block ends well."""
        with self._writing() as conn:
            enter_tenant(conn, tenant)
            yield conn

    def system(self) -> AbstractContextManager[Connection]:
        """A change over all tenants: for those who look after the whole house, such as sweepers."""
        return self._system()

    @contextmanager
    def _system(self) -> Iterator[Connection]:
        with self._writing() as conn:
            enter_system(conn)
            yield conn

    @contextmanager
    def reading_all(self) -> Iterator[Connection]:
        """A connection that sees all tenants and changes nothing: for those who look after the house."""
        with self.engine.connect() as conn, conn.begin():
            enter_system(conn)
            yield conn

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self.engine.connect().execution_options(handrail_write=True) as conn, conn.begin():
            yield conn

    async def read(self, tenant: str, fn: Callable[[Connection], T]) -> T:
        """What the function finds, in a thread."""

        def look() -> T:
            with self.reading(tenant) as conn:
                return fn(conn)

        with storage_errors():
            return await asyncio.get_running_loop().run_in_executor(self._readers, look)

    async def read_all(self, fn: Callable[[Connection], T]) -> T:
        """What the function finds among the rows of all tenants, in a thread; it changes nothing."""

        def look() -> T:
            with self.reading_all() as conn:
                return fn(conn)

        with storage_errors():
            return await asyncio.get_running_loop().run_in_executor(self._readers, look)

    async def write(self, tenant: str, fn: Callable[[Connection], T]) -> T:
        """What the function says, once its changes are committed; raises what it raises.

        It may be called a second time, on a fresh transaction, when the first one came to nothing.
        """
        with storage_errors():
            return await self.writer.run(tenant, fn)

    def post(self, tenant: str, fn: Callable[[Connection], object]) -> None:
        """Have changes committed soon, after all that was posted before. A failure is logged."""
        self.writer.post(tenant, fn)

    async def flushed(self) -> None:
        """Return when all that was posted so far is committed, or was given up."""
        await self.writer.flushed()

    def close(self) -> None:
        """Commit what is posted and give back every connection."""
        self.writer.close()
        self._readers.shutdown(wait=True, cancel_futures=True)
        self.engine.dispose()
