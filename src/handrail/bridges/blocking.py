"""blocked, awaited: one coroutine for code that waits and for code that awaits, whichever Handrail it has."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Protocol, TypeVar

from handrail import Handrail

T = TypeVar("T")


class Blocking(Protocol):
    """The blocking façade, `handrail.sync.Handrail`."""

    @property
    def inner(self) -> Handrail: ...
    def block_on(self, coroutine: Coroutine[Any, Any, T]) -> T: ...
    def begin(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]: ...


def blocked(hr: Handrail | Blocking, coroutine: Coroutine[Any, Any, T]) -> T:
    """Wait for it: on the façade's own loop, or on one made for it, where no running loop is in the way."""
    if not isinstance(hr, Handrail):
        return hr.block_on(coroutine)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1, thread_name_prefix="handrail-bridge") as thread:
        return thread.submit(copy_context().run, asyncio.run, coroutine).result()


async def awaited(hr: Handrail | Blocking, coroutine: Coroutine[Any, Any, T]) -> T:
    """Await it: here, or on the façade's loop. Whoever cancels this cancels it there too."""
    if isinstance(hr, Handrail):
        return await coroutine
    return await asyncio.wrap_future(hr.begin(coroutine))
