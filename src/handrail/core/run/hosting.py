"""Hosting: what the engine does for a body through its context."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from pydantic_core import to_jsonable_python

from handrail.core.define.call import Call, Outcome
from handrail.core.define.context import Context
from handrail.core.define.found import Described, Found
from handrail.core.define.secrecy import scrubbed
from handrail.core.define.signal import Aborted
from handrail.core.errors import ToolError
from handrail.core.ids import new_id
from handrail.core.run.house import House
from handrail.core.run.invoke import holds_thread, in_thread
from handrail.core.run.pages import read_page
from handrail.core.run.search import Search
from handrail.core.run.sound import sound, sound_text
from handrail.core.run.tale import Tale
from handrail.core.tell.events import Progress

T = TypeVar("T")

MAX_NESTING = 16
_lock = threading.Lock()

Nested = Callable[[Context, Mapping[str, Any] | None, Call], Awaitable[Outcome]]


class Hosting:
    """Progress, output, secrets, nested calls, pages of results and other tools, for every running body."""

    def __init__(self, nested: Nested, house: Callable[[], House], search: Callable[[], Search]) -> None:
        self._run_nested = nested
        self._house = house
        self._search = search

    def progress(self, ctx: Context, told: Mapping[str, Any]) -> None:
        running = self._running(ctx)
        try:
            data = sound(to_jsonable_python(told, inf_nan_mode="null", fallback=str))
        except (ValueError, RecursionError) as error:
            raise ToolError(f"metadata takes what can be written as JSON: {error}") from None
        house, shown = self._house(), scrubbed(data, running.secrets or ())
        note = (Progress, ctx._call, running.tool_id, house.clock.now(), ctx.run_id, shown)
        self._in_loop(running, lambda: house.teller.mention(note))

    def append_output(self, ctx: Context, text: str) -> None:
        if not isinstance(text, str):
            raise ToolError(f"append_output takes text, not {type(text).__name__}.")
        running = self._running(ctx)
        piece, now = sound_text(text), self._house().clock.now()
        self._in_loop(running, lambda: running.append(piece, now))

    def _in_loop(self, running: Tale, tell: Callable[[], None]) -> None:
        """Also from a worker thread: the loop tells it, in order, unless the call ended meanwhile."""
        if running.is_here():
            tell()
            return

        def still() -> None:
            if self._house().running.get(_key(running)) is running:
                tell()

        running.loop.call_soon_threadsafe(still)

    def _running(self, ctx: Context) -> Tale:
        tale = ctx._state
        if not isinstance(tale, Tale) or self._house().running.get(_key(tale)) is not tale:
            raise ToolError("The call is over; nothing can be told of it any more.")
        return tale

    def secret(self, ctx: Context, name: str) -> str:
        running = self._running(ctx)
        source = self._house().secrets
        value = source(name, ctx.principal) if source is not None else None
        if value is None:
            raise ToolError(
                f"The secret {name!r} is not set up for this tenant. Ask an administrator to add it.",
                code="SECRET_MISSING",
            )
        with _lock:
            running.secrets = {*(running.secrets or ()), value}
        return value

    async def nested(self, ctx: Context, tool: str, args: Mapping[str, Any] | None) -> Outcome:
        outer = ctx._call
        if outer.depth >= MAX_NESTING:
            raise ToolError(f"Tools call each other more than {MAX_NESTING} deep.", code="TOO_DEEP")
        call = Call(
            tool,
            None,
            ctx.principal,
            outer.source,
            ctx.session_id,
            new_id("call"),
            outer.turn,
            None,
            None,
            outer.message,
            ctx.call_id,
            outer.depth + 1,
        )
        return await self._run_nested(ctx, args, call)

    def nested_and_wait(self, ctx: Context, tool: str, args: Mapping[str, Any] | None) -> Outcome:
        running = self._running(ctx)
        if running.is_here():
            raise ToolError("call_and_wait would hold up the loop that runs it; use `await ctx.call(...)`.")

        async def attended() -> Outcome:
            """The nested call, which stops when the outer one has to; all of it in the loop's own thread."""
            self._running(ctx)
            task = asyncio.current_task()
            assert task is not None
            holds_thread.set(True)
            forget = running.signal.on_abort(task.cancel)
            try:
                return await self.nested(ctx, tool, args)
            finally:
                forget()

        try:
            return asyncio.run_coroutine_threadsafe(attended(), running.loop).result()
        except CancelledError:
            raise Aborted(running.signal.reason or "the call was cancelled") from None

    async def in_thread(self, ctx: Context, work: Callable[[], T]) -> T:
        done: T = await in_thread(work, self._running(ctx))
        return done

    async def page(self, ctx: Context, handle: str, offset: int, limit: int | None) -> str:
        return await read_page(self._house(), handle, ctx.principal, offset, limit)

    async def search(self, ctx: Context, words: str, limit: int) -> list[Found]:
        return await self._search().find(words, ctx.principal, ctx.source, limit)

    async def describe(self, ctx: Context, name: str) -> Described:
        return await self._search().describe(name, ctx.principal, ctx.source)


def _key(tale: Tale) -> tuple[str, str]:
    assert tale.call.principal is not None
    return tale.call.principal.tenant, tale.call.id or ""
