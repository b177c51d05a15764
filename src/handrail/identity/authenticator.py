"""Authenticator: from an API key or a signed session to the principal behind it, or to nobody."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import json
import logging
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from hashlib import sha256

from sqlalchemy.engine import Connection

from handrail.core.define.principal import Principal, intersect_permissions
from handrail.identity.api_keys import KeyText, new_key, parse_key
from handrail.identity.errors import NotSignedIn
from handrail.identity.permissions import permissions_of
from handrail.store.api_keys import get_key, mark_used
from handrail.store.database import Database
from handrail.store.revoked_sessions import is_revoked, revoke_session
from handrail.store.sign_ins import add_sign_in_link, use_sign_in_link
from handrail.store.tenants import Tenant, record_sign_in, tenants_of_user
from handrail.store.users import User, end_all_sessions, get_member, list_roles

_TOKEN_PREFIX = "hs1"
_PURPOSE = b"handrail: signed sessions, version 1"
_MAX_TOKEN = 2_000


@dataclass(frozen=True, slots=True)
class SignedSession:
    """What a token says."""

    tenant: str
    user: str
    epoch: int
    """The person's sign-in epoch when it was signed; they have signed out since when theirs is another."""
    expires_at: float
    link_at: float | None = None
    """When a sign-in link let them in; None where it was something else."""


