"""Signal: how a body learns that its call was cancelled or ran out of time."""

from __future__ import annotations

import threading
from collections.abc import Callable

_lock = threading.Lock()


class Aborted(Exception):
    """The call was cancelled."""


class Signal:
    """Set once, from any thread. Async bodies are also interrupted at their next `await`."""

    __slots__ = ("_listeners", "_reason")

    def __init__(self) -> None:
        self._reason: str | None = None
        self._listeners: list[Callable[[], object]] | None = None

    @property
    def aborted(self) -> bool:
        return self._reason is not None

    @property
    def reason(self) -> str | None:
        return self._reason

    def throw_if_aborted(self) -> None:
        """Stop here if the call was cancelled; for loops in sync bodies."""
        if self._reason is not None:
            raise Aborted(self._reason)

    def on_abort(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call the listener once when the signal is set; at once if it already is.

        Call what comes back to take the listener off again.
        """
        with _lock:
            if self._reason is None:
                self._listeners = [*(self._listeners or ()), listener]
                return lambda: self._forget(listener)
        listener()
        return lambda: None

    def _forget(self, listener: Callable[[], object]) -> None:
        with _lock:
            if self._listeners and listener in self._listeners:
                self._listeners.remove(listener)

    async def wait(self) -> None:
        """Return when the signal is set."""
        import asyncio  # loaded by whoever awaits, not by everybody who defines a tool

        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(done.set)

        self.on_abort(wake)
        await done.wait()

    def abort(self, reason: str) -> None:
        """Set the signal; only the first reason counts. A listener that fails does not keep a call alive."""
        with _lock:
            if self._reason is not None:
                return
            self._reason = reason
            listeners, self._listeners = self._listeners or [], None
        for listener in listeners:
            try:
                listener()
            except Exception:
                import logging  # seldom needed, and not cheap to load

                logging.getLogger("handrail.listeners").exception("a listener failed when a call was stopped")
