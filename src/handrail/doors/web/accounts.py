"""Who looks, in words for the corner of every page. Read once in a while, not for every page."""

from __future__ import annotations

from dataclasses import dataclass

from handrail.core.define.principal import Principal
from handrail.platform import Platform

_FRESH = 10.0
_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Account:
    """A reader as pages call them."""

    name: str
    tenant: str
    """The name of the tenant that they look at."""
    several: bool = False
    """Whether they belong to others too."""


class AccountCache:
    """The accounts of those who look."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._entries: dict[tuple[str, str], tuple[float, Account]] = {}

    async def of(self, who: Principal) -> Account:
        """How this reader is called."""
        plain = Account(who.agent or who.user or "You", who.tenant)
        if not self._platform.can_sign_in or who.user is None:
            return plain
        services = self._platform.require_services()
        ticks, key = self._platform.clock.ticks(), (who.tenant, who.user)
        entry = self._entries.get(key)
        if entry is None or ticks - entry[0] >= _FRESH:
            names = await services.people.names(who.tenant, [who.user])
            tenants = {tenant.id: tenant.name for tenant in await services.authenticator.tenants_of(who)}
            name = names.get(who.user, plain.name)
            entry = (ticks, Account(name, tenants.get(who.tenant, who.tenant), len(tenants) > 1))
            if len(self._entries) >= _REMEMBERED:
                self._entries.clear()
            self._entries[key] = entry
        return entry[1]

    def forget(self) -> None:
        """Somebody has another name now."""
        self._entries.clear()
