"""Claims: who is writing what right now, so that siblings do not write it too."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Taken:
    """A resource somebody else holds."""

    key: str
    holder: str


class Claims(Protocol):
    """A blackboard of claimed resources."""

    def take(self, keys: Iterable[str], holder: str, /) -> Taken | None:
        """Claim all of the keys or none; says which one is held by whom when it cannot be had."""
        ...

    def release(self, keys: Iterable[str], holder: str, /) -> None: ...


class MemoryClaims:
    """The blackboard of one process. A holder may claim again what it already holds."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[str, int]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._held)

    def take(self, keys: Iterable[str], holder: str, /) -> Taken | None:
        wanted = list(keys)
        with self._lock:
            for key in wanted:
                held = self._held.get(key)
                if held is not None and held[0] != holder:
                    return Taken(key, held[0])
            for key in wanted:
                self._held[key] = (holder, self._held.get(key, (holder, 0))[1] + 1)
        return None

    def release(self, keys: Iterable[str], holder: str, /) -> None:
        with self._lock:
            for key in keys:
                held = self._held.get(key)
                if held is None or held[0] != holder:
                    continue
                if held[1] == 1:
                    del self._held[key]
                else:
                    self._held[key] = (holder, held[1] - 1)
