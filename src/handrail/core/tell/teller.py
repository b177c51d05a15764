"""Teller: tells the log and whoever listens."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from handrail.core.listeners import Listeners
from handrail.core.tell.events import Event
from handrail.core.tell.log import EventLog, EventNote, MemoryLog

_log = logging.getLogger("handrail.tell")
_tell_lock = threading.Lock()


class Teller:
    """One way to say what happened: the log first, then the listeners."""

    __slots__ = ("listeners", "log", "tell")

    tell: Callable[[EventNote], None]
    """Say it for the record, without waiting. While nobody listens or follows, the log in memory notes it."""

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.listeners = Listeners()
        if type(log) is MemoryLog:
            log.on_follow.append(self._choose)
        self._choose()

    def listen(self, listener: Callable[[Any], None]) -> Callable[[], None]:
        """Hear of every event; call what comes back to stop."""
        with _tell_lock:
            remove = self.listeners.add(listener)
            self._choose()

        def stop() -> None:
            with _tell_lock:
                remove()
                self._choose()

        return stop

    def _choose(self) -> None:
        log = self.log
        if type(log) is MemoryLog and not self.listeners.all and not log.followed:
            self.tell = log.notes.append
        else:
            self.tell = self._tell_everyone

    def _tell_everyone(self, note: EventNote) -> None:
        """A log that fails is reported to the developer, not to the caller."""
        event = note[0](*note[1:])
        try:
            self.log.append(event)
        except Exception:
            _log.exception("the event log did not take %s of call %s", event.type, event.call_id)
        self.hear(event)

    def hear(self, event: Event) -> None:
        """Tell the listeners of an event that is in the log already."""
        self.listeners.hear(event)

    def mention(self, note: EventNote) -> None:
        """Say it to whoever listens now; it is not recorded."""
        self.hear(note[0](*note[1:]))
