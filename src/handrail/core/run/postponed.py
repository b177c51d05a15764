"""Postponed: what a port is told only once it is sure that we are the ones to tell it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Postponed:
    """Things said to ports, in order, that take effect when somebody says `go`, or never."""

    def __init__(self) -> None:
        self._said: list[Callable[[], object]] = []

    def of(self, port: object, *methods: str) -> Any:
        """The port, but these methods of it are postponed. They must be ones that nobody awaits."""
        return _Postponing(port, frozenset(methods), self._said)

    def __bool__(self) -> bool:
        return bool(self._said)

    def go(self) -> None:
        for say in self._said:
            say()
        self._said.clear()


class _Postponing:
    def __init__(self, port: object, methods: frozenset[str], said: list[Callable[[], object]]) -> None:
        self._port = port
        self._methods = methods
        self._said = said

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._port, name)
        if name not in self._methods:
            return real
        return lambda *given: self._said.append(lambda: real(*given))
