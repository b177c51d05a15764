"""Users, their roles in each tenant, and the roles that a tenant made. Built-in roles are code."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.engine import Connection, Row

from handrail.core.errors import UsageError
from handrail.core.find.visibility import DEFAULT_TENANT_ID
from handrail.core.ids import new_id
from handrail.store.statements import advisory_lock, insert_if_absent, matching, upsert
from handrail.store.tables.identity import memberships, roles, users

_LONGEST = 254


@dataclass(frozen=True, slots=True)
class User:
    """A person. The same one in every tenant that they belong to."""

    id: str
    email: str
    name: str
    sign_in_epoch: int
    """Raised when they sign out everywhere: sessions of an older epoch are over."""
    disabled: bool


def normalise_email(text: str) -> str:
    """An e-mail address in the one spelling that identifies a person."""
    email = unicodedata.normalize("NFKC", text).strip().casefold() if isinstance(text, str) else ""
    name, at, host = email.rpartition("@")
    is_address = at and name and "." in host.strip(".") and email.isprintable() and " " not in email
    if not is_address or len(email) > _LONGEST:
        raise UsageError(f"{text!r} is not an e-mail address. Write it like 'ana@example.com'.")
    return email


def add_user(conn: Connection, email: str, name: str, *, at: float) -> User:
    """The person with that address, created if there is none: for a connection of the system."""
    advisory_lock(conn, "users")
    user = user_by_email(conn, email)
    if user is not None:
        return user
    row = {"id": new_id("user"), "email": normalise_email(email), "name": name.strip() or email}
    conn.execute(insert(users).values(**row, created_at=at))
    return User(**row, sign_in_epoch=0, disabled=False)


def user_by_email(conn: Connection, email: str) -> User | None:
    """A person of any tenant: for a connection of the system."""
    match = password_hash_by_email(conn, email)
    return None if match is None else match[0]


def password_hash_by_email(conn: Connection, email: str) -> tuple[User, str | None] | None:
    """A person of any tenant, and the hash of their password: for a connection of the system."""
    row = conn.execute(select(users).where(users.c.email == normalise_email(email))).one_or_none()
    return None if row is None else (_user(row), row.password_hash)


def rehash_password(conn: Connection, user: str, was: str, now: str) -> bool:
    """Another hash of the same password: for a connection of the system."""
    change = update(users).where(users.c.id == user, users.c.password_hash == was)
    return conn.execute(change.values(password_hash=now)).rowcount > 0


def disable_user(conn: Connection, user: str, *, at: float) -> bool:
    """Keep a person from signing in anywhere: for a connection of the system."""
    change = update(users).where(users.c.id == user, users.c.disabled_at.is_(None))
    return conn.execute(change.values(disabled_at=at)).rowcount > 0


def get_member(conn: Connection, tenant: str, user: str) -> tuple[User, frozenset[str]] | None:
    """A person and their roles in the tenant; None unless they belong to it."""
    return _members(conn, tenant, memberships.c.user_id == user).get(user)


def get_active_member(conn: Connection, tenant: str, user: str) -> tuple[User, frozenset[str]] | None:
    """The same; None also for a person who is disabled."""
    member = get_member(conn, tenant, user)
    return None if member is None or member[0].disabled else member


def list_members(conn: Connection, tenant: str) -> list[tuple[User, frozenset[str]]]:
    """Everybody who belongs to the tenant, by address."""
    return sorted(_members(conn, tenant).values(), key=lambda pair: pair[0].email)


def add_roles(conn: Connection, tenant: str, user: str, roles: Iterable[str], *, at: float) -> None:
    """Give a person roles in the tenant, beside those that they have."""
    for role in sorted(set(roles)):
        row = {"tenant_id": tenant, "user_id": user, "role": role, "created_at": at}
        insert_if_absent(conn, memberships, row)


def remove_roles(conn: Connection, tenant: str, user: str, roles: Iterable[str] | None = None) -> int:
    """Take roles from a person, or all of them: then they belong to the tenant no more."""
    deletion = delete(memberships).where(matching(memberships, tenant_id=tenant, user_id=user))
    if roles is not None:
        deletion = deletion.where(memberships.c.role.in_(list(roles)))
    return conn.execute(deletion).rowcount


def end_all_sessions(conn: Connection, tenant: str, user: str) -> bool:
    """End everything that a member of the tenant is signed in to."""
    return _change(conn, tenant, user, sign_in_epoch=users.c.sign_in_epoch + 1)


def password_hash_of(conn: Connection, tenant: str, user: str) -> str | None:
    """The hash of the password of a member of the tenant, where they have one."""
    query = select(users.c.password_hash).where(users.c.id == user, _belongs(tenant))
    return conn.execute(query).scalar_one_or_none()


def set_password_hash(conn: Connection, tenant: str, user: str, hashed: str) -> bool:
    """Give a member of the tenant a password, and end everything that they are signed in to."""
    epoch = users.c.sign_in_epoch + 1
    return _change(conn, tenant, user, password_hash=hashed, sign_in_epoch=epoch)


def rename_user(conn: Connection, tenant: str, user: str, name: str) -> bool:
    """Another name for a member of the tenant."""
    return _change(conn, tenant, user, name=name)


def set_theme(conn: Connection, tenant: str, user: str, theme: str) -> bool:
    """How a member of the tenant wants pages to look."""
    return _change(conn, tenant, user, theme=theme)


def theme_of(conn: Connection, tenant: str, user: str) -> str | None:
    """How a member of the tenant wants pages to look, where they have said so."""
    query = select(users.c.theme).where(users.c.id == user, _belongs(tenant))
    return conn.execute(query).scalar_one_or_none()


def names_of(conn: Connection, tenant: str, user_ids: Collection[str]) -> dict[str, str]:
    """What members of the tenant are called, by id; those who are none are left out."""
    query = select(users.c.id, users.c.name).where(users.c.id.in_(list(user_ids)), _belongs(tenant))
    return {row.id: row.name for row in conn.execute(query)}


def _belongs(tenant: str) -> Any:
    return users.c.id.in_(select(memberships.c.user_id).where(memberships.c.tenant_id == tenant))


def _change(conn: Connection, tenant: str, user: str, **values: Any) -> bool:
    change = update(users).where(users.c.id == user, _belongs(tenant))
    return conn.execute(change.values(**values)).rowcount > 0


def _members(conn: Connection, tenant: str, *where: Any) -> dict[str, tuple[User, frozenset[str]]]:
    joined = select(users, memberships.c.role).join(memberships, memberships.c.user_id == users.c.id)
    members: dict[str, tuple[User, frozenset[str]]] = {}
    for row in conn.execute(joined.where(memberships.c.tenant_id == tenant, *where)):
        _, roles = members.get(row.id, (None, frozenset[str]()))
        members[row.id] = (_user(row), roles | {row.role})
    return members


def _user(row: Row[Any]) -> User:
    return User(row.id, row.email, row.name, row.sign_in_epoch, row.disabled_at is not None)


def list_roles(conn: Connection, tenant: str) -> dict[str, frozenset[str]]:
    """The permissions of each stored role: the tenant's, and those that every tenant has."""
    query = select(roles).where(roles.c.tenant_id.in_((tenant, DEFAULT_TENANT_ID)))
    rows = sorted(conn.execute(query), key=lambda row: bool(row.tenant_id == tenant))
    return {row.name: frozenset(json.loads(row.permissions)) for row in rows}


def list_own_roles(conn: Connection, tenant: str) -> dict[str, frozenset[str]]:
    """The permissions of each role of the tenant's own."""
    rows = conn.execute(select(roles).where(roles.c.tenant_id == tenant))
    return {row.name: frozenset(json.loads(row.permissions)) for row in rows}


def save_role(conn: Connection, tenant: str, name: str, permissions: Iterable[str], *, at: float) -> None:
    """Store a role, replacing the one of that name."""
    text = json.dumps(sorted(set(permissions)))
    upsert(conn, roles, {"tenant_id": tenant, "name": name, "permissions": text, "updated_at": at})


def delete_role(conn: Connection, tenant: str, name: str) -> bool:
    """Remove a role; whoever has it holds nothing by it any more."""
    deletion = delete(roles).where(matching(roles, tenant_id=tenant, name=name))
    return conn.execute(deletion).rowcount > 0
