"""invoke: run a body, wherever it has to run, and report how it ended."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from handrail.core.define.context import Context
from handrail.core.define.signal import Aborted
from handrail.core.define.tool import Tool
from handrail.core.run.process import ProcessDied, in_process
from handrail.core.run.running import Ending, Running


@dataclass(frozen=True, slots=True)
class Ended:
    """How a body ended when it did not simply return."""

    ending: Ending | None = None
    """Ours: cancelled or timed out."""
    error: BaseException | None = None
    """What the body raised."""
    ignored: bool = False
    """The body did not heed the interruption: it finished its work, or is still at it."""
    unknown: bool = False
    """The process died under it: nobody knows how far it came."""
    still: asyncio.Future[Any] | None = None
    """A thread that is still at it."""
    outside: bool = False
    """The caller's own task was cancelled, which the pipeline passes on after it has told of it."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where bodies run and how long they get to heed an interruption."""

    threads: Callable[[], Executor]
    grace: float = 5.0


async def invoke(tool: Tool, values: Any, ctx: Context, running: Running, place: Workplace) -> Any:
    """The body's value, or `Ended`."""
    body = tool.body
    assert body is not None
    stray: asyncio.Future[Any] | None = None
    try:
        if tool.isolation is not None:
            value = await in_process(tool, values, ctx, place.grace)
        elif body.is_async:
            value = await body.call(values, ctx)
        else:
            stray = _in_thread(body.call, values, ctx, running, place)
            value = await asyncio.shield(stray)
            if inspect.isawaitable(value):
                value = await value
    except asyncio.CancelledError:
        return await _interrupted(running, stray, place.grace)
    except ProcessDied as death:
        return Ended(running.ending, death, unknown=running.ending is None)
    except Aborted as error:
        return Ended(_settle(running), error)
    except Exception as error:
        if running.ending is not None:
            return Ended(_settle(running), error)
        return Ended(error=error)
    if running.ending is not None:
        return Ended(_settle(running), ignored=True)
    return value


def _in_thread(
    call: Callable[[Any, Any], Any], values: Any, ctx: Context, running: Running, place: Workplace
) -> asyncio.Future[Any]:
    """A sync body gets a thread, so that the loop goes on, and the caller's context variables."""
    here = contextvars.copy_context()
    return running.loop.run_in_executor(place.threads(), here.run, call, values, ctx)


def _settle(running: Running) -> Ending | None:
    """Take our interruption back when the body ended by itself before it arrived."""
    running.take_back()
    return running.ending


async def _interrupted(running: Running, stray: asyncio.Future[Any] | None, grace: float) -> Ended:
    ours = running.ending is not None and running.take_back()
    if not ours:
        running.signal.abort("the caller was cancelled")
    still = None
    if stray is not None and not stray.done() and not await _let_finish(stray, grace):
        still = stray
    ending = running.ending if ours else "cancelled"
    return Ended(ending, ignored=still is not None, still=still, outside=not ours)


async def _let_finish(stray: asyncio.Future[Any], grace: float) -> bool:
    """Give a thread time to heed the signal. Python cannot stop one; a process it can."""
    stray.add_done_callback(lambda over: over.cancelled() or over.exception())
    try:
        done, _ = await asyncio.wait({stray}, timeout=grace)
    except asyncio.CancelledError:
        return stray.done()
    return bool(done)
