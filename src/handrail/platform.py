"""Platform: what every door stands before. One Handrail, and who may come in."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from handrail.core.define.principal import Principal
from handrail.core.errors import UsageError
from handrail.engine import Handrail
from handrail.identity.errors import NotSignedIn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handrail.identity.offices import Offices


class Who(Protocol):
    """Tells who shows a key or a session. Raises `NotSignedIn` for one that does not hold here."""

    async def principal_of(self, key: str, audience: str | None = None) -> Principal: ...

    async def principal_from_session(self, token: str) -> Principal: ...


class FixedKeys:
    """A few keys that are known beforehand, for a platform without a database."""

    def __init__(self, keys: Mapping[str, Principal]) -> None:
        self._keys = dict(keys)

    async def principal_of(self, key: str, audience: str | None = None) -> Principal:
        found = self._keys.get(key)
        if found is None:
            raise NotSignedIn
        return found

    async def principal_from_session(self, token: str) -> Principal:
        raise NotSignedIn


@dataclass(frozen=True, slots=True)
class Platform:
    """One Handrail for all doors."""

    hr: Handrail
    who: Who
    offices: Offices | None = None
    """People, keys and tools of tenants; None without a database."""
    closing: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    """Set when the server is asked to stop: whoever waits for a person or follows a stream stops waiting."""
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def derived(self, purpose: str) -> bytes:
        """A key for one purpose: the same in all processes of a database, or in this one without any."""
        if self.offices is not None:
            return self.offices.seal.derived(purpose)
        return hmac.digest(self._secret, purpose.encode(), "sha256")


def platform_of(hr: Handrail, keys: Mapping[str, Principal] | None = None) -> Platform:
    """The platform over a Handrail. Without a database, only the keys open it that are given here."""
    if hr.offices is None:
        return Platform(hr, FixedKeys(keys or {}))
    if keys:
        raise UsageError("A platform with a database takes its keys from there: leave `keys` out.")
    from handrail.identity.offices import Offices

    assert isinstance(hr.offices, Offices)
    return Platform(hr, hr.offices.doorkeeper, hr.offices)
