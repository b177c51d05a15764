"""invoke: run a body where it has to run."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from contextlib import suppress
from typing import Any

from handrail.core.define.context import Context
from handrail.core.define.tool import Body, Tool
from handrail.core.run.process import in_process
from handrail.core.run.tale import Tale


async def invoke(tool: Tool, body: Body, values: Any, ctx: Context, tale: Tale) -> Any:
    """The value of a body that is not simply awaited: one in a process of its own, or a sync one."""
    if tool.isolation is not None:
        return await in_process(tool, values, ctx, tale.house.place.grace)
    return await _in_thread(body, values, ctx, tale)


async def _in_thread(body: Body, values: Any, ctx: Context, tale: Tale) -> Any:
    """A sync body gets a thread, so that the loop goes on, and the caller's context variables."""
    place = tale.house.place
    here = contextvars.copy_context()
    future = tale.loop.run_in_executor(place.threads(), here.run, body.call, values, ctx)
    try:
        value = await asyncio.shield(future)
    except asyncio.CancelledError:
        tale.signal.abort("the caller was cancelled")
        if not await _heeds(future, place.grace):
            tale.stray = future
        raise
    return await value if inspect.isawaitable(value) else value


async def _heeds(future: asyncio.Future[Any], grace: float) -> bool:
    """Whether a thread ends in time after the signal. Python cannot stop one; a process it can."""
    future.add_done_callback(lambda over: over.cancelled() or over.exception())
    with suppress(asyncio.CancelledError):  # once more: the first one is already on its way
        await asyncio.wait({future}, timeout=grace)
    return future.done()


async def absorb_interruption(tale: Tale) -> None:
    """After a body that did not heed its interruption: take in the cancellation that is still under way."""
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(0)
    if not tale.take_back():
        raise asyncio.CancelledError
