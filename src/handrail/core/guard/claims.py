"""Claims: who is writing what right now, so that siblings do not write it too."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ClaimConflict:
    """A resource somebody else holds."""

    key: str
    holder: str


class Claims(Protocol):
    """A blackboard of claimed resources. Each tenant has its own, and learns nothing of the others'."""

    def take(self, keys: Iterable[str], tenant: str, holder: str, /) -> ClaimConflict | None:
        """Claim all of the keys or none; says which one is held by whom when it cannot be had.

        A key that ends in `/` stands for everything below it.
        """
        ...

    def release(self, keys: Iterable[str], tenant: str, holder: str, /) -> None: ...


class MemoryClaims:
    """The blackboard of one process. A holder may claim again what it already holds."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], tuple[str, int]] = {}
        """By tenant and key: the holder, and how often it holds it."""
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._held)

    def take(self, keys: Iterable[str], tenant: str, holder: str, /) -> ClaimConflict | None:
        claimed = list(keys)
        with self._lock:
            for key in claimed:
                for place in self._touching(tenant, key):
                    if self._held[place][0] != holder:
                        return ClaimConflict(place[1], self._held[place][0])
            for key in claimed:
                times = self._held.get((tenant, key), (holder, 0))[1]
                self._held[tenant, key] = (holder, times + 1)
        return None

    def _touching(self, tenant: str, key: str) -> Iterator[tuple[str, str]]:
        """What is held of a key: itself, what stands for it from above, and what lies below it."""
        if not self._held:
            return
        if (tenant, key) in self._held:
            yield tenant, key
        at = key.find("/", 0, -1)
        while at >= 0:
            if (tenant, key[: at + 1]) in self._held:
                yield tenant, key[: at + 1]
            at = key.find("/", at + 1, -1)
        if key.endswith("/"):
            yield from (held for held in self._held if held[0] == tenant and held[1].startswith(key))

    def release(self, keys: Iterable[str], tenant: str, holder: str, /) -> None:
        with self._lock:
            for key in keys:
                held = self._held.get((tenant, key))
                if held is None or held[0] != holder:
                    continue
                if held[1] == 1:
                    del self._held[tenant, key]
                else:
                    self._held[tenant, key] = (holder, held[1] - 1)
