"""The one blocking façade: the same Handrail for code that does not await."""

from __future__ import annotations

import asyncio
import builtins
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from typing import Any, Self, TypeVar

from handrail.core.define.call import Call, Outcome
from handrail.core.define.context import Context, current
from handrail.core.define.decision import Decision
from handrail.core.define.found import Described, Found
from handrail.core.define.principal import Principal
from handrail.core.define.result import Result
from handrail.core.define.tool import Tool
from handrail.core.define.toolset import Toolset
from handrail.core.errors import UsageError
from handrail.core.find.registry import Registry
from handrail.core.guard.approval import ApprovalRequest
from handrail.core.guard.dedup import Dedup, Failures, Scope
from handrail.core.guard.plan import Planned
from handrail.core.guard.policy import Policy
from handrail.core.run.export import Format
from handrail.core.run.graph import Task
from handrail.core.run.grouping import Group
from handrail.core.run.invoke import holds_thread
from handrail.core.run.jobs import JobEntry, JobState
from handrail.core.run.scheduling import Schedule
from handrail.core.run.secret_office import SecretName
from handrail.core.run.undo import Undoing
from handrail.core.tell.events import Event
from handrail.core.tell.letters import DeadLetter
from handrail.core.tell.log import EventLog
from handrail.core.tell.runs import Run
from handrail.core.tell.usage import Told
from handrail.engine import Handrail as AsyncHandrail

T = TypeVar("T")


