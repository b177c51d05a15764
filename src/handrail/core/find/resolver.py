"""Resolver: the one way from a principal to the tools its tenant has, where some are stored."""

from __future__ import annotations

from typing import Protocol

from handrail.core.define.principal import Principal
from handrail.core.find.view import TenantView


class Resolver(Protocol):
    """Gives views fresh enough to decide by. One that cannot be had is an error, never an old one."""

    def at_hand(self, principal: Principal, /) -> TenantView | None:
        """The view, where it need not be read."""
        ...

    async def view(self, principal: Principal, /) -> TenantView:
        """The view, read if it must be."""
        ...
