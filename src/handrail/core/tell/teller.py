"""Teller: tells the log and whoever listens."""

from __future__ import annotations

import logging

from handrail.core.listeners import Listeners
from handrail.core.tell.events import Event
from handrail.core.tell.log import EventLog

_log = logging.getLogger("handrail.tell")


class Teller:
    """One way to say what happened: the log first, then the listeners."""

    __slots__ = ("listeners", "log")

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.listeners = Listeners()

    def tell(self, event: Event) -> None:
        """Say it without waiting. A log that fails is reported to the developer, not to the caller."""
        if event.durable:
            try:
                self.log.append(event)
            except Exception:
                _log.exception("the event log did not take %s of call %s", event.type, event.call_id)
        if self.listeners:
            self.listeners.hear(event)

    async def commit(self, event: Event) -> None:
        """Say it and wait until it is durable; raises when it cannot be."""
        self.log.append(event)
        await self.log.flush(event)
        if self.listeners:
            self.listeners.hear(event)
