"""ContextHost: what the engine does for a body through its context."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from pydantic_core import to_jsonable_python

from handrail.core.define.call import Outcome, bind_call
from handrail.core.define.context import Context
from handrail.core.define.lookup import ToolDetails, ToolMatch
from handrail.core.define.redaction import redact_values
from handrail.core.define.signal import Aborted
from handrail.core.errors import ToolError
from handrail.core.ids import new_id
from handrail.core.run.call_state import CallState
from handrail.core.run.catalogue.search import Search
from handrail.core.run.invoke import holds_thread, in_thread
from handrail.core.run.normalise import readable_json, readable_text
from handrail.core.run.pipeline import run
from handrail.core.run.results import read_page
from handrail.core.tell.events import Progress

T = TypeVar("T")

MAX_NESTING = 16
_secrets_lock = threading.Lock()


class ContextHost:
    """Progress, output, secrets, nested calls, pages of results and other tools, for every running body."""

    tool_search: Search
    """Set by the engine, once there is one."""

    def progress(self, ctx: Context, values: Mapping[str, Any]) -> None:
        state = _running(ctx)
        try:
            data = readable_json(to_jsonable_python(values, inf_nan_mode="null", fallback=str))
        except (ValueError, RecursionError) as error:
            raise ToolError(f"metadata takes what can be written as JSON: {error}") from None
        runtime, shown = state.runtime, redact_values(data, state.secrets or ())
        note = (Progress, ctx._call, state.tool_id, runtime.clock.now(), ctx.run_id, shown)
        _in_loop(state, lambda: runtime.teller.mention(note))

    def append_output(self, ctx: Context, text: str) -> None:
        if not isinstance(text, str):
            raise ToolError(f"append_output takes text, not {type(text).__name__}.")
        state = _running(ctx)
        piece, now = readable_text(text), state.runtime.clock.now()
        _in_loop(state, lambda: state.append(piece, now))

    def secret(self, ctx: Context, name: str) -> str:
        state = _running(ctx)
        source = state.runtime.secrets
        value = source(name, ctx.principal) if source is not None else None
        if value is None:
            raise ToolError(
                f"The secret {name!r} is not set up for this tenant. Ask an administrator to add it.",
                code="SECRET_MISSING",
            )
        with _secrets_lock:
            state.secrets = {*(state.secrets or ()), value}
        return value

    async def nested(self, ctx: Context, tool: str, args: Mapping[str, Any] | None) -> Outcome:
        outer = ctx._call
        if outer.depth >= MAX_NESTING:
            raise ToolError(f"Tools call each other more than {MAX_NESTING} deep.", code="TOO_DEEP")
        call = bind_call(
            tool,
            outer.principal,
            new_id("call"),
            outer.source,
            ctx.session_id,
            outer.turn,
            message=outer.message,
            parent=outer.id,
            depth=outer.depth + 1,
        )
        return await run(call, args, _state_of(ctx).runtime)

    def nested_and_wait(self, ctx: Context, tool: str, args: Mapping[str, Any] | None) -> Outcome:
        state = _running(ctx)
        if state.is_here():
            raise ToolError("call_and_wait would hold up the loop that runs it; use `await ctx.call(...)`.")
        nested = self._nested_until_aborted(state, ctx, tool, args)
        try:
            return asyncio.run_coroutine_threadsafe(nested, state.loop).result()
        except CancelledError:
            raise Aborted(state.signal.reason or "the call was cancelled") from None

    async def _nested_until_aborted(
        self, state: CallState, ctx: Context, tool: str, args: Mapping[str, Any] | None
    ) -> Outcome:
        """The nested call, which stops when the outer one has to; all of it in the loop's own thread."""
        _running(ctx)
        holds_thread.set(True)
        nested = asyncio.ensure_future(self.nested(ctx, tool, args))
        forget = state.signal.on_abort(nested.cancel)
        try:
            return await nested
        finally:
            forget()

    async def in_thread(self, ctx: Context, work: Callable[[], T]) -> T:
        done: T = await in_thread(work, _running(ctx))
        return done

    async def page(self, ctx: Context, handle: str, offset: int, limit: int | None) -> str:
        return await read_page(_state_of(ctx).runtime, handle, ctx.principal, offset, limit)

    async def search(self, ctx: Context, words: str, limit: int) -> list[ToolMatch]:
        return await self.tool_search.find(words, ctx.principal, ctx.source, limit)

    async def describe(self, ctx: Context, name: str) -> ToolDetails:
        return await self.tool_search.describe(name, ctx.principal, ctx.source)


def _in_loop(state: CallState, tell: Callable[[], None]) -> None:
    """Tell it in the loop, also from a worker thread: in order, unless the call ended meanwhile."""
    if state.is_here():
        tell()
        return

    def tell_if_running() -> None:
        if _is_running(state):
            tell()

    state.loop.call_soon_threadsafe(tell_if_running)


def _running(ctx: Context) -> CallState:
    state = _state_of(ctx)
    if not _is_running(state):
        raise ToolError("The call is over; nothing can be told of it any more.")
    return state


def _is_running(state: CallState) -> bool:
    return state.runtime.running.get((state.call.tenant, state.call.id)) is state


def _state_of(ctx: Context) -> CallState:
    if not isinstance(ctx._state, CallState):
        raise ToolError("The call is over; nothing can be told of it any more.")
    return ctx._state
