"""The one blocking façade: the same Handrail for code that does not await.

Its methods are derived from those of the async classes and keep their signatures.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import re
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, overload

from handrail.core.define.context import Context, current
from handrail.core.errors import UsageError
from handrail.core.run.approvals.inbox import Approvals
from handrail.core.run.invoke import holds_thread
from handrail.core.run.jobs.schedules import Scheduler
from handrail.engine.admin import JobAdmin, SecretAdmin
from handrail.engine.dead_letters import DeadLetterAdmin
from handrail.engine.handrail import Handrail as AsyncHandrail

P = ParamSpec("P")
T = TypeVar("T")
_Method = Callable[Concatenate[Any, P], T]


@overload
def blocking(method: _Method[P, Coroutine[Any, Any, T]]) -> _Method[P, T]: ...
@overload
def blocking(method: _Method[P, AsyncGenerator[T, None]]) -> _Method[P, Iterator[T]]: ...
def blocking(method: Callable[..., Any]) -> Callable[..., Any]:
    """The same method, which waits for its result; events come one by one, and leaving the loop ends it."""

    def wait_for(self: Any, /, *args: Any, **options: Any) -> Any:
        result = getattr(self._inner, method.__name__)(*args, **options)
        return self._hr.block_on(result) if inspect.iscoroutine(result) else self._hr._each(result)

    functools.update_wrapper(wait_for, method)
    signature = inspect.signature(method)
    returns = re.sub(r"^Coroutine\[Any, Any, (.*)\]$", r"\1", signature.return_annotation)
    returns = re.sub(r"^AsyncGenerator\[(.*), None\]$", r"Iterator[\1]", returns)
    wait_for.__signature__ = signature.replace(return_annotation=returns)  # type: ignore[attr-defined]
    return wait_for


def _same_parameters(init: _Method[P, None]) -> Callable[[Callable[..., None]], _Method[P, None]]:
    """Let a constructor take what the async one takes."""
    return functools.wraps(init)


class _SyncPart:
    """A part of a Handrail, for code that does not await."""

    def __init__(self, hr: SyncHandrail, inner: object) -> None:
        self._hr = hr
        self._inner = inner


class SyncApprovals(_SyncPart):
    """The open approvals, listed and answered."""

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


class SyncSchedules(_SyncPart):
    """The schedules, which take a database."""

    put = blocking(Scheduler.put)
    list = blocking(Scheduler.list)
    remove = blocking(Scheduler.remove)


class SyncHandrail:
    """Handrail for blocking code. Its calls run on one loop in a thread of their own; any thread may call."""

    call = blocking(AsyncHandrail.call)
    run = blocking(AsyncHandrail.run)
    call_many = blocking(AsyncHandrail.call_many)
    batches = blocking(AsyncHandrail.batches)
    stream = blocking(AsyncHandrail.stream)
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
    events = blocking(AsyncHandrail.events)
    runs = blocking(AsyncHandrail.runs)
    usage = blocking(AsyncHandrail.usage)

    @_same_parameters(AsyncHandrail.__init__)
    def __init__(self, *args: Any, **options: Any) -> None:
        self._hr = self
        self._inner = self.inner = inner = AsyncHandrail(*args, **options)
        self.registry, self.policy, self.log = inner.registry, inner.policy, inner.log
        self.toolsets, self.services = inner.toolsets, inner.services
        self.dedup, self.last_result = inner.dedup, inner.last_result
        self.subscribe, self.subscribe_registry = inner.subscribe, inner.subscribe_registry
        self.approvals = SyncApprovals(self, inner.approvals)
        self.dead_letters = SyncDeadLetters(self, inner.dead_letters)
        self.secrets = SyncSecrets(self, inner.secrets)
        self.jobs = SyncJobs(self, inner.jobs)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="handrail-sync", daemon=True)
        self._lock = threading.Lock()
        self._closed = False
        self._thread.start()

    @property
    def schedules(self) -> SyncSchedules:
        return SyncSchedules(self, self.inner.schedules)

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

    def begin(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """The same without waiting: a future, which an event loop of your own can wait for."""
        with self._lock:
            if self._closed:
                coroutine.close()
                raise UsageError("This Handrail is closed. Make a new one.")
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def _each(self, items: AsyncGenerator[T, None]) -> Iterator[T]:
        try:
            while (item := self.block_on(_next(items))) is not None:
                yield item
        finally:
            if not self._closed:
                self.block_on(items.aclose())

    def open(self) -> Self:
        """Take up what an earlier process left in the database, and run what is queued there."""
        self.block_on(self.inner.open())
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
        """Finish what was resumed, then stop streams, calls and tasks that bodies did not wait for."""
        await self.inner.close()
        await self._loop.shutdown_asyncgens()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    __enter__ = open

    def __exit__(self, *_: object) -> None:
        self.close()


Handrail = SyncHandrail


async def _next(items: AsyncGenerator[T, None]) -> T | None:
    return await anext(items, None)


async def _for_a_body(coroutine: Coroutine[Any, Any, T]) -> T:
    """A body that waits here holds a thread: what it calls must not wait for one of the same threads."""
    holds_thread.set(True)
    return await coroutine
