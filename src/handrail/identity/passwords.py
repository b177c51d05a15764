"""Passwords: which may be chosen, how they are hashed, and PasswordAdmin, which signs people in with one."""

from __future__ import annotations

import asyncio
import secrets
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy.engine import Connection

from handrail.core.define.principal import Principal
from handrail.core.errors import UsageError
from handrail.identity.authenticator import Authenticator
from handrail.identity.errors import NotSignedIn, TooManyAttempts, WrongPassword
from handrail.store import users
from handrail.store.database import Database
from handrail.store.sign_ins import clear_attempts, count_attempt, undo_attempt
from handrail.store.tenants import last_tenant_of_user, tenants_of_user
from handrail.store.users import User

if TYPE_CHECKING:
    from argon2 import PasswordHasher

T = TypeVar("T")
MIN_PASSWORD = 12
MAX_PASSWORD = 1_000

_HASH_THREADS = 2
"""How many are hashed at a time: each takes 64 MB while it lasts."""


class WeakPassword(UsageError):
    """This password cannot be chosen."""


def check_password(password: str, email: str) -> None:
    """Raise unless a person of that address may choose this password."""
    if len(password) < MIN_PASSWORD:
        raise WeakPassword(f"A password has at least {MIN_PASSWORD} characters. Three or four words will do.")
    if len(password) > MAX_PASSWORD:
        raise WeakPassword(f"A password has at most {MAX_PASSWORD:,} characters.")
    if unicodedata.normalize("NFKC", password).strip().casefold() == email.casefold():
        raise WeakPassword("Your address is no password: whoever knows you would try it first.")


class Argon2Hasher:
    """Hashes and verifies with argon2id, as the library recommends it."""

    def __init__(self, make: Callable[[], PasswordHasher] | None = None) -> None:
        self._make = make or _default_hasher
        self._threads = ThreadPoolExecutor(_HASH_THREADS, thread_name_prefix="handrail-hash")

    async def hash(self, password: str) -> str:
        return await self._run(lambda: self._hasher.hash(_password_bytes(password)))

    async def verify(self, hashed: str | None, password: str) -> bool:
        """Whether it is that password. Where there is none to compare with, it takes as long and is False."""
        if len(password) > MAX_PASSWORD:
            hashed, password = None, ""
        return await self._run(lambda: self._verify(hashed, password))

    def is_outdated(self, hashed: str) -> bool:
        """Whether it was hashed otherwise than new ones are."""
        return self._hasher.check_needs_rehash(hashed)

    def _verify(self, hashed: str | None, password: str) -> bool:
        from argon2.exceptions import Argon2Error, InvalidHashError

        nobodys = self._nobodys  # computed before anything is compared, so that its time says nothing
        try:
            self._hasher.verify(hashed or nobodys, _password_bytes(password))
        except (Argon2Error, InvalidHashError):
            return False
        return hashed is not None

    async def _run(self, fn: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, fn)

    @cached_property
    def _hasher(self) -> PasswordHasher:
        return self._make()

    @cached_property
    def _nobodys(self) -> str:
        """The hash of what nobody knows."""
        return self._hasher.hash(secrets.token_bytes(32))


def _default_hasher() -> PasswordHasher:
    from argon2 import PasswordHasher  # only where somebody has a password

    return PasswordHasher()


def _password_bytes(password: str) -> bytes:
    """One spelling of what looks the same; half a surrogate pair is no reason to fail."""
    return unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")


ATTEMPT_WINDOW = 15 * 60.0
"""Seconds for which attempts are counted."""

MAX_ATTEMPTS = 5
"""Wrong passwords for one address within that time."""

MAX_ATTEMPTS_PER_SOURCE = 30
"""The same from one network address, which several people may share."""


