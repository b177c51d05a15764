"""follow: events as they are told, each once; LogNotifier wakes those who follow."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from handrail.core.tell.events import Event

Channel = tuple[str, str | None]
"""A tenant and one of its sessions, or all of them."""


class LogNotifier:
    """Notified from any thread, heard in any loop."""

    def __init__(self, on_change: Callable[[], object] = lambda: None) -> None:
        self._on_change = on_change
        self._lock = threading.Lock()
        self._channels: dict[Channel, list[tuple[asyncio.AbstractEventLoop, asyncio.Event]]] = {}

    def __bool__(self) -> bool:
        """Whether anybody listens."""
        return bool(self._channels)

    @contextmanager
    def listen(self, tenant: str, session: str | None) -> Iterator[asyncio.Event]:
        """An event that is set whenever something is new in this channel."""
        channel, heard = (tenant, session), asyncio.Event()
        listener = (asyncio.get_running_loop(), heard)
        with self._lock:
            self._channels.setdefault(channel, []).append(listener)
        self._on_change()
        try:
            yield heard
        finally:
            with self._lock:
                listeners = self._channels[channel]
                listeners.remove(listener)
                if not listeners:
                    del self._channels[channel]
            self._on_change()

    def notify(self, tenant: str, sessions: Iterable[str] | None = None) -> None:
        """Something is new in these sessions of the tenant; None: in any of them."""
        with self._lock:
            if sessions is None:
                channels = [channel for channel in self._channels if channel[0] == tenant]
            else:
                channels = [(tenant, None), *((tenant, session) for session in sessions)]
            listeners = [listener for channel in channels for listener in self._channels.get(channel, ())]
        for loop, heard in listeners:
            if not loop.is_closed():
                loop.call_soon_threadsafe(heard.set)

    def notify_all(self) -> None:
        """Anything may be new anywhere."""
        with self._lock:
            tenants = {tenant for tenant, _ in self._channels}
        for tenant in tenants:
            self.notify(tenant)


Fetch = Callable[[int], Awaitable[Sequence[Event]]]
"""The next events after a number, in order; as many as are wanted at a time, none when there is no more."""


async def follow(
    fetch: Fetch,
    notifier: LogNotifier,
    tenant: str,
    session: str | None,
    after: int,
    patience: float | None = None,
) -> AsyncGenerator[Event, None]:
    """Yield what is there, then whatever comes, without an end.

    Of a session events are counted by `seq`, of a whole tenant by `position`: both are given in the order in
    which events become visible, so whoever saw number n has seen all before it. The notifier is listened to
    before the log is read, so nothing falls between. After `patience` seconds the log is read unasked.
    """
    with notifier.listen(tenant, session) as heard:
        while True:
            heard.clear()
            page = await fetch(after)
            for event in page:
                yield event
                after = event.seq if session is not None else event.position
            if not page:
                with suppress(TimeoutError):
                    async with asyncio.timeout(patience):  # `wait_for` may lose a cancellation
                        await heard.wait()
