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
from handrail.store.sign_ins import add_sign_in_link, is_revoked, revoke_session, use_sign_in_link
from handrail.store.tenants import Tenant, record_sign_in, tenants_of_user
from handrail.store.users import end_all_sessions, get_active_member, list_roles

_TOKEN_PREFIX = "hs1"
_PURPOSE = b"handrail: signed sessions, version 1"
_MAX_TOKEN = 2_000


@dataclass(frozen=True, slots=True)
class SignedSession:
    """What a token holds."""

    tenant: str
    user: str
    epoch: int
    """The person's sign-in epoch when it was signed; they have signed out since when theirs is another."""
    expires_at: float
    link_at: float | None = None
    """When a sign-in link signed them in; None where it was something else."""


class SessionSigner:
    """Signs and reads tokens, with a key of its own that is derived from the given one."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        if len(key) < 32:
            raise ValueError("a key has 32 bytes or more")
        self._key = hmac.digest(key, _PURPOSE, sha256)

    def sign(self, session: SignedSession) -> str:
        body = _encoded(json.dumps(astuple(session)).encode())
        return f"{_TOKEN_PREFIX}.{body}.{_encoded(self._mac(body))}"

    def read(self, token: str, now: float) -> SignedSession | None:
        """The session of a token that we signed and that has not expired; None for anything else."""
        if not isinstance(token, str) or len(token) > _MAX_TOKEN or not token.isascii():
            return None
        parts = token.split(".")
        if len(parts) != 3 or parts[0] != _TOKEN_PREFIX:
            return None
        if not hmac.compare_digest(_encoded(self._mac(parts[1])), parts[2]):
            return None
        try:
            session = SignedSession(*json.loads(_decoded(parts[1])))
        except (ValueError, TypeError, binascii.Error):
            return None
        return session if now < session.expires_at else None

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
"""Seconds between two records that a key was used."""


@dataclass(frozen=True, slots=True)
class _Identity:
    principal: Principal
    ends_at: float | None
    audience: str | None = None
    read_at: float = 0.0


class Authenticator:
    """Who a key or session belongs to. Any error refuses, and every refusal is the same.

    What was read is used for `staleness` seconds: so long may a key that another process revoked still open.
    """

    def __init__(
        self, db: Database, key: bytes, *, lifetime: float = 12 * 3600.0, staleness: float = 1.0
    ) -> None:
        self._db = db
        self._signer = SessionSigner(key)
        self.lifetime = lifetime
        self._staleness = staleness
        self._cache: dict[bytes, _Identity] = {}
        self._reading: dict[tuple[bytes, asyncio.AbstractEventLoop], asyncio.Task[_Identity | None]] = {}
        self._generation = 0
        self._use_recorded: dict[str, float] = {}
        """When it was last recorded of a key that it was used."""

    async def principal_of(self, key: str, audience: str | None = None) -> Principal:
        """The principal that a key stands for. Raises `NotSignedIn` for one that does not hold here.

        `audience` is where it is used: a key that was made for another one is refused.
        """
        text = parse_key(key)
        if text is None:
            raise NotSignedIn
        now = self._db.clock.now()
        identity = await self._identify(
            key, text.tenant, now, lambda conn: _identity_of_key(conn, text, now), text.id
        )
        if audience is not None and identity.audience not in (None, audience):
            raise NotSignedIn
        return identity.principal

    async def principal_from_session(self, token: str) -> Principal:
        """The person that a token stands for. Raises `NotSignedIn` for one that does not hold."""
        now = self._db.clock.now()
        session = self._signer.read(token, now)
        if session is None:
            raise NotSignedIn
        identity = await self._identify(
            token, session.tenant, now, lambda conn: _identity_of_session(conn, session, token)
        )
        return identity.principal

    async def came_by_link(self, token: str) -> bool:
        """Whether the session of this token was opened by a link a moment ago, which proves who they are."""
        session = self._signer.read(token, now := self._db.clock.now())
        return session is not None and session.link_at is not None and now - session.link_at < LINK_LIFETIME

    async def sign_in(self, user: str, tenant: str, *, by_link: bool = False) -> str:
        """A token for a person who has proved who they are, if they belong to the tenant."""
        now = self._db.clock.now()

        def enter(conn: Connection) -> int | None:
            member = get_active_member(conn, tenant, user)
            if member is None:
                return None
            record_sign_in(conn, tenant, user, at=now)
            return member[0].sign_in_epoch

        epoch = await self._db.write(tenant, enter)
        if epoch is None:
            raise NotSignedIn
        session = SignedSession(tenant, user, epoch, now + self.lifetime, now if by_link else None)
        return self._signer.sign(session)

    async def tenants_of(self, principal: Principal) -> list[Tenant]:
        """The tenants that a person belongs to, by name. Nobody else has more than one."""
        user = principal.user
        if user is None or principal.agent is not None or principal.key != "person":
            return []
        return await self._db.read_all(tenants_of_user, user)

    async def switch(self, token: str, tenant: str) -> str:
        """A token of the same person for another tenant of theirs. A key cannot do that, only a session."""
        who = await self.principal_from_session(token)
        if who.user is None or tenant not in [membership.id for membership in await self.tenants_of(who)]:
            raise NotSignedIn
        return await self.sign_in(who.user, tenant)

    async def make_link(self, user: str, tenant: str, lifetime: float = LINK_LIFETIME) -> KeyText:
        """A link that signs a person in once, instead of a password, if they belong to the tenant."""
        if await self._db.read(tenant, get_active_member, tenant, user) is None:
            raise NotSignedIn
        text, now = new_key(tenant, "hl"), self._db.clock.now()
        await self._db.write(
            tenant, add_sign_in_link, tenant, text.id, user, text.digest, at=now, expires_at=now + lifetime
        )
        return text

    async def use_link(self, link: str) -> str:
        """A token for the person of a link. Raises `NotSignedIn` when it was used, or has expired."""
        text = parse_key(link, "hl")
        if text is None:
            raise NotSignedIn
        now = self._db.clock.now()
        user = await self._db.write(text.tenant, use_sign_in_link, text.tenant, text.id, text.digest, at=now)
        if user is None:
            raise NotSignedIn
        return await self.sign_in(user, text.tenant, by_link=True)

    async def end(self, token: str) -> bool:
        """End one session, and no other of the person; False when it does not hold any more."""
        session = self._signer.read(token, now := self._db.clock.now())
        if session is None:
            return False
        tenant, digest, ends = session.tenant, _digest(token), session.expires_at
        await self._db.write(tenant, revoke_session, tenant, digest, at=now, expires_at=ends)
        self.forget()
        return True

    async def sign_out(self, principal: Principal) -> bool:
        """End every session of a person, everywhere."""
        user = principal.user
        if user is None:
            return False
        ended = await self._db.write(principal.tenant, end_all_sessions, principal.tenant, user)
        self.forget()
        return ended

    def forget(self) -> None:
        """Read everything anew: something about keys, roles or people has changed."""
        self._cache.clear()
        self._reading.clear()
        self._generation += 1

    async def _identify(
        self,
        credential: str,
        tenant: str,
        now: float,
        load: Callable[[Connection], _Identity | None],
        key: str | None = None,
    ) -> _Identity:
        name = sha256(credential.encode()).digest()
        identity = self._cache.get(name)
        if identity is None or self._db.clock.ticks() - identity.read_at >= self._staleness:
            identity = await self._read_once(name, tenant, load)
            if identity is None:
                raise NotSignedIn
            if key is not None:
                self._used(tenant, key, now)
        if identity.ends_at is not None and now >= identity.ends_at:
            raise NotSignedIn
        return identity

    async def _read_once(
        self, name: bytes, tenant: str, load: Callable[[Connection], _Identity | None]
    ) -> _Identity | None:
        """The same credential, used many times at once, is looked up once."""
        task_key = (name, asyncio.get_running_loop())
        task = self._reading.get(task_key)
        if task is None:
            task = self._reading[task_key] = asyncio.create_task(self._read(name, tenant, load))
            task.add_done_callback(
                lambda done: self._reading.get(task_key) is done and self._reading.pop(task_key)
            )
        return await asyncio.shield(task)

    async def _read(
        self, name: bytes, tenant: str, load: Callable[[Connection], _Identity | None]
    ) -> _Identity | None:
        ticks, generation = self._db.clock.ticks(), self._generation
        try:
            identity = await self._db.read(tenant, load)
        except Exception:
            _log.exception("who calls could not be read, so nobody was let in")
            return None
        if identity is None:
            self._cache.pop(name, None)
            return None
        identity = replace(identity, read_at=ticks)
        return self._remember(name, identity) if generation == self._generation else identity

    def _remember(self, name: bytes, identity: _Identity) -> _Identity:
        earlier = self._cache.get(name)
        if earlier is not None and earlier.principal == identity.principal:
            identity = replace(identity, principal=earlier.principal)  # decisions are remembered by it
        if len(self._cache) >= _MAX_CACHED:
            self._cache.clear()
        self._cache[name] = identity
        return identity

    def _used(self, tenant: str, key: str, now: float) -> None:
        if now - self._use_recorded.get(key, -_USED_EVERY) >= _USED_EVERY:
            if len(self._use_recorded) >= _MAX_CACHED:
                self._use_recorded.clear()
            self._use_recorded[key] = now
            self._db.post(tenant, mark_used, tenant, key, at=now, every=_USED_EVERY)


def _identity_of_key(conn: Connection, text: KeyText, now: float) -> _Identity | None:
    key = get_key(conn, text.tenant, text.id)
    if not text.is_of(None if key is None else key.digest) or key is None or not key.is_live(now):
        return None
    roles, permissions = frozenset[str](), key.permissions
    if key.user is not None:
        member = get_active_member(conn, text.tenant, key.user)
        if member is None:
            return None
        roles = member[1]
        permissions = intersect_permissions(permissions, permissions_of(roles, list_roles(conn, text.tenant)))
    agent = key.agent or (key.name if key.kind == "agent" else None)  # no agent passes for a person
    principal = Principal(
        text.tenant,
        key.user,
        roles,
        permissions,
        agent=agent,
        key=key.kind,
        scope=key.tools,
        ceiling=key.ceiling,
        key_id=key.id if key.user is None and agent is None else None,
    )
    return _Identity(principal, key.expires_at, key.audience)


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def _identity_of_session(conn: Connection, session: SignedSession, token: str) -> _Identity | None:
    member = get_active_member(conn, session.tenant, session.user)
    if is_revoked(conn, session.tenant, _digest(token)):
        return None
    if member is None or member[0].sign_in_epoch != session.epoch:
        return None
    permissions = permissions_of(member[1], list_roles(conn, session.tenant))
    principal = Principal(session.tenant, session.user, member[1], permissions, key="person")
    return _Identity(principal, session.expires_at)