class Handrail:
    """Handrail for blocking code. Its calls run on one loop in a thread of their own; any thread may call."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._inner = AsyncHandrail(*args, **options)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="handrail-sync", daemon=True)
        self._lock = threading.Lock()
        self._closed = False
        self.approvals = BlockingApprovals(self)
        self.dead_letters = BlockingLetterOffice(self)
        self.secrets = BlockingSecretOffice(self)
        self.jobs = BlockingJobOffice(self)
        self.schedules = BlockingSchedules(self)
        self._thread.start()

    @property
    def inner(self) -> AsyncHandrail:
        """The async Handrail behind this one."""
        return self._inner

    @property
    def offices(self) -> object:
        return self._inner.offices

    @property
    def registry(self) -> Registry:
        return self._inner.registry

    @property
    def policy(self) -> Policy:
        return self._inner.policy

    @property
    def log(self) -> EventLog:
        return self._inner.log

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

    def call(self, tool: str, args: Mapping[str, Any] | str | None = None, **options: Any) -> Outcome:
        return self.block_on(self._inner.call(tool, args, **options))

    def submit(self, tool: str, args: Mapping[str, Any] | str | None = None, **options: Any) -> Outcome:
        return self.block_on(self._inner.submit(tool, args, **options))

    def submit_all(self, tasks: Iterable[Task], **options: Any) -> dict[str, Outcome]:
        return self.block_on(self._inner.submit_all(tasks, **options))

    def run(self, call: Call) -> Outcome:
        return self.block_on(self._inner.run(call))

    def call_many(self, calls: Iterable[Call], **options: Any) -> list[Outcome]:
        return self.block_on(self._inner.call_many(calls, **options))

    def dedup(self, scope: Scope = "run", failures: Failures = "marked") -> Dedup:
        return self._inner.dedup(scope, failures)

    def batches(self, calls: Iterable[Call]) -> list[Group]:
        return self.block_on(self._inner.batches(calls))

    def stream(
        self, tool: str, args: Mapping[str, Any] | str | None = None, **options: Any
    ) -> Iterator[Event]:
        """Yield events as they happen; leaving the loop cancels the call."""
        return self._each(self._inner.stream(tool, args, **options))

    def _each(self, events: AsyncGenerator[Event, None]) -> Iterator[Event]:
        try:
            while (event := self.block_on(_next(events))) is not None:
                yield event
        finally:
            if not self._closed:
                self.block_on(events.aclose())

    def explain(
        self,
        tool: str,
        args: Mapping[str, Any] | str | None = None,
        principal: Principal | None = None,
        **options: Any,
    ) -> Decision:
        return self.block_on(self._inner.explain(tool, args, principal, **options))

    def tools(self, principal: Principal | None = None, **options: Any) -> list[Tool]:
        return self.block_on(self._inner.tools(principal, **options))

    def search(self, words: str, principal: Principal | None = None, **options: Any) -> list[Found]:
        return self.block_on(self._inner.search(words, principal, **options))

    def describe(self, name: str, principal: Principal | None = None, **options: Any) -> Described:
        return self.block_on(self._inner.describe(name, principal, **options))

    @property
    def toolsets(self) -> tuple[Toolset, ...]:
        return self._inner.toolsets

    def menu(self, principal: Principal | None = None, **options: Any) -> str:
        return self.block_on(self._inner.menu(principal, **options))

    def export(self, how: Format, principal: Principal | None = None, **options: Any) -> Any:
        return self.block_on(self._inner.export(how, principal, **options))

    def cancel(
        self, call_id: str, reason: str = "a user cancelled it", *, principal: Principal | None = None
    ) -> bool:
        return self.block_on(self._inner.cancel(call_id, reason, principal=principal))

    def wait(
        self, call_id: str, timeout: float | None = None, *, principal: Principal | None = None
    ) -> Outcome:
        return self.block_on(self._inner.wait(call_id, timeout, principal=principal))

    def undo(self, call_id: str, **options: Any) -> Undoing:
        return self.block_on(self._inner.undo(call_id, **options))

    def planned(self, principal: Principal | None = None, session: str | None = None) -> list[Planned]:
        return self.block_on(self._inner.planned(principal, session))

    def run_plan(
        self, principal: Principal | None = None, session: str | None = None, **options: Any
    ) -> list[Outcome]:
        return self.block_on(self._inner.run_plan(principal, session, **options))

    def discard_plan(self, principal: Principal | None = None, session: str | None = None) -> int:
        return self.block_on(self._inner.discard_plan(principal, session))

    def read_result(
        self, handle: str, principal: Principal | None = None, offset: int = 0, limit: int | None = None
    ) -> str:
        return self.block_on(self._inner.read_result(handle, principal, offset, limit))

    def last_result(self, tool: str, principal: Principal | None = None) -> Result | None:
        return self._inner.last_result(tool, principal)

    def events(
        self, principal: Principal | None = None, *, session: str | None = None, after: int = 0
    ) -> Iterator[Event]:
        """The events of a session as they come; it never ends by itself."""
        return self._each(self._inner.events(principal, session=session, after=after))

    def runs(self, principal: Principal | None = None, **options: Any) -> list[Run]:
        return self.block_on(self._inner.runs(principal, **options))

    def usage(self, principal: Principal | None = None, **options: Any) -> Told:
        return self.block_on(self._inner.usage(principal, **options))

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Hear of every event, in this Handrail's own thread. Call what comes back to stop."""
        return self._inner.subscribe(listener)

    def subscribe_registry(self, listener: Callable[[Any], None]) -> Callable[[], None]:
        return self._inner.subscribe_registry(listener)

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


class BlockingApprovals:
    """The inbox, for code that does not await."""

    def __init__(self, hr: Handrail) -> None:
        self._hr = hr
        self._inner = hr.inner.approvals

    def list(self, principal: Principal, **options: Any) -> builtins.list[ApprovalRequest]:
        return self._hr.block_on(self._inner.list(principal, **options))

    def decided(self, principal: Principal, *, limit: int = 20) -> builtins.list[ApprovalRequest]:
        return self._hr.block_on(self._inner.decided(principal, limit=limit))

    def get(self, approval_id: str, principal: Principal) -> ApprovalRequest | None:
        return self._hr.block_on(self._inner.get(approval_id, principal))

    def approve(self, approval_id: str, *, by: Principal, **options: Any) -> ApprovalRequest:
        return self._hr.block_on(self._inner.approve(approval_id, by=by, **options))

    def reject(self, approval_id: str, *, by: Principal, reason: str | None = None) -> ApprovalRequest:
        return self._hr.block_on(self._inner.reject(approval_id, by=by, reason=reason))

    def respond(self, approval_id: str, *, by: Principal, result: Any) -> ApprovalRequest:
        return self._hr.block_on(self._inner.respond(approval_id, by=by, result=result))


