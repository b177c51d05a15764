"""The one blocking façade: the same Handrail for code that does not await."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from typing import Any, Self, TypeVar

from handrail.core.define.call import Call, Outcome
from handrail.core.define.decision import Decision
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.errors import UsageError
from handrail.core.run.export import Format
from handrail.core.tell.events import Event
from handrail.engine import Handrail as AsyncHandrail

T = TypeVar("T")


class Handrail:
    """Handrail for blocking code. Its calls run on one loop in a thread of their own; any thread may call."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._inner = AsyncHandrail(*args, **options)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="handrail-sync", daemon=True)
        self._thread.start()

    @property
    def inner(self) -> AsyncHandrail:
        """The async Handrail behind this one."""
        return self._inner

    def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            coroutine.close()
            raise UsageError("This Handrail is closed. Make a new one.")
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise UsageError("A tool body runs on this Handrail's own loop; use `await ctx.call(...)` there.")
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def call(self, tool: str, args: Mapping[str, Any] | str | None = None, **options: Any) -> Outcome:
        return self._wait(self._inner.call(tool, args, **options))

    def run(self, call: Call) -> Outcome:
        return self._wait(self._inner.run(call))

    def stream(
        self, tool: str, args: Mapping[str, Any] | str | None = None, **options: Any
    ) -> Iterator[Event]:
        """Yield events as they happen; leaving the loop cancels the call."""
        events = self._inner.stream(tool, args, **options)
        try:
            while (event := self._wait(_next(events))) is not None:
                yield event
        finally:
            self._wait(events.aclose())  # type: ignore[attr-defined]

    def explain(
        self,
        tool: str,
        args: Mapping[str, Any] | str | None = None,
        principal: Principal | None = None,
        **options: Any,
    ) -> Decision:
        return self._wait(self._inner.explain(tool, args, principal, **options))

    def tools(self, principal: Principal | None = None, **options: Any) -> list[Tool]:
        return self._wait(self._inner.tools(principal, **options))

    def export(self, how: Format, principal: Principal | None = None, **options: Any) -> Any:
        return self._wait(self._inner.export(how, principal, **options))

    def cancel(self, call_id: str, reason: str = "a user cancelled it") -> bool:
        return self._wait(self._inner.cancel(call_id, reason))

    def wait(self, call_id: str, timeout: float | None = None) -> Outcome:
        return self._wait(self._inner.wait(call_id, timeout))

    def close(self) -> None:
        """End the loop and its thread. Closing twice is fine."""
        if self._loop.is_closed():
            return
        self._wait(self._inner.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


async def _next(events: AsyncIterator[Event]) -> Event | None:
    return await anext(events, None)
