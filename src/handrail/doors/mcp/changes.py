"""Changes: tells who listens that their tool list is another one now, whatever the cause."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress

from handrail.core.define.principal import Principal
from handrail.engine import Handrail
from handrail.identity.errors import NotSignedIn


class Changes:
    """Looks at what each listener may see. The registry rings at once; of the rest, time tells."""

    def __init__(self, hr: Handrail, look_every: float, at_most: int = 1_000) -> None:
        self._hr = hr
        self._look_every = look_every
        self._at_most = at_most
        self._bells: set[asyncio.Event] = set()
        self.closed = asyncio.Event()
        """Set once all listeners are let go."""
        self._stop: Callable[[], None] | None = None

    @property
    def full(self) -> bool:
        """Whether as many listen as there is room for."""
        return len(self._bells) >= self._at_most

    def close(self) -> None:
        """Let all listeners go."""
        self.closed.set()
        for bell in self._bells:
            bell.set()

    async def of(self, who: Callable[[], Awaitable[Principal]]) -> AsyncGenerator[None, None]:
        """Once as soon as it looks, then each change of what somebody may see, until their key ends."""
        loop, bell = asyncio.get_running_loop(), asyncio.Event()
        self._bells.add(bell)
        if self._stop is None:

            def rung(_: object) -> None:
                loop.call_soon_threadsafe(self._ring)

            self._stop = self._hr.registry.listeners.add(rung)
        try:
            seen = await self._seen(await who())
            yield
            while not self.closed.is_set():
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._look_every):
                        await bell.wait()
                bell.clear()
                if self.closed.is_set():
                    return
                try:
                    now = await self._seen(await who())
                except NotSignedIn:
                    return
                if now != seen:
                    seen = now
                    yield
        finally:
            self._bells.discard(bell)
            if not self._bells and self._stop is not None:
                self._stop()
                self._stop = None

    def _ring(self) -> None:
        for bell in self._bells:
            bell.set()

    async def _seen(self, principal: Principal) -> int:
        return hash(tuple((tool.id, tool.digest) for tool in await self._hr.tools(principal, source="mcp")))