class BlockingLetterOffice:
    """The dead letters, for code that does not await."""

    def __init__(self, hr: Handrail) -> None:
        self._hr = hr
        self._inner = hr.inner.dead_letters

    def list(self, principal: Principal, *filters: Any, **more: Any) -> builtins.list[DeadLetter]:
        return self._hr.block_on(self._inner.list(principal, *filters, **more))

    def page(
        self, principal: Principal, *, after: str | None = None, limit: int = 50
    ) -> builtins.list[DeadLetter]:
        return self._hr.block_on(self._inner.page(principal, after=after, limit=limit))

    def get(self, id: str, principal: Principal) -> DeadLetter | None:
        return self._hr.block_on(self._inner.get(id, principal))

    def replay(self, id: str, *, by: Principal) -> Outcome:
        return self._hr.block_on(self._inner.replay(id, by=by))

    def replay_session(self, session: str, *, by: Principal) -> builtins.list[Outcome]:
        return self._hr.block_on(self._inner.replay_session(session, by=by))

    def purge(self, id: str | None = None, *, by: Principal, **filters: Any) -> int:
        return self._hr.block_on(self._inner.purge(id, by=by, **filters))


async def _next(events: AsyncGenerator[Event, None]) -> Event | None:
    return await anext(events, None)


async def _for_a_body(coroutine: Coroutine[Any, Any, T]) -> T:
    """A body that waits here holds a thread: what it calls must not wait for one of the same threads."""
    holds_thread.set(True)
    return await coroutine


class BlockingSecretOffice:
    """The secrets, for code that does not await."""

    def __init__(self, hr: Handrail) -> None:
        self._hr = hr
        self._inner = hr.inner.secrets

    def set(self, name: str, value: str, *, by: Principal, user: str | None = None) -> None:
        self._hr.block_on(self._inner.set(name, value, by=by, user=user))

    def list(self, by: Principal) -> builtins.list[SecretName]:
        return self._hr.block_on(self._inner.list(by))

    def delete(self, name: str, *, by: Principal, user: str | None = None) -> bool:
        return self._hr.block_on(self._inner.delete(name, by=by, user=user))


class BlockingJobOffice:
    """The jobs, for code that does not await."""

    def __init__(self, hr: Handrail) -> None:
        self._hr = hr
        self._inner = hr.inner.jobs

    def list(self, principal: Principal, *, state: JobState | None = None) -> builtins.list[JobEntry]:
        return self._hr.block_on(self._inner.list(principal, state=state))

    def get(self, call_id: str, principal: Principal) -> JobEntry | None:
        return self._hr.block_on(self._inner.get(call_id, principal))

    def caller(self, call_id: str, principal: Principal) -> Principal | None:
        return self._hr.block_on(self._inner.caller(call_id, principal))

    def unblock(self, call_id: str, *, by: Principal) -> bool:
        return self._hr.block_on(self._inner.unblock(call_id, by=by))


class BlockingSchedules:
    """The schedules, for code that does not await."""

    def __init__(self, hr: Handrail) -> None:
        self._hr = hr

    def put(self, name: str, tool: str, args: Mapping[str, Any] | None = None, **options: Any) -> Schedule:
        return self._hr.block_on(self._hr.inner.schedules.put(name, tool, args, **options))

    def list(self, principal: Principal) -> builtins.list[Schedule]:
        return self._hr.block_on(self._hr.inner.schedules.list(principal))

    def remove(self, name: str, principal: Principal) -> bool:
        return self._hr.block_on(self._hr.inner.schedules.remove(name, principal))
