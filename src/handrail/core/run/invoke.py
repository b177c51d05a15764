"""invoke: run a body where it has to run."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from typing import Any

from handrail.core.define.context import Context
from handrail.core.define.tool import Body, Tool
from handrail.core.errors import ToolError
from handrail.core.run.call_state import CallState
from handrail.core.run.process import run_in_process

holds_thread: ContextVar[bool] = ContextVar("handrail_holds_thread", default=False)
"""Whether a body above waits in a thread. Those below get threads of their own: all could be waiting so."""


async def invoke(tool: Tool, body: Body, values: Any, ctx: Context, state: CallState) -> Any:
    """The value of a body: awaited, from a thread, or from a process of its own."""
    if tool.isolation is None:
        if body.is_async:
            return await body.call(values, ctx)
        return await in_thread(partial(body.call, values, ctx), state)
    runtime, args = state.runtime, state.admitted.args
    return await run_in_process(tool.id, body, args, ctx, runtime.init, runtime.execution.grace)


async def in_thread(work: Callable[[], Any], state: CallState) -> Any:
    """What waits gets a thread, so that the loop goes on, and the caller's context variables."""
    execution = state.runtime.execution
    variables = contextvars.copy_context()
    pool = ThreadPoolExecutor(1, "handrail-nested") if holds_thread.get() else execution.threads()
    running = pool.submit(variables.run, _value_or_error, work)
    if holds_thread.get():
        pool.shutdown(wait=False)
    landing = _Landing(running)
    try:
        await landing.ended
    except asyncio.CancelledError:
        state.signal.abort("the caller was cancelled")
        if not running.cancel():
            ended = landing.again()
            if not await _heeds(ended, execution.grace):
                state.stray = ended
            elif running.result()[1] is None:
                state.finished = True
        raise
    if running.cancelled():
        raise ToolError("It was not run: this Handrail was closed before its turn came.")
    value, error = running.result()
    if error is not None:
        raise error
    return await value if inspect.isawaitable(value) else value


class _Landing:
    """Where the end of a thread's work comes down on the loop. Leaner than asyncio.wrap_future and shield."""

    __slots__ = ("_loop", "_work", "ended")

    def __init__(self, work: Future[Any]) -> None:
        self._loop = asyncio.get_running_loop()
        self._work = work
        self.ended = self._loop.create_future()
        work.add_done_callback(self._tell)

    def again(self) -> asyncio.Future[None]:
        """One to wait for after whoever waited was cancelled, and the first one with it."""
        if self.ended.cancelled():
            self.ended = self._loop.create_future()
            if self._work.done():  # what came down is lost with the first one
                self._land()
        return self.ended

    def _tell(self, work: Future[Any]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any longer
            self._loop.call_soon_threadsafe(self._land)

    def _land(self) -> None:
        if not self.ended.done():
            self.ended.set_result(None)


def _value_or_error(work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """The value, or what was raised; what means something else to a loop or a coroutine is renamed."""
    try:
        return work(), None
    except (StopIteration, GeneratorExit, asyncio.CancelledError) as error:
        return None, RuntimeError(f"The body raised {type(error).__name__}.")
    except BaseException as error:
        return None, error


async def _heeds(ended: asyncio.Future[None], grace: float) -> bool:
    """Whether a thread ends in time after the signal. Python cannot stop one; a process it can."""
    with suppress(asyncio.CancelledError):  # once more: the first one is already on its way
        await asyncio.wait({ended}, timeout=grace)
    return ended.done()
