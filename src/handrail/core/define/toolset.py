"""Toolset: a source of tools that is asked, rather than registered: lazily found, per tenant, remote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

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
