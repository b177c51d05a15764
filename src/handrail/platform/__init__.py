"""What all doors share: one Handrail, its services, who may come in, and the calls in flight.

Every command imports something of this package, so what only a server needs is not loaded here.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from handrail.core.clock import Clock
from handrail.core.errors import UsageError
from handrail.identity.errors import NotSignedIn
from handrail.platform.calls import RunningCalls

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from handrail.core.define.principal import Principal
    from handrail.engine.handrail import Handrail
    from handrail.identity.services import Services
    from handrail.platform.events import EventReader
    from handrail.store.embeds import Embed
    from handrail.store.users import User

_log = logging.getLogger("handrail.health")
_DATABASE_TIMEOUT = 5.0


class AuthBackend(Protocol):
    """Finds the principal of a key or a session. Raises `NotSignedIn` for one that is not valid here."""

    async def principal_of(self, key: str, audience: str | None = None) -> Principal: ...

    async def principal_from_session(self, token: str) -> Principal: ...


class FixedKeys:
    """A few keys that are known beforehand, for a platform without a database."""

    def __init__(self, keys: Mapping[str, Principal]) -> None:
        self._keys = dict(keys)

    async def principal_of(self, key: str, audience: str | None = None) -> Principal:
        principal = self._keys.get(key)
        if principal is None:
            raise NotSignedIn
        return principal

    async def principal_from_session(self, token: str) -> Principal:
        raise NotSignedIn


@dataclass(frozen=True, slots=True)
class Platform:
    """One Handrail for all doors. They need not ask whether it has a database: `platform_of` did."""

    hr: Handrail
    auth: AuthBackend
    events: EventReader
    services: Services | None = None
    """People, keys and tools of tenants; None without a database."""
    clock: Clock = field(default_factory=Clock, repr=False)
    running: RunningCalls = field(default_factory=RunningCalls, repr=False)
    """Calls that a door started and that go on without it."""
    closing: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    """Set when the server is asked to stop: what waits for a person or follows a stream stops waiting."""
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def derived(self, purpose: str) -> bytes:
        """A key for one purpose: the same in all processes of a database, or in this one without any."""
        if self.services is not None:
            return self.services.seal.derived(purpose)
        return hmac.digest(self._secret, purpose.encode(), "sha256")

    def now(self) -> float:
        """Seconds since 1970, by the clock of the database if there is one."""
        return self.clock.now()

    @property
    def can_sign_in(self) -> bool:
        """Whether people have accounts here, and what belongs to an account."""
        return self.services is not None

    @property
    def has_reviewers(self) -> bool:
        """Whether anybody beyond this process could answer what a call asks."""
        return self.services is not None

    def require_services(self) -> Services:
        """People, keys and tools of tenants; for what exists only with a database."""
        if self.services is None:
            raise UsageError("This takes a database: start the server with --database.")
        return self.services

    async def members(self, tenant: str) -> list[User]:
        """The people of a tenant; nobody is known without a database."""
        if self.services is None:
            return []
        from handrail.store.users import list_members

        return [user for user, _ in await self.services.db.read(tenant, list_members, tenant)]

    async def embed_of_token(self, token: str) -> tuple[str, Embed] | None:
        """The tenant and the embed that a token opens."""
        return None if self.services is None else await self.services.embeds.by_token(token)

    async def user_names(self, tenant: str, ids: Iterable[str]) -> dict[str, str]:
        """What members of a tenant are called, by id; those without a known name are left out."""
        return {} if self.services is None else await self.services.people.names(tenant, ids)

    async def is_ready(self) -> bool:
        """Whether the database answers in time; without one, there is nothing to wait for."""
        if self.services is None:
            return True
        from handrail.store.tenants import get_tenant

        try:
            async with asyncio.timeout(_DATABASE_TIMEOUT):
                await self.services.db.read("health", lambda conn: get_tenant(conn, "health"))
        except Exception:
            _log.warning("the database did not answer", exc_info=True)
            return False
        return True


def platform_of(hr: Handrail, keys: Mapping[str, Principal] | None = None) -> Platform:
    """The platform over a Handrail. Without a database, `keys` are the only ones that are valid."""
    if hr.services is None:
        from handrail.platform.events import MemoryEventReader

        return Platform(hr, FixedKeys(keys or {}), MemoryEventReader(hr))
    if keys:
        raise UsageError("A platform with a database takes its keys from there: leave `keys` out.")
    from handrail.identity.services import Services
    from handrail.platform.stored_events import StoreEventReader

    services = hr.services
    assert isinstance(services, Services)
    events = StoreEventReader(hr, services.db)
    return Platform(hr, services.authenticator, events, services, services.db.clock)
