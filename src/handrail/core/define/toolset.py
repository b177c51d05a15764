"""Toolset: a source of tools that is asked, rather than registered: lazily found, per tenant, remote."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool


@runtime_checkable
class Toolset(Protocol):
    """Gives tools to those who may have them. What it holds back is unknown to the principal."""

    async def tools(self, principal: Principal, /) -> Sequence[Tool]:
        """What this principal gets from here, loaded."""
        ...

    async def find(self, name: str, principal: Principal, /) -> Tool | None:
        """The tool of that name for this principal, or nothing."""
        ...


@runtime_checkable
class OnDemand(Protocol):
    """A toolset that loads a tool when it is called. Until then its name and description are known."""

    async def known(self, principal: Principal, /) -> Sequence[Tool]:
        """What is there for this principal and is not loaded: the same objects while nothing changes.

        They have no schema and no body. They are shown and found by their words, never called.
        """
        ...


@runtime_checkable
class Attached(Protocol):
    """A toolset that works with what the Handrail has that it is given to, and holds something open."""

    def attach(self, secrets: Callable[[str, Any], str | None] | None, pins: Any, /) -> None:
        """Take `(name, principal) -> the secret, or None`, and where pins are kept; None without any."""
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...
