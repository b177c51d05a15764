"""SqliteTaskStore: tasks in a SQLite file, which outlive the process and are shared by several."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from handrail import ToolError
from handrail.toolsets.sqlite_files import use_wal
from handrail.toolsets.tasks.store import OPEN, Status, TaskEntry, TaskList, TaskListKey, TodoItem

T = TypeVar("T")

_VERSION = 1
_LOCK_TIMEOUT = 10.0
"""Seconds to wait for another process that is writing."""
_TABLES = """
create table if not exists tasks (
  tenant text not null, owner text not null, number integer not null,
  subject text not null, description text not null, status text not null,
  depends_on text not null, created text not null, updated text not null,
  primary key (tenant, owner, number)
) without rowid;
create index if not exists tasks_by_status on tasks (tenant, owner, status, number);
create table if not exists todos (
  tenant text not null, owner text not null, number integer not null,
  content text not null, status text not null, priority text not null,
  primary key (tenant, owner, number)
) without rowid;
"""
_COLUMNS = "number, subject, description, status, depends_on, created, updated"


class SqliteTaskList:
    """The tasks of one list, inside a transaction."""

    def __init__(self, connection: sqlite3.Connection, list_key: TaskListKey) -> None:
        self._connection = connection
        self._list_key = list_key

    def _ask(self, query: str, *values: Any) -> list[Any]:
        return self._connection.execute(query, (*self._list_key, *values)).fetchall()

    def _entries(self, ending: str, *values: Any) -> list[TaskEntry]:
        query = f"select {_COLUMNS} from tasks where tenant = ? and owner = ? {ending}"
        return [_entry(row) for row in self._ask(query, *values)]

    def last(self) -> int:
        ((last,),) = self._ask("select max(number) from tasks where tenant = ? and owner = ?")
        return last or 0

    def get(self, number: int) -> TaskEntry | None:
        return next(iter(self._entries("and number = ?", number)), None)

    def put(self, entry: TaskEntry) -> None:
        texts = (entry.subject, entry.description, entry.status, json.dumps(entry.depends_on))
        self._connection.execute(
            f"insert or replace into tasks (tenant, owner, {_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*self._list_key, entry.number, *texts, entry.created, entry.updated),
        )

    def page(self, statuses: Collection[Status], after: int, limit: int) -> list[TaskEntry]:
        among = "and status in (select value from json_each(?)) and number > ? order by number limit ?"
        return self._entries(among, json.dumps(list(statuses)), after, limit)

    def newest(self, limit: int) -> list[TaskEntry]:
        return self._entries("order by number desc limit ?", limit)

    def counts(self, after: int = 0) -> dict[str, int]:
        query = (
            "select status, count(*) from tasks where tenant = ? and owner = ? and number > ? group by status"
        )
        return dict(self._ask(query, after))

    def still_open(self, numbers: Collection[int]) -> set[int]:
        query = (
            "select number from tasks where tenant = ? and owner = ? "
            "and number in (select value from json_each(?)) and status in (?, ?)"
        )
        return {number for (number,) in self._ask(query, json.dumps(sorted(numbers)), *OPEN)}

    def items(self) -> list[TodoItem]:
        query = "select content, status, priority from todos where tenant = ? and owner = ? order by number"
        return [TodoItem(*row) for row in self._ask(query)]

    def put_items(self, items: Sequence[TodoItem]) -> None:
        self._ask("delete from todos where tenant = ? and owner = ?")
        self._connection.executemany(
            "insert into todos values (?, ?, ?, ?, ?, ?)",
            [(*self._list_key, at, it.content, it.status, it.priority) for at, it in enumerate(items)],
        )


class SqliteTaskStore:
    """Tasks in `tasks.db` of a folder, which may be asked for when it is needed first.

    A thread of its own does the work, so that the loop never waits.
    """

    def __init__(self, folder: Path | Callable[[], Path]) -> None:
        self._folder = folder
        self._thread: _SqliteThread | None = None

    async def within(self, list_key: TaskListKey, work: Callable[[TaskList], T]) -> T:
        if self._thread is None:
            self._thread = _SqliteThread(self._folder)
        return await self._thread.do(list_key, work)

    async def close(self) -> None:
        """Let go of the file, once what was begun is done; what comes afterwards opens it again."""
        thread, self._thread = self._thread, None
        if thread is not None:
            await thread.leave()


class _SqliteThread:
    """A thread with a connection that no other thread touches, until it leaves."""

    def __init__(self, folder: Path | Callable[[], Path]) -> None:
        self._folder = folder
        self._thread = ThreadPoolExecutor(1, "handrail-tasks")  # takes calls in the order in which they come
        self._connection: sqlite3.Connection | None = None

    async def do(self, list_key: TaskListKey, work: Callable[[TaskList], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._do, list_key, work)

    async def leave(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._let_go)
        self._thread.shutdown(wait=False)

    def _do(self, list_key: TaskListKey, work: Callable[[TaskList], T]) -> T:
        try:
            connection = self._connection or self._open()
            self._connection = connection
            with connection:  # ends the transaction
                connection.execute("begin immediate")
                return work(SqliteTaskList(connection, list_key))
        except (sqlite3.Error, OSError) as error:
            self._let_go()
            raise ToolError(
                f"The tasks cannot be read or written just now: {_error_text(error)}. Nothing was changed. "
                "Try again; if it stays so, go on without them and say so.",
                code="TASKS_UNAVAILABLE",
            ) from error

    def _open(self) -> sqlite3.Connection:
        folder = self._folder if isinstance(self._folder, Path) else self._folder()
        folder.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(folder / "tasks.db", timeout=_LOCK_TIMEOUT, isolation_level=None)
        try:
            use_wal(connection, _LOCK_TIMEOUT)
            connection.execute("pragma synchronous = normal")
            ((version,),) = connection.execute("pragma user_version").fetchall()
            if version > _VERSION:
                raise sqlite3.DatabaseError("a newer Handrail wrote them")
            if version < _VERSION:
                connection.executescript(
                    f"begin immediate; {_TABLES} pragma user_version = {_VERSION}; commit;"
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()


def _entry(row: tuple[Any, ...]) -> TaskEntry:
    number, subject, description, status, depends_on, created, updated = row
    before = tuple(json.loads(depends_on))
    return TaskEntry(number, subject, description, status, before, (), created, updated)


def _error_text(error: Exception) -> str:
    """What is wrong, without where the file lies."""
    return (
        str(error) if isinstance(error, sqlite3.Error) else (getattr(error, "strerror", None) or "no access")
    )