class SessionSigner:
    """Signs and reads tokens, with a key of its own that is made from the house's."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        if len(key) < 32:
            raise ValueError("a key has 32 bytes or more")
        self._key = hmac.digest(key, _PURPOSE, sha256)

    def sign(self, said: SignedSession) -> str:
        body = _encoded(json.dumps(astuple(said)).encode())
        return f"{_TOKEN_PREFIX}.{body}.{_encoded(self._mac(body))}"

    def read(self, token: str, now: float) -> SignedSession | None:
        """What a token of ours says that is not over; None for anything else."""
        if not isinstance(token, str) or len(token) > _MAX_TOKEN or not token.isascii():
            return None
        parts = token.split(".")
        if len(parts) != 3 or parts[0] != _TOKEN_PREFIX:
            return None
        if not hmac.compare_digest(_encoded(self._mac(parts[1])), parts[2]):
            return None
        try:
            said = SignedSession(*json.loads(_decoded(parts[1])))
        except (ValueError, TypeError, binascii.Error):
            return None
        return said if now < said.expires_at else None

    def _mac(self, body: str) -> bytes:
        return hmac.digest(self._key, f"{_TOKEN_PREFIX}.{body}".encode(), sha256)


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


_log = logging.getLogger("handrail.identity")
_MAX_CACHED = 10_000

LINK_LIFETIME = 15 * 60.0
"""Seconds for which a sign-in link waits to be used."""

_USED_EVERY = 60.0
"""Seconds between two notes that a key was used."""


@dataclass(frozen=True, slots=True)
class _Identity:
    principal: Principal
    ends_at: float | None
    audience: str | None = None


@dataclass(frozen=True, slots=True)
class _CachedIdentity(_Identity):
    read_at: float = 0.0


class Authenticator:
    """Whom to let in. Any error lets nobody in, and every way to be nobody gets the same answer.

    What was read is used for `staleness` seconds: so long may a key that another process revoked still open.
    """

    def __init__(
        self, db: Database, key: bytes, *, lifetime: float = 12 * 3600.0, staleness: float = 1.0
    ) -> None:
        self._db = db
        self._signer = SessionSigner(key)
        self.lifetime = lifetime
        self._staleness = staleness
        self._known: dict[bytes, _CachedIdentity] = {}
        self._reading: dict[
            tuple[bytes, asyncio.AbstractEventLoop], asyncio.Task[_CachedIdentity | None]
        ] = {}
        self._forgotten = 0
        self._noted: dict[str, float] = {}
        """When it was last noted of a key that it was used."""

    async def principal_of(self, key: str, audience: str | None = None) -> Principal:
        """The principal that a key stands for. Raises `NotSignedIn` for one that does not hold here.

        `audience` is the door at which it is shown: a key that was made for another one opens nothing.
        """
        text = parse_key(key)
        if text is None:
            raise NotSignedIn
        now = self._db.clock.now()
        known = await self._let_in(
            key, text.tenant, now, lambda conn: _identity_of_key(conn, text, now), text.id
        )
        if audience is not None and known.audience not in (None, audience):
            raise NotSignedIn
        return known.principal

    async def principal_from_session(self, token: str) -> Principal:
        """The person that a token stands for. Raises `NotSignedIn` for one that does not hold."""
        now = self._db.clock.now()
        said = self._signer.read(token, now)
        if said is None:
            raise NotSignedIn
        known = await self._let_in(
            token, said.tenant, now, lambda conn: _identity_of_session(conn, said, token)
        )
        return known.principal

    async def came_by_link(self, token: str) -> bool:
        """Whether a link let somebody in with this token a moment ago, which shows anew who they are."""
        said = self._signer.read(token, now := self._db.clock.now())
        return said is not None and said.link_at is not None and now - said.link_at < LINK_LIFETIME

    async def sign_in(self, user: str, tenant: str, *, by_link: bool = False) -> str:
        """A token for a person who has shown who they are, if they belong to the tenant."""
        now = self._db.clock.now()

        def arrive(conn: Connection) -> User | None:
            found = get_member(conn, tenant, user)
            if found is None or found[0].disabled:
                return None
            record_sign_in(conn, tenant, user, at=now)
            return found[0]

        found = await self._db.write(tenant, arrive)
        if found is None:
            raise NotSignedIn
        said = SignedSession(tenant, user, found.sign_in_epoch, now + self.lifetime, now if by_link else None)
        return self._signer.sign(said)

    async def tenants_of(self, principal: Principal) -> list[Tenant]:
        """The tenants that a person belongs to, by name. Nobody else has more than one."""
        user = principal.user
        if user is None or principal.agent is not None or principal.key != "person":
            return []
        return await self._db.read_all(lambda conn: tenants_of_user(conn, user))

    async def switch(self, token: str, tenant: str) -> str:
        """A token of the same person for another tenant of theirs. A key cannot do that, only a session."""
        who = await self.principal_from_session(token)
        if who.user is None or tenant not in [one.id for one in await self.tenants_of(who)]:
            raise NotSignedIn
        return await self.sign_in(who.user, tenant)

    async def make_link(self, user: str, tenant: str, lifetime: float = LINK_LIFETIME) -> KeyText:
        """What lets a person in once, in the place of a password, if they belong to the tenant."""
        found = await self._db.read(tenant, lambda conn: get_member(conn, tenant, user))
        if found is None or found[0].disabled:
            raise NotSignedIn
        text, now = new_key(tenant, "hl"), self._db.clock.now()
        await self._db.write(
            tenant,
            lambda conn: add_sign_in_link(
                conn, tenant, text.id, user, text.digest, at=now, expires_at=now + lifetime
            ),
        )
        return text

    async def use_link(self, link: str) -> str:
        """A token for whoever a link lets in. Raises `NotSignedIn` when it was used, or is over."""
        text = parse_key(link, "hl")
        if text is None:
            raise NotSignedIn
        now = self._db.clock.now()
        user = await self._db.write(
            text.tenant, lambda conn: use_sign_in_link(conn, text.tenant, text.id, text.digest, at=now)
        )
        if user is None:
            raise NotSignedIn
        return await self.sign_in(user, text.tenant, by_link=True)

    async def end(self, token: str) -> bool:
        """End one session, and no other of the person; False when it does not hold any more."""
        said = self._signer.read(token, now := self._db.clock.now())
        if said is None:
            return False
        tenant, digest, ends = said.tenant, _digest(token), said.expires_at
        await self._db.write(
            tenant, lambda conn: revoke_session(conn, tenant, digest, at=now, expires_at=ends)
        )
        self.forget()
        return True

    async def sign_out(self, principal: Principal) -> bool:
        """End every session of a person, everywhere."""
        user = principal.user
        if user is None:
            return False
        ended = await self._db.write(
            principal.tenant, lambda conn: end_all_sessions(conn, principal.tenant, user)
        )
        self.forget()
        return ended

    def forget(self) -> None:
        """Read everything anew: something about keys, roles or people has changed."""
        self._known.clear()
        self._reading.clear()
        self._forgotten += 1

    async def _let_in(
        self,
        shown: str,
        tenant: str,
        now: float,
        look: Callable[[Connection], _Identity | None],
        key: str | None = None,
    ) -> _CachedIdentity:
        name = sha256(shown.encode()).digest()
        known = self._known.get(name)
        if known is None or self._db.clock.ticks() - known.read_at >= self._staleness:
            known = await self._read_once(name, tenant, look)
            if known is None:
                raise NotSignedIn
            if key is not None:
                self._used(tenant, key, now)
        if known.ends_at is not None and now >= known.ends_at:
            raise NotSignedIn
        return known

    async def _read_once(
        self, name: bytes, tenant: str, look: Callable[[Connection], _Identity | None]
    ) -> _CachedIdentity | None:
        """Many who show the same at once are looked up once."""
        one = (name, asyncio.get_running_loop())
        reading = self._reading.get(one)
        if reading is None:
            reading = self._reading[one] = asyncio.create_task(self._read(name, tenant, look))
            reading.add_done_callback(lambda done: self._reading.get(one) is done and self._reading.pop(one))
        return await asyncio.shield(reading)

    async def _read(
        self, name: bytes, tenant: str, look: Callable[[Connection], _Identity | None]
    ) -> _CachedIdentity | None:
        ticks, forgotten = self._db.clock.ticks(), self._forgotten
        try:
            found = await self._db.read(tenant, look)
        except Exception:
            _log.exception("who calls could not be read, so nobody was let in")
            return None
        if found is None:
            self._known.pop(name, None)
            return None
        known = _CachedIdentity(found.principal, found.ends_at, found.audience, ticks)
        return self._remember(name, known) if forgotten == self._forgotten else known

    def _remember(self, name: bytes, known: _CachedIdentity) -> _CachedIdentity:
        before = self._known.get(name)
        if before is not None and before.principal == known.principal:
            known = replace(known, principal=before.principal)  # decisions are remembered by it
        if len(self._known) >= _MAX_CACHED:
            self._known.clear()
        self._known[name] = known
        return known

    def _used(self, tenant: str, key: str, now: float) -> None:
        if now - self._noted.get(key, -_USED_EVERY) >= _USED_EVERY:
            if len(self._noted) >= _MAX_CACHED:
                self._noted.clear()
            self._noted[key] = now
            self._db.post(tenant, lambda conn: mark_used(conn, tenant, key, at=now, every=_USED_EVERY))


def _identity_of_key(conn: Connection, text: KeyText, now: float) -> _Identity | None:
    key = get_key(conn, text.tenant, text.id)
    if not text.is_of(None if key is None else key.digest) or key is None or not key.is_live(now):
        return None
    roles, permissions = frozenset[str](), key.permissions
    if key.user is not None:
        found = get_member(conn, text.tenant, key.user)
        if found is None or found[0].disabled:
            return None
        roles = found[1]
        permissions = intersect_permissions(permissions, permissions_of(roles, list_roles(conn, text.tenant)))
    principal = Principal(
        text.tenant,
        key.user,
        roles,
        permissions,
        agent=key.agent or (key.name if key.kind == "agent" else None),  # no agent passes for a person
        key=key.kind,
        scope=key.tools,
        ceiling=key.ceiling,
    )
    return _Identity(principal, key.expires_at, key.audience)


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def _identity_of_session(conn: Connection, said: SignedSession, token: str) -> _Identity | None:
    found = get_member(conn, said.tenant, said.user)
    if is_revoked(conn, said.tenant, _digest(token)):
        return None
    if found is None or found[0].disabled or found[0].sign_in_epoch != said.epoch:
        return None
    permissions = permissions_of(found[1], list_roles(conn, said.tenant))
    principal = Principal(said.tenant, said.user, found[1], permissions, key="person")
    return _Identity(principal, said.expires_at)