class PasswordAdmin:
    """Every failed sign-in gets the same answer after the same work, whatever the reason."""

    def __init__(
        self, db: Database, authenticator: Authenticator, hashing: Argon2Hasher | None = None
    ) -> None:
        self._db = db
        self._authenticator = authenticator
        self._hashing = hashing or Argon2Hasher()

    async def sign_in(
        self, email: str, password: str, tenant: str | None = None, *, source: str | None = None
    ) -> str:
        """A token for whoever knows the password: for the tenant, else the one where they were last.

        `source` is where the request comes from. Raises `TooManyTries` or `WrongPassword`.
        """
        address = _counter_name("address", _normalised(email))
        source_counter = None if source is None else _counter_name("source", source)
        await self._count(address, source_counter)
        match = await self._db.write_all(_user_by_email, email)
        user, hashed = match if match is not None else (None, None)
        right = await self._hashing.verify(hashed, password)
        if not right or user is None or hashed is None or user.disabled:
            raise WrongPassword
        tenant_id = await self._db.read_all(_tenant_to_enter, user.id, tenant)
        if tenant_id is None:
            raise WrongPassword
        await self._db.write_all(_clear_after_success, address, source_counter)
        if self._hashing.is_outdated(hashed):
            fresh = await self._hashing.hash(password)
            await self._db.write_all(users.rehash_password, user.id, hashed, fresh)
        return await self._authenticator.sign_in(user.id, tenant_id)

    async def has(self, principal: Principal) -> bool:
        """Whether a person has chosen a password."""
        user = principal.user
        if user is None:
            return False
        hashed = await self._db.read(principal.tenant, users.password_hash_of, principal.tenant, user)
        return hashed is not None

    async def needs_present(self, token: str) -> bool:
        """Whether the password can only be changed by whoever knows it.

        Somebody who signed in by a link a moment ago has proved who they are: they may have forgotten it.
        """
        who = await self._authenticator.principal_from_session(token)
        return await self.has(who) and not await self._authenticator.came_by_link(token)

    async def choose(self, token: str, password: str, present: str = "") -> str:
        """Give the person of a session a new password. Their other sessions end; a token for this one.

        `present` is the password that they have, where they must know it: raises `WrongPassword`.
        """
        who = await self._authenticator.principal_from_session(token)
        tenant, user = who.tenant, who.user
        if user is None:
            raise NotSignedIn
        person, hashed = await self._db.read(tenant, _member_and_hash, tenant, user)
        if hashed is not None and not await self._authenticator.came_by_link(token):
            await self._prove(person, hashed, present)
        check_password(password, person.email)
        fresh = await self._hashing.hash(password)
        await self._db.write(tenant, users.set_password_hash, tenant, user, fresh)
        self._authenticator.forget()
        return await self._authenticator.sign_in(user, tenant)

    async def _prove(self, person: User, hashed: str, present: str) -> None:
        address = _counter_name("address", person.email)
        await self._count(address, None)
        if not await self._hashing.verify(hashed, present):
            raise WrongPassword("This is not your present password.")
        await self._db.write_all(clear_attempts, address)

    async def _count(self, address: str, source_counter: str | None) -> None:
        """Count an attempt before it is made, so that many at once are not free."""
        at = self._db.clock.now()

        def count(conn: Connection) -> float:
            bounds = [
                (address, MAX_ATTEMPTS),
                *([] if source_counter is None else [(source_counter, MAX_ATTEMPTS_PER_SOURCE)]),
            ]
            waits = [0.0]
            for name, most in bounds:
                tried, since = count_attempt(conn, name, at=at, window=ATTEMPT_WINDOW)
                waits += [since + ATTEMPT_WINDOW - at] if tried > most else []
            return max(waits)

        if wait := await self._db.write_all(count):
            raise TooManyAttempts(wait)


def _normalised(email: str) -> str:
    try:
        return users.normalise_email(email)
    except UsageError:
        return email


def _counter_name(kind: str, value: str) -> str:
    """Under which name something is counted: nobody reads from it what strangers typed."""
    return f"{kind}:{sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _user_by_email(conn: Connection, email: str) -> tuple[User, str | None] | None:
    try:
        return users.password_hash_by_email(conn, email)
    except UsageError:
        return None


def _tenant_to_enter(conn: Connection, user: str, tenant: str | None) -> str | None:
    tenants = [membership.id for membership in tenants_of_user(conn, user)]
    if tenant is not None:
        return tenant if tenant in tenants else None
    last = last_tenant_of_user(conn, user)
    return last if last in tenants else next(iter(tenants), None)


def _clear_after_success(conn: Connection, address: str, source_counter: str | None) -> None:
    """A source keeps the count of its other attempts: one's own password does not buy more guesses."""
    clear_attempts(conn, address)
    if source_counter is not None:
        undo_attempt(conn, source_counter)


def _member_and_hash(conn: Connection, tenant: str, user: str) -> tuple[User, str | None]:
    member = users.get_member(conn, tenant, user)
    if member is None:
        raise NotSignedIn
    return member[0], users.password_hash_of(conn, tenant, user)
