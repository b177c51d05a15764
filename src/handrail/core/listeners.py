"""Listeners: functions that hear of what happens."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, TypeVar

_log = logging.getLogger("handrail.listeners")
_lock = threading.Lock()

E = TypeVar("E")
Listener = Callable[[E], None]


class Listeners:
    """Functions that hear of everything told here; one that fails is logged and disturbs nobody."""

    __slots__ = ("all",)

    def __init__(self) -> None:
        self.all: tuple[Listener[object], ...] = ()

    def add(self, listener: Listener[E]) -> Callable[[], None]:
        """Listen; call what comes back to stop. Who listens twice hears twice, and stops twice."""

        def hear(told: Any) -> None:
            listener(told)

        with _lock:
            self.all = (*self.all, hear)

        def remove() -> None:
            with _lock:
                self.all = tuple(other for other in self.all if other is not hear)

        return remove

    def hear(self, told: object) -> None:
        for listener in self.all:
            try:
                listener(told)
            except Exception:
                _log.exception("a listener failed on %s", type(told).__name__)
