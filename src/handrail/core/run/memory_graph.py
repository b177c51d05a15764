"""Waiting: which jobs in memory wait for which others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Key = tuple[str, str]
"""Tenant and call."""


class Waiting:
    """Jobs that wait, the calls that each still waits for, and the other way round."""

    def __init__(self) -> None:
        self._parents: dict[Key, dict[Key, None]] = {}
        self._children: dict[Key, list[Key]] = {}

    def add(self, key: Key, parents: Iterable[str]) -> None:
        self._parents[key] = {(key[0], parent): None for parent in parents}
        for parent in self._parents[key]:
            self._children.setdefault(parent, []).append(key)

    def of(self, key: Key) -> tuple[str, ...]:
        """The calls that a job still waits for."""
        return tuple(call_id for _, call_id in self._parents.get(key, ()))

    def is_waited_for(self, key: Key) -> bool:
        return key in self._children

    def completed(self, parent: Key) -> Iterator[Key]:
        """Those that need not wait any more."""
        for key in self._children.pop(parent, ()):
            if (left := self._parents.get(key)) is not None:
                left.pop(parent, None)
                if not left:
                    yield self.forget(key)

    def below(self, parent: Key) -> Iterator[Key]:
        """All that come after it, at any distance: they need not wait any more either."""
        left = [parent]
        while left:
            for key in self._children.pop(left.pop(), ()):
                if key in self._parents:
                    left.append(key)
                    yield self.forget(key)

    def forget(self, key: Key) -> Key:
        self._parents.pop(key, None)
        return key
