"""Teller: tells the log and whoever listens."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable

from handrail.core.listeners import Listeners
from handrail.core.tell.log import EventLog, MemoryLog, Note

_log = logging.getLogger("handrail.tell")


class Teller:
    """One way to say what happened: the log first, then the listeners."""

    __slots__ = ("_forget", "_limit", "_notes", "listeners", "log")

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.listeners = Listeners()
        self._notes: deque[Note] | None = None
        self._limit = 0
        self._forget: Callable[[], None] = lambda: None
        if type(log) is MemoryLog:
            self._notes, self._limit, self._forget = log.notes, log.limit, log.forget

    def tell(self, note: Note) -> None:
        """Say it for the record, without waiting. A log that fails is reported to the developer alone."""
        notes = self._notes
        if notes is not None and not self.listeners.all:
            notes.append(note)
            if len(notes) > self._limit:
                self._forget()
            return
        event = note[0](*note[1:])
        try:
            self.log.append(event)
        except Exception:
            _log.exception("the event log did not take %s of call %s", event.type, event.call_id)
        self.listeners.hear(event)

    def mention(self, note: Note) -> None:
        """Say it to whoever listens now; it is not recorded."""
        self.listeners.hear(note[0](*note[1:]))
