"""MemberAdmin: tenants, who belongs to them, and with which roles."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TypeVar

from sqlalchemy.engine import Connection

from handrail.core.define.principal import Principal
from handrail.core.errors import UsageError
from handrail.identity.errors import PermissionDenied
from handrail.identity.permissions import (
    BUILT_IN_ROLES,
    check_bounds,
    check_grant,
    check_role,
    permissions_of,
    require_permission,
)
from handrail.store.database import Database
from handrail.store.tenants import Tenant, create_tenant, list_tenants, rename_tenant, require_tenant
from handrail.store.users import (
    User,
    add_roles,
    add_user,
    delete_role,
    get_member,
    list_members,
    list_own_roles,
    list_roles,
    names_of,
    normalise_email,
    remove_roles,
    rename_user,
    save_role,
)

T = TypeVar("T")

MAX_NAME = 100
_NAME_SECONDS = 10.0
"""Seconds for which a name that was read is taken to hold."""
_MAX_NAMES = 10_000
_UNREAD: tuple[float, str | None] = (float("-inf"), None)


class MemberAdmin:
    """Who belongs where. `changed` is told when somebody holds more or less than before."""

    def __init__(self, db: Database, changed: Callable[[], None] = lambda: None) -> None:
        self._db = db
        self._changed = changed
        self._names: dict[tuple[str, str], tuple[float, str | None]] = {}
        """When a name was read, and what it was; None for somebody who does not belong to the tenant."""

    async def create_tenant(self, tenant: str, name: str) -> Tenant:
        """A new tenant: for whoever looks after the whole house."""
        at = self._db.clock.now()
        return await self._db.write(tenant, lambda conn: create_tenant(conn, tenant, name, at=at))

    async def tenants(self) -> list[Tenant]:
        """Every tenant: for whoever looks after the whole house."""
        return await asyncio.to_thread(self._in_system, list_tenants)

    async def rename_tenant(self, by: Principal, name: str) -> bool:
        require_permission(by, by.tenant, "tenant.manage")
        return await self._db.write(by.tenant, lambda conn: rename_tenant(conn, by.tenant, name))

    async def members(self, by: Principal) -> list[tuple[User, frozenset[str]]]:
        require_permission(by, by.tenant, "members.manage")
        return await self._db.read(by.tenant, lambda conn: list_members(conn, by.tenant))

    async def names(self, tenant: str, ids: Iterable[str]) -> dict[str, str]:
        """What people of the tenant are called, by id: to show its members who did what.

        Those who do not belong to it, or no more, are left out.
        """
        wanted, ticks = set(ids), self._db.clock.ticks()
        read = {id: self._names.get((tenant, id), _UNREAD) for id in wanted}
        known = {id: name for id, (at, name) in read.items() if ticks - at < _NAME_SECONDS}
        if unknown := wanted - known.keys():
            found = await self._db.read(tenant, lambda conn: names_of(conn, tenant, unknown))
            if len(self._names) + len(unknown) > _MAX_NAMES:
                self._names.clear()
            self._names.update({(tenant, id): (ticks, found.get(id)) for id in unknown})
            known |= found
        return {id: name for id, name in known.items() if name is not None}

    async def profile(self, who: Principal) -> User:
        """A person, for themself."""
        found = None
        if who.user is not None:
            user = who.user
            found = await self._db.read(who.tenant, lambda conn: get_member(conn, who.tenant, user))
        if found is None:
            raise PermissionDenied("Only a person has a profile.")
        return found[0]

    async def rename(self, who: Principal, name: str) -> None:
        """What a person wants to be called, said by themself."""
        user, called = who.user, " ".join(name.split())
        if user is None or who.agent is not None or who.key != "person":
            raise PermissionDenied("A person is renamed by themself.")
        if not called or len(called) > MAX_NAME or not called.isprintable():
            raise UsageError(f"A name has 1 to {MAX_NAME} characters.")
        await self._db.write(who.tenant, lambda conn: rename_user(conn, who.tenant, user, called))
        self._names.clear()

    async def add_member(self, by: Principal, email: str, roles: Iterable[str], name: str = "") -> User:
        """Give somebody roles in the tenant. Only roles that give no more than `by` holds."""
        require_permission(by, by.tenant, "members.manage")
        given, tenant, at = _role_names(roles), by.tenant, self._db.clock.now()
        address = normalise_email(email)

        def check(conn: Connection) -> None:
            require_tenant(conn, tenant)
            _check_roles(conn, by, given)

        await self._db.read(tenant, check)
        user = await asyncio.to_thread(
            self._in_system, lambda conn: add_user(conn, address, name or address, at=at)
        )

        def give(conn: Connection) -> None:
            _check_roles(conn, by, given)
            add_roles(conn, tenant, user.id, given, at=at)

        await self._db.write(tenant, give)
        self._changed()
        return user

    async def remove_member(self, by: Principal, user: str, roles: Iterable[str] | None = None) -> int:
        """Take roles from somebody, or all of them. Only roles that give no more than `by` holds."""
        require_permission(by, by.tenant, "members.manage")
        tenant = by.tenant
        wanted = None if roles is None else _role_names(roles)

        def take(conn: Connection) -> int:
            there = {one.id: has for one, has in list_members(conn, tenant)}
            taken = there.get(user, frozenset()) if wanted is None else wanted & there.get(user, frozenset())
            check_grant(by, permissions_of(taken, list_roles(conn, tenant)))
            owners = {one for one, has in there.items() if "owner" in has}
            if "owner" in taken and owners == {user}:
                raise PermissionDenied("The last owner of a tenant stays. Make somebody else an owner first.")
            return remove_roles(conn, tenant, user, taken)

        removed = await self._db.write(tenant, take)
        self._changed()
        return removed

    async def roles(self, by: Principal) -> dict[str, frozenset[str]]:
        """Every role that can be given here: the built-in ones, and the tenant's."""
        require_permission(by, by.tenant, "members.manage")
        stored = await self._db.read(by.tenant, lambda conn: list_roles(conn, by.tenant))
        return {**stored, **BUILT_IN_ROLES}

    async def own_roles(self, by: Principal) -> dict[str, frozenset[str]]:
        """The roles of the tenant's own, for whoever may change them."""
        require_permission(by, by.tenant, "roles.manage")
        return await self._db.read(by.tenant, lambda conn: list_own_roles(conn, by.tenant))

    async def save_role(self, by: Principal, name: str, permissions: Iterable[str]) -> None:
        """A role of the tenant's own, new or changed. It gives no more than `by` holds."""
        require_permission(by, by.tenant, "roles.manage")
        given, at = check_role(name, permissions), self._db.clock.now()
        check_bounds(by, None, None)  # whoever has the role is not bound as the key of `by` may be
        check_grant(by, given)
        await self._db.write(by.tenant, lambda conn: save_role(conn, by.tenant, name, given, at=at))
        self._changed()

    async def delete_role(self, by: Principal, name: str) -> bool:
        require_permission(by, by.tenant, "roles.manage")
        deleted = await self._db.write(by.tenant, lambda conn: delete_role(conn, by.tenant, name))
        self._changed()
        return deleted

    def _in_system(self, fn: Callable[[Connection], T]) -> T:
        with self._db.system() as conn:
            return fn(conn)


def _role_names(roles: Iterable[str]) -> frozenset[str]:
    names = frozenset([roles] if isinstance(roles, str) else roles)
    if not names:
        raise UsageError(f"Name a role, such as {', '.join(BUILT_IN_ROLES)}.")
    return names


def _check_roles(conn: Connection, by: Principal, names: frozenset[str]) -> None:
    stored = list_roles(conn, by.tenant)
    unknown = sorted(names - stored.keys() - BUILT_IN_ROLES.keys())
    if unknown:
        known = ", ".join(sorted(stored.keys() | BUILT_IN_ROLES.keys()))
        raise UsageError(f"There is no role {unknown[0]!r}. There are: {known}.")
    check_bounds(by, None, None)  # nor is whoever gets a role
    check_grant(by, permissions_of(names, stored))
