"""Teller: tells the log and whoever listens."""

from __future__ import annotations

import logging
from typing import Any

from handrail.core.listeners import Listeners
from handrail.core.tell.events import Event
from handrail.core.tell.log import EventLog, MemoryLog

_log = logging.getLogger("handrail.tell")


class Teller:
    """One way to say what happened: the log first, then the listeners."""

    __slots__ = ("_limit", "_notes", "listeners", "log")

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.listeners = Listeners()
        self._notes = None
        self._limit = 0
        if isinstance(log, MemoryLog):
            self._notes, self._limit = log.notes, log.limit

    def tell(self, kind: type[Event], fields: tuple[Any, ...]) -> None:
        """Say it without waiting. A log that fails is reported to the developer, not to the caller."""
        notes = self._notes
        if notes is not None and not self.listeners.all and kind.durable:
            notes.append((kind, fields))
            if len(notes) > self._limit:
                self.log.forget()  # type: ignore[attr-defined]
            return
        event = kind(*fields)
        if kind.durable:
            try:
                self.log.append(event)
            except Exception:
                _log.exception("the event log did not take %s of call %s", event.type, event.call_id)
        self.listeners.hear(event)

    async def commit(self, event: Event) -> None:
        """Say it and wait until it is durable; raises when it cannot be."""
        self.log.append(event)
        await self.log.flush(event)
        self.listeners.hear(event)
