"""invoke: run a body where it has to run."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

from handrail.core.define.context import Context
from handrail.core.define.tool import Body, Tool
from handrail.core.errors import ToolError
from handrail.core.run.process import in_process
from handrail.core.run.tale import Tale

holds_thread: ContextVar[bool] = ContextVar("handrail_holds_thread", default=False)
"""Whether a body above waits in a thread. Those below get threads of their own: all could be waiting so."""


async def invoke(tool: Tool, body: Body, values: Any, ctx: Context, tale: Tale) -> Any:
    """The value of a body: awaited, from a thread, or from a process of its own."""
    if tool.isolation is None:
        return await (body.call(values, ctx) if body.is_async else _in_thread(body, values, ctx, tale))
    house, args = tale.house, tale.args
    assert args is not None
    return await in_process(tool, args, ctx, house.init, house.place.grace)


async def _in_thread(body: Body, values: Any, ctx: Context, tale: Tale) -> Any:
    """A sync body gets a thread, so that the loop goes on, and the caller's context variables."""
    place = tale.house.place
    here = contextvars.copy_context()
    pool = ThreadPoolExecutor(1, "handrail-nested") if holds_thread.get() else place.threads()
    work = pool.submit(here.run, _kept, body, values, ctx)
    if holds_thread.get():
        pool.shutdown(wait=False)
    ended = asyncio.wrap_future(work)
    try:
        value, error = await asyncio.shield(ended)
    except asyncio.CancelledError:
        if work.cancelled():
            raise ToolError("It was not run: this Handrail was closed before its turn came.") from None
        tale.signal.abort("the caller was cancelled")
        if not work.cancel():
            if not await _heeds(ended, place.grace):
                tale.stray = ended
            elif ended.result()[1] is None:
                tale.finished = True
        raise
    if error is not None:
        raise error
    return await value if inspect.isawaitable(value) else value


def _kept(body: Body, values: Any, ctx: Context) -> tuple[Any, BaseException | None]:
    """The value, or what was raised; what means something else to a loop or a coroutine is renamed."""
    try:
        return body.call(values, ctx), None
    except (StopIteration, GeneratorExit, asyncio.CancelledError) as error:
        return None, RuntimeError(f"The body raised {type(error).__name__}.")
    except BaseException as error:
        return None, error


async def _heeds(ended: asyncio.Future[Any], grace: float) -> bool:
    """Whether a thread ends in time after the signal. Python cannot stop one; a process it can."""
    with suppress(asyncio.CancelledError):  # once more: the first one is already on its way
        await asyncio.wait({ended}, timeout=grace)
    return ended.done()
