"""Bell: wakes those who follow a log when there may be something new."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

Room = tuple[str, str | None]
"""A tenant and one of its sessions, or all of them."""


class Bell:
    """Rung from any thread, heard in any loop."""

    def __init__(self, on_change: Callable[[], object] = lambda: None) -> None:
        self._on_change = on_change
        self._lock = threading.Lock()
        self._rooms: dict[Room, list[tuple[asyncio.AbstractEventLoop, asyncio.Event]]] = {}

    def __bool__(self) -> bool:
        """Whether anybody listens."""
        return bool(self._rooms)

    @contextmanager
    def listen(self, tenant: str, session: str | None) -> Iterator[asyncio.Event]:
        """An event that is set whenever the bell rings in this room."""
        room, heard = (tenant, session), asyncio.Event()
        listener = (asyncio.get_running_loop(), heard)
        with self._lock:
            self._rooms.setdefault(room, []).append(listener)
        self._on_change()
        try:
            yield heard
        finally:
            with self._lock:
                listeners = self._rooms[room]
                listeners.remove(listener)
                if not listeners:
                    del self._rooms[room]
            self._on_change()

    def ring(self, tenant: str, sessions: Iterable[str] | None = None) -> None:
        """Something is new in these sessions of the tenant; None: in any of them."""
        with self._lock:
            if sessions is None:
                rooms = [room for room in self._rooms if room[0] == tenant]
            else:
                rooms = [(tenant, None), *((tenant, session) for session in sessions)]
            wake = [listener for room in rooms for listener in self._rooms.get(room, ())]
        self._wake(wake)

    def ring_all(self) -> None:
        """Anything may be new anywhere."""
        with self._lock:
            wake = [listener for listeners in self._rooms.values() for listener in listeners]
        self._wake(wake)

    def _wake(self, listeners: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
        for loop, heard in listeners:
            if not loop.is_closed():
                loop.call_soon_threadsafe(heard.set)
