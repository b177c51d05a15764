"""follow: events as they are told, from any number on, each once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress

from handrail.core.tell.bell import Bell
from handrail.core.tell.events import Event

Fetch = Callable[[int], Awaitable[Sequence[Event]]]
"""The next events after a number, in order; as many as are wanted at a time, none when there is no more."""


async def follow(
    fetch: Fetch, bell: Bell, tenant: str, session: str | None, after: int, patience: float | None = None
) -> AsyncGenerator[Event, None]:
    """Yield what is there, then whatever comes, without an end.

    Of a session events are counted by `seq`, of a whole tenant by `position`: both are given in the order in
    which events become visible, so whoever saw number n has seen all before it. The bell is listened to
    before the log is read, so nothing falls between. After `patience` seconds the log is read unasked.
    """
    with bell.listen(tenant, session) as heard:
        while True:
            heard.clear()
            page = await fetch(after)
            for event in page:
                yield event
                after = event.seq if session is not None else event.position
            if not page:
                await _heard(heard, patience)


async def _heard(heard: asyncio.Event, patience: float | None) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(patience):  # `wait_for` may lose a cancellation
            await heard.wait()
