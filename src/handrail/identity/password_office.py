"""PasswordOffice: signing in with an address and a password, and choosing one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from hashlib import sha256
from typing import TypeVar

from sqlalchemy.engine import Connection

from handrail.core.define.principal import Principal
from handrail.core.errors import UsageError
from handrail.identity.doorkeeper import Doorkeeper
from handrail.identity.errors import NotSignedIn, TooManyTries, WrongPassword
from handrail.identity.passwords import Hashing, check_password
from handrail.store.arrivals import homes_of, last_home
from handrail.store.attempts import count_attempt, forget_attempts, take_back
from handrail.store.database import Database
from handrail.store.users import (
    User,
    member,
    normal_email,
    password_by_email,
    password_of,
    rehash_password,
    set_password_hash,
)

T = TypeVar("T")

WINDOW = 15 * 60.0
"""Seconds for which tries are counted."""
TRIES = 5
"""Wrong passwords for one address within that time."""
TRIES_FROM_ONE_PLACE = 30
"""The same from one place, where several people may sit."""


class PasswordOffice:
    """Every way not to be let in gets the same answer after the same work, whoever is asked for."""

    def __init__(self, db: Database, door: Doorkeeper, hashing: Hashing | None = None) -> None:
        self._db = db
        self._door = door
        self._hashing = hashing or Hashing()

    async def sign_in(
        self, email: str, password: str, tenant: str | None = None, *, source: str | None = None
    ) -> str:
        """A token for whoever knows the password: for the tenant, else the one where they were last.

        `source` is where the request comes from. Raises `TooManyTries` or `WrongPassword`.
        """
        address = _name("address", _spelled(email))
        place = None if source is None else _name("source", source)
        await self._count(address, place)
        found = await self._in_the_house(lambda conn: _known(conn, email))
        user, hashed = found if found is not None else (None, None)
        right = await self._hashing.verify(hashed, password)
        if not right or user is None or hashed is None or user.disabled:
            raise WrongPassword
        home = await self._db.oversee(lambda conn: _home(conn, user.id, tenant))
        if home is None:
            raise WrongPassword
        await self._in_the_house(lambda conn: _right(conn, address, place))
        if self._hashing.is_outdated(hashed):
            fresh = await self._hashing.hash(password)
            await self._in_the_house(lambda conn: rehash_password(conn, user.id, hashed, fresh))
        return await self._door.sign_in(user.id, home)

    async def has(self, principal: Principal) -> bool:
        """Whether a person has chosen a password."""
        user = principal.user
        if user is None:
            return False
        found = await self._db.read(principal.tenant, lambda conn: password_of(conn, principal.tenant, user))
        return found is not None

    async def needs_present(self, token: str) -> bool:
        """Whether the password can only be changed by whoever knows it.

        Somebody whom a link let in a moment ago has shown who they are: they may have forgotten it.
        """
        who = await self._door.principal_from_session(token)
        return await self.has(who) and not await self._door.came_by_link(token)

    async def choose(self, token: str, password: str, present: str = "") -> str:
        """Give the person of a session a new password. Their other sessions end; a token for this one.

        `present` is the password that they have, where they must know it: raises `WrongPassword`.
        """
        who = await self._door.principal_from_session(token)
        tenant, user = who.tenant, who.user
        assert user is not None
        person, hashed = await self._db.read(tenant, lambda conn: _person(conn, tenant, user))
        if hashed is not None and not await self._door.came_by_link(token):
            await self._prove(person, hashed, present)
        check_password(password, person.email)
        fresh = await self._hashing.hash(password)
        await self._db.write(tenant, lambda conn: set_password_hash(conn, tenant, user, fresh))
        self._door.forget()
        return await self._door.sign_in(user, tenant)

    async def _prove(self, person: User, hashed: str, present: str) -> None:
        address = _name("address", person.email)
        await self._count(address, None)
        if not await self._hashing.verify(hashed, present):
            raise WrongPassword("This is not your present password.")
        await self._in_the_house(lambda conn: forget_attempts(conn, address))

    async def _count(self, address: str, place: str | None) -> None:
        """Count a try before it is made, so that many at once are not tried before one is counted."""
        at = self._db.clock.now()

        def count(conn: Connection) -> float:
            bounds = [(address, TRIES), *([] if place is None else [(place, TRIES_FROM_ONE_PLACE)])]
            waits = [0.0]
            for name, most in bounds:
                tried, since = count_attempt(conn, name, at=at, window=WINDOW)
                waits += [since + WINDOW - at] if tried > most else []
            return max(waits)

        if wait := await self._in_the_house(count):
            raise TooManyTries(wait)

    async def _in_the_house(self, fn: Callable[[Connection], T]) -> T:
        def act() -> T:
            with self._db.system() as conn:
                return fn(conn)

        return await asyncio.to_thread(act)


def _spelled(email: str) -> str:
    try:
        return normal_email(email)
    except UsageError:
        return email


def _name(kind: str, value: str) -> str:
    """Under which name something is counted: nobody reads from it what strangers typed."""
    return f"{kind}:{sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _known(conn: Connection, email: str) -> tuple[User, str | None] | None:
    try:
        return password_by_email(conn, email)
    except UsageError:
        return None


def _home(conn: Connection, user: str, wanted: str | None) -> str | None:
    homes = [one.id for one in homes_of(conn, user)]
    if wanted is not None:
        return wanted if wanted in homes else None
    last = last_home(conn, user)
    return last if last in homes else next(iter(homes), None)


def _right(conn: Connection, address: str, place: str | None) -> None:
    """A place keeps count of its other tries: with a password of one's own nobody guesses on for ever."""
    forget_attempts(conn, address)
    if place is not None:
        take_back(conn, place)


def _person(conn: Connection, tenant: str, user: str) -> tuple[User, str | None]:
    found = member(conn, tenant, user)
    if found is None:
        raise NotSignedIn
    return found[0], password_of(conn, tenant, user)
