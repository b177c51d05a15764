"""The one blocking façade: the same Handrail for code that does not await.

Its methods are made from those of the async one, and keep their signatures.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from typing import Any, Concatenate, ParamSpec, Protocol, Self, TypeVar

from handrail.core.define.context import Context, current
from handrail.core.errors import UsageError
from handrail.core.find.registry import Registry
from handrail.core.find.toolsets import Toolset
from handrail.core.guard.policy import Policy
from handrail.core.run.approvals.inbox import Approvals
from handrail.core.run.invoke import holds_thread
from handrail.core.run.jobs.schedules import Scheduler
from handrail.core.tell.events import Event
from handrail.core.tell.log import EventLog
from handrail.engine.admin import JobAdmin, SecretAdmin
from handrail.engine.dead_letters import DeadLetterAdmin
from handrail.engine.handrail import Handrail as AsyncHandrail

P = ParamSpec("P")
T = TypeVar("T")


class _HasInner(Protocol):
    """What stands for an async object."""

    @property
    def _inner(self) -> Any: ...
    def _block_on(self, coroutine: Coroutine[Any, Any, T]) -> T: ...


def blocking(
    method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Any, P], T]:
    """The same method, which waits for what it returns."""

    @functools.wraps(method)
    def waiting(self: _HasInner, /, *args: P.args, **options: P.kwargs) -> T:
        coroutine: Coroutine[Any, Any, T] = getattr(self._inner, method.__name__)(*args, **options)
        return self._block_on(coroutine)

    return waiting


def streaming(
    method: Callable[Concatenate[Any, P], AsyncGenerator[Event, None]],
) -> Callable[Concatenate[Any, P], Iterator[Event]]:
    """The same method, whose events come one by one; leaving the loop ends it."""

    @functools.wraps(method)
    def iterating(self: SyncHandrail, /, *args: P.args, **options: P.kwargs) -> Iterator[Event]:
        return self._each(getattr(self._inner, method.__name__)(*args, **options))

    return iterating


def direct(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """The same method, which does not wait for anything."""

    @functools.wraps(method)
    def passing(self: _HasInner, /, *args: P.args, **options: P.kwargs) -> T:
        result: T = getattr(self._inner, method.__name__)(*args, **options)
        return result

    return passing


class SyncHandrail:
    """Handrail for blocking code. Its calls run on one loop in a thread of their own; any thread may call."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._inner = AsyncHandrail(*args, **options)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="handrail-sync", daemon=True)
        self._lock = threading.Lock()
        self._closed = False
        self.approvals = SyncApprovals(self, self._inner.approvals)
        self.dead_letters = SyncDeadLetters(self, self._inner.dead_letters)
        self.secrets = SyncSecrets(self, self._inner.secrets)
        self.jobs = SyncJobs(self, self._inner.jobs)
        self.schedules = SyncSchedules(self)
        self._thread.start()

    @property
    def inner(self) -> AsyncHandrail:
        """The async Handrail behind this one."""
        return self._inner

    @property
    def services(self) -> object:
        return self._inner.services

    @property
    def registry(self) -> Registry:
        return self._inner.registry

    @property
    def policy(self) -> Policy:
        return self._inner.policy

    @property
    def log(self) -> EventLog:
        return self._inner.log

    @property
    def toolsets(self) -> tuple[Toolset, ...]:
        return self._inner.toolsets

    call = blocking(AsyncHandrail.call)
    run = blocking(AsyncHandrail.run)
    call_many = blocking(AsyncHandrail.call_many)
    batches = blocking(AsyncHandrail.batches)
    dedup = direct(AsyncHandrail.dedup)
    stream = streaming(AsyncHandrail.stream)
    explain = blocking(AsyncHandrail.explain)
    export = blocking(AsyncHandrail.export)
    submit = blocking(AsyncHandrail.submit)
    submit_all = blocking(AsyncHandrail.submit_all)
    cancel = blocking(AsyncHandrail.cancel)
    wait = blocking(AsyncHandrail.wait)
    undo = blocking(AsyncHandrail.undo)
    planned = blocking(AsyncHandrail.planned)
    run_plan = blocking(AsyncHandrail.run_plan)
    discard_plan = blocking(AsyncHandrail.discard_plan)
    tools = blocking(AsyncHandrail.tools)
    search = blocking(AsyncHandrail.search)
    describe = blocking(AsyncHandrail.describe)
    menu = blocking(AsyncHandrail.menu)
    read_result = blocking(AsyncHandrail.read_result)
    last_result = direct(AsyncHandrail.last_result)
    events = streaming(AsyncHandrail.events)
    runs = blocking(AsyncHandrail.runs)
    usage = blocking(AsyncHandrail.usage)
    subscribe = direct(AsyncHandrail.subscribe)
    subscribe_registry = direct(AsyncHandrail.subscribe_registry)

    def block_on(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The result of anything async, awaited on the loop that the calls run on."""
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise UsageError("A tool body runs on this Handrail's own loop; use `await ctx.call(...)` there.")
        if isinstance(current(), Context):
            coroutine = _for_a_body(coroutine)
        future = self.begin(coroutine)
        try:
            return future.result()
        except CancelledError:
            if not self._closed:
                raise
            raise UsageError("This Handrail was closed while the call was on its way.") from None
        except BaseException:
            future.cancel()
            raise

    _block_on = block_on

    def begin(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """The same without waiting: a future, which an event loop of your own can wait for."""
        with self._lock:
            if self._closed:
                coroutine.close()
                raise UsageError("This Handrail is closed. Make a new one.")
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def _each(self, events: AsyncGenerator[Event, None]) -> Iterator[Event]:
        try:
            while (event := self.block_on(_next(events))) is not None:
                yield event
        finally:
            if not self._closed:
                self.block_on(events.aclose())

    def open(self) -> Self:
        """Take up what an earlier process left in the database, and run what is queued there."""
        self.block_on(self._inner.open())
        return self

    def close(self) -> None:
        """End the loop and its thread; calls that other threads still wait for are cancelled.

        Closing twice is fine.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        """Finish what was resumed, then stop streams, calls and whatever bodies left behind."""
        await self._inner.close()
        await self._loop.shutdown_asyncgens()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()


Handrail = SyncHandrail


class _SyncPart:
    """A part of a Handrail, for code that does not await."""

    def __init__(self, hr: SyncHandrail, inner: Any) -> None:
        self._block_on = hr.block_on
        self._inner = inner


class SyncApprovals(_SyncPart):
    """The inbox."""

    list = blocking(Approvals.list)
    decided = blocking(Approvals.decided)
    get = blocking(Approvals.get)
    approve = blocking(Approvals.approve)
    reject = blocking(Approvals.reject)
    respond = blocking(Approvals.respond)


class SyncDeadLetters(_SyncPart):
    """The dead letters."""

    list = blocking(DeadLetterAdmin.list)
    page = blocking(DeadLetterAdmin.page)
    get = blocking(DeadLetterAdmin.get)
    replay = blocking(DeadLetterAdmin.replay)
    replay_session = blocking(DeadLetterAdmin.replay_session)
    purge = blocking(DeadLetterAdmin.purge)


class SyncSecrets(_SyncPart):
    """The secrets."""

    set = blocking(SecretAdmin.set)
    list = blocking(SecretAdmin.list)
    delete = blocking(SecretAdmin.delete)


class SyncJobs(_SyncPart):
    """The jobs."""

    list = blocking(JobAdmin.list)
    get = blocking(JobAdmin.get)
    caller = blocking(JobAdmin.caller)
    unblock = blocking(JobAdmin.unblock)


class SyncSchedules:
    """The schedules, which take a database."""

    def __init__(self, hr: SyncHandrail) -> None:
        self._hr = hr
        self._block_on = hr.block_on

    @property
    def _inner(self) -> Scheduler:
        return self._hr.inner.schedules

    put = blocking(Scheduler.put)
    list = blocking(Scheduler.list)
    remove = blocking(Scheduler.remove)


async def _next(events: AsyncGenerator[Event, None]) -> Event | None:
    return await anext(events, None)


async def _for_a_body(coroutine: Coroutine[Any, Any, T]) -> T:
    """A body that waits here holds a thread: what it calls must not wait for one of the same threads."""
    holds_thread.set(True)
    return await coroutine
