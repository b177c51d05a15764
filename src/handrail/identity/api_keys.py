"""API keys: how keys, links and share tokens are spelled; KeyAdmin makes, lists and revokes keys."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal, get_args

from sqlalchemy.engine import Connection

from handrail.core.define.levels import LEVELS, Level
from handrail.core.define.principal import KeyKind, Principal
from handrail.core.errors import UsageError
from handrail.identity.errors import PermissionDenied
from handrail.identity.permissions import check_bounds, check_grant, check_permissions, require_permission
from handrail.store.api_keys import ApiKey, add_key, list_keys, revoke_key
from handrail.store.database import Database
from handrail.store.tenants import require_tenant
from handrail.store.users import get_active_member

_KEY_FORMAT = re.compile(r"(hr|hl|hj|he)_([a-z0-9]+(?:-[a-z0-9]+)*)_([0-9a-f]{16})_([0-9a-f]{64})\Z")
_MAX_KEY = 160
_NO_DIGEST = sha256(b"no key has this digest").hexdigest()
TokenKind = Literal["hr", "hl", "hj", "he"]


@dataclass(frozen=True, slots=True)
class KeyText:
    """A key in its parts."""

    tenant: str
    id: str
    secret: str = field(repr=False)
    mark: TokenKind = "hr"

    @property
    def prefix(self) -> str:
        """What may be shown of it."""
        return f"{self.mark}_{self.tenant}_{self.id}"

    def reveal(self) -> str:
        """The key itself: to be shown once, to whoever asked for it."""
        return f"{self.prefix}_{self.secret}"

    @property
    def digest(self) -> str:
        return sha256(self.reveal().encode()).hexdigest()

    def is_of(self, digest: str | None) -> bool:
        """Whether this is the key of that digest. It takes as long where there is none to compare with."""
        same = hmac.compare_digest(self.digest, digest or _NO_DIGEST)
        return same and digest is not None


def new_key(tenant: str, mark: TokenKind = "hr") -> KeyText:
    return KeyText(tenant, secrets.token_hex(8), secrets.token_hex(32), mark)


def parse_key(text: str, mark: TokenKind = "hr") -> KeyText | None:
    """The parts of a key, or None if it cannot be one."""
    if not isinstance(text, str) or len(text) > _MAX_KEY:
        return None
    match = _KEY_FORMAT.match(text)
    return None if match is None or match[1] != mark else KeyText(match[2], match[3], match[4], mark)


_KINDS = ("agent", "person", "service")

Audience = Literal["api", "mcp"]
AUDIENCES: tuple[Audience, ...] = get_args(Audience)
"""Where a key can be used; one that is stolen from the one is refused at the other."""


class KeyAdmin:
    """The keys of a tenant, for whoever may manage them. `changed` is called when one was revoked."""

    def __init__(self, db: Database, changed: Callable[[], None] = lambda: None) -> None:
        self._db = db
        self._changed = changed

    async def make(
        self,
        by: Principal,
        name: str,
        kind: KeyKind = "agent",
        *,
        user: str | None = None,
        agent: str | None = None,
        permissions: Iterable[str] | None = None,
        tools: Iterable[str] | None = None,
        ceiling: Level | None = None,
        audience: str | None = None,
        lifetime: float | None = None,
    ) -> tuple[KeyText, ApiKey]:
        """A new key; show its text once. It reaches no more than whoever makes it.

        A key of a user gives at most what that user holds when it is used. Without `permissions` it gives
        what its maker holds; a key of nobody then gives none.
        """
        require_permission(by, by.tenant, "keys.manage")
        _check_new_key(name, kind, ceiling, lifetime)
        if audience is not None and audience not in AUDIENCES:
            raise UsageError(f"A key is for {' or '.join(AUDIENCES)}, or for both, not for {audience!r}.")
        if kind == "person":
            _require_own_key(by, user)
        reach = None if tools is None else _patterns(tools)
        check_bounds(by, reach, ceiling)
        if permissions is not None:
            granted = check_permissions(permissions)
        else:
            granted = frozenset() if user is None else by.permissions
        check_grant(by, granted)
        await self._db.read(by.tenant, _check_owner, by.tenant, user)
        text, now = new_key(by.tenant), self._db.clock.now()
        key = ApiKey(
            id=text.id,
            name=name.strip(),
            kind=kind,
            permissions=granted,
            created_at=now,
            created_by=by.user or by.agent or "unknown",
            digest=text.digest,
            user=user,
            agent=agent,
            tools=reach,
            ceiling=ceiling,
            audience=audience,
            expires_at=None if lifetime is None else now + lifetime,
        )
        await self._db.write(by.tenant, add_key, by.tenant, key)
        return text, key

    async def list(self, by: Principal) -> list[ApiKey]:
        """The keys of the tenant, the newest first; none can be read from it."""
        require_permission(by, by.tenant, "keys.manage")
        return await self._db.read(by.tenant, list_keys, by.tenant)

    async def revoke(self, by: Principal, key: str) -> bool:
        """Revoke a key for good; False when there is none, or it was revoked before."""
        require_permission(by, by.tenant, "keys.manage")
        at = self._db.clock.now()
        ended = await self._db.write(by.tenant, revoke_key, by.tenant, key, at=at)
        self._changed()
        return ended


def _check_new_key(name: str, kind: str, ceiling: str | None, lifetime: float | None) -> None:
    if kind not in _KINDS:
        raise UsageError(f"{kind!r} is no kind of key. Use one of: {', '.join(_KINDS)}.")
    if not name.strip():
        raise UsageError("Give the key a name, so that people know what it is for.")
    if ceiling is not None and ceiling not in LEVELS:
        raise UsageError(f"{ceiling!r} is no level. Use one of: {', '.join(LEVELS)}.")
    if lifetime is not None and not lifetime > 0:
        raise UsageError("The lifetime of a key is a number of seconds above 0.")


def _patterns(tools: Iterable[str]) -> tuple[str, ...]:
    if isinstance(tools, str):
        raise UsageError(f"Give tools as a list, such as [{tools!r}].")
    return tuple(tools)


def _check_owner(conn: Connection, tenant: str, user: str | None) -> None:
    require_tenant(conn, tenant)
    if user is not None and get_active_member(conn, tenant, user) is None:
        raise UsageError(f"Nobody with the id {user!r} belongs to {tenant}.")


def _require_own_key(by: Principal, user: str | None) -> None:
    """A person's key can confirm in their name, so nobody but they, or the console, makes one."""
    if user is None:
        raise UsageError("A person's key belongs to a person: give their user id.")
    if by.key != "person" or by.user not in (user, "console"):
        raise PermissionDenied("A person's key is made by that person.")
