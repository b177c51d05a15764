"""Rate limits for people without an account, who show no key that the middleware could count."""

from __future__ import annotations

import time
from collections.abc import Callable

from handrail.doors.web.live import LiveUpdates
from handrail.identity.errors import RateLimited
from handrail.platform.rate_limit import RateLimiter

PER_SECOND = {"guest": 20.0, "link": 200.0, "join": 10.0, "embed": 20.0}
"""Requests of one guest, of all guests of a link, to join from one address, of an embed from one address."""
PAGES_PER_GUEST = 10
PAGES_PER_SESSION = 1_000
"""Pages of guests that may listen at once."""


class GuestRateLimits:
    """What guests and visitors asked of this process lately."""

    def __init__(self, ticks: Callable[[], float] = time.monotonic) -> None:
        self._rates = {kind: RateLimiter(most, ticks) for kind, most in PER_SECOND.items()}

    def take(self, kind: str, name: str) -> None:
        """Count one request; raises `RateLimited` when it comes too soon."""
        wait = self._rates[kind].wait(name)
        if wait:
            raise RateLimited("Too many requests came at once.", wait)


def check_open_pages(live: LiveUpdates, tenant: str, topic: str, guest: str) -> None:
    """Raise `RateLimited` when too many pages of a guest, or of all guests of a session, listen already."""
    users = [who.user or "" for who in live.listeners(tenant, topic) if who is not None]
    open_now = [user for user in users if user.startswith("guest:")]
    if open_now.count(guest) >= PAGES_PER_GUEST or len(open_now) >= PAGES_PER_SESSION:
        raise RateLimited("Too many pages of this session are open.", 30.0)
