"""Users: people, and the roles that they have in each tenant."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.engine import Connection, Row

from handrail.core.errors import UsageError
from handrail.core.ids import new_id
from handrail.store.tables import memberships, users
from handrail.store.turns import take_turn
from handrail.store.upsert import insert_new

_LONGEST = 254


@dataclass(frozen=True, slots=True)
class User:
    """A person. The same one in every tenant that they belong to."""

    id: str
    email: str
    name: str
    sign_in_epoch: int
    """Raised when they sign out everywhere: what was signed under an older one is over."""
    disabled: bool


def normal_email(text: str) -> str:
    """An address in the one spelling by which a person is known."""
    email = unicodedata.normalize("NFKC", text).strip().casefold() if isinstance(text, str) else ""
    name, at, host = email.rpartition("@")
    whole = at and name and "." in host.strip(".") and email.isprintable() and " " not in email
    if not whole or len(email) > _LONGEST:
        raise UsageError(f"{text!r} is not an e-mail address. Write it like 'ana@example.com'.")
    return email


def add_user(conn: Connection, email: str, name: str, *, at: float) -> User:
    """The person with that address, known from now on: for a connection of the house."""
    take_turn(conn, "users")
    known = user_by_email(conn, email)
    if known is not None:
        return known
    row = {"id": new_id("user"), "email": normal_email(email), "name": name.strip() or email}
    conn.execute(insert(users).values(**row, created_at=at))
    return User(**row, sign_in_epoch=0, disabled=False)


def user_by_email(conn: Connection, email: str) -> User | None:
    """A person of any tenant: for a connection of the house."""
    found = conn.execute(select(users).where(users.c.email == normal_email(email))).one_or_none()
    return None if found is None else _user(found)


def disable_user(conn: Connection, user: str, *, at: float) -> bool:
    """Let a person in nowhere any more: for a connection of the house."""
    change = update(users).where(users.c.id == user, users.c.disabled_at.is_(None))
    return conn.execute(change.values(disabled_at=at)).rowcount > 0


def member(conn: Connection, tenant: str, user: str) -> tuple[User, frozenset[str]] | None:
    """A person and their roles in the tenant; None unless they belong to it."""
    return _members(conn, tenant, memberships.c.user_id == user).get(user)


def members(conn: Connection, tenant: str) -> list[tuple[User, frozenset[str]]]:
    """Everybody who belongs to the tenant, by address."""
    return sorted(_members(conn, tenant).values(), key=lambda pair: pair[0].email)


def add_roles(conn: Connection, tenant: str, user: str, roles: Iterable[str], *, at: float) -> None:
    """Give a person roles in the tenant, beside those that they have."""
    for role in sorted(set(roles)):
        row = {"tenant_id": tenant, "user_id": user, "role": role, "created_at": at}
        insert_new(conn, memberships, row)


def remove_roles(conn: Connection, tenant: str, user: str, roles: Iterable[str] | None = None) -> int:
    """Take roles from a person, or all of them: then they belong to the tenant no more."""
    theirs = delete(memberships).where(memberships.c.tenant_id == tenant, memberships.c.user_id == user)
    if roles is not None:
        theirs = theirs.where(memberships.c.role.in_(list(roles)))
    return conn.execute(theirs).rowcount


def raise_epoch(conn: Connection, tenant: str, user: str) -> bool:
    """End everything that a member of the tenant is signed in to."""
    belongs = select(memberships.c.user_id).where(memberships.c.tenant_id == tenant)
    change = update(users).where(users.c.id == user, users.c.id.in_(belongs))
    return conn.execute(change.values(sign_in_epoch=users.c.sign_in_epoch + 1)).rowcount > 0


def _members(conn: Connection, tenant: str, *where: Any) -> dict[str, tuple[User, frozenset[str]]]:
    joined = select(users, memberships.c.role).join(memberships, memberships.c.user_id == users.c.id)
    found: dict[str, tuple[User, frozenset[str]]] = {}
    for row in conn.execute(joined.where(memberships.c.tenant_id == tenant, *where)):
        _, roles = found.get(row.id, (None, frozenset[str]()))
        found[row.id] = (_user(row), roles | {row.role})
    return found


def _user(row: Row[Any]) -> User:
    return User(row.id, row.email, row.name, row.sign_in_epoch, row.disabled_at is not None)
