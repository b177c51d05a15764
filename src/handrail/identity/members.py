"""MemberAdmin: tenants, who belongs to them, and with which roles."""

from __future__ import annotations

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
from handrail.store import users
from handrail.store.database import Database
from handrail.store.tenants import Tenant, create_tenant, list_tenants, rename_tenant, require_tenant
from handrail.store.users import User

T = TypeVar("T")

MAX_NAME = 100
_NAME_SECONDS = 10.0
"""Seconds for which a name that was read is taken to hold."""
_MAX_NAMES = 10_000
_UNREAD: tuple[float, str | None] = (float("-inf"), None)


class MemberAdmin:
    """Who belongs where. `changed` is called when somebody holds more or less than before."""

    def __init__(self, db: Database, changed: Callable[[], None] = lambda: None) -> None:
        self._db = db
        self._changed = changed
        self._names: dict[tuple[str, str], tuple[float, str | None]] = {}
        """When a name was read, and what it was; None for somebody who does not belong to the tenant."""

    async def create_tenant(self, tenant: str, name: str) -> Tenant:
        """A new tenant: for whoever runs the system."""
        at = self._db.clock.now()
        return await self._db.write(tenant, create_tenant, tenant, name, at=at)

    async def tenants(self) -> list[Tenant]:
        """Every tenant: for whoever runs the system."""
        return await self._db.read_all(list_tenants)

    async def rename_tenant(self, by: Principal, name: str) -> bool:
        require_permission(by, by.tenant, "tenant.manage")
        return await self._db.write(by.tenant, rename_tenant, by.tenant, name)

    async def members(self, by: Principal) -> list[tuple[User, frozenset[str]]]:
        require_permission(by, by.tenant, "members.manage")
        return await self._db.read(by.tenant, users.list_members, by.tenant)

    async def names(self, tenant: str, ids: Iterable[str]) -> dict[str, str]:
        """What people of the tenant are called, by id: to show its members who did what.

        Those who do not belong to it, or no more, are left out.
        """
        user_ids, ticks = set(ids), self._db.clock.ticks()
        read = {id: self._names.get((tenant, id), _UNREAD) for id in user_ids}
        fresh_names = {id: name for id, (at, name) in read.items() if ticks - at < _NAME_SECONDS}
        if stale := user_ids - fresh_names.keys():
            current = await self._db.read(tenant, users.names_of, tenant, stale)
            if len(self._names) + len(stale) > _MAX_NAMES:
                self._names.clear()
            self._names.update({(tenant, id): (ticks, current.get(id)) for id in stale})
            fresh_names |= current
        return {id: name for id, name in fresh_names.items() if name is not None}

    async def profile(self, who: Principal) -> User:
        """A person, for themself."""
        member = None
        if who.user is not None:
            user = who.user
            member = await self._db.read(who.tenant, users.get_member, who.tenant, user)
        if member is None:
            raise PermissionDenied("Only a person has a profile.")
        return member[0]

    async def rename(self, who: Principal, name: str) -> None:
        """Change one's own name."""
        user, new_name = who.user, " ".join(name.split())
        if user is None or who.agent is not None or who.key != "person":
            raise PermissionDenied("A person is renamed by themself.")
        if not new_name or len(new_name) > MAX_NAME or not new_name.isprintable():
            raise UsageError(f"A name has 1 to {MAX_NAME} characters.")
        await self._db.write(who.tenant, users.rename_user, who.tenant, user, new_name)
        self._names.clear()

    async def add_member(self, by: Principal, email: str, roles: Iterable[str], name: str = "") -> User:
        """Give somebody roles in the tenant. Only roles that give no more than `by` holds."""
        require_permission(by, by.tenant, "members.manage")
        role_names, tenant, at = _role_names(roles), by.tenant, self._db.clock.now()
        address = users.normalise_email(email)

        def check(conn: Connection) -> None:
            require_tenant(conn, tenant)
            _check_roles(conn, by, role_names)

        await self._db.read(tenant, check)
        user = await self._db.write_all(users.add_user, address, name or address, at=at)

        def give(conn: Connection) -> None:
            _check_roles(conn, by, role_names)
            users.add_roles(conn, tenant, user.id, role_names, at=at)

        await self._db.write(tenant, give)
        self._changed()
        return user

    async def remove_member(self, by: Principal, user: str, roles: Iterable[str] | None = None) -> int:
        """Take roles from somebody, or all of them. Only roles that give no more than `by` holds."""
        require_permission(by, by.tenant, "members.manage")
        tenant = by.tenant
        role_names = None if roles is None else _role_names(roles)

        def take(conn: Connection) -> int:
            roles_of = {member.id: held for member, held in users.list_members(conn, tenant)}
            removed_roles = (
                roles_of.get(user, frozenset())
                if role_names is None
                else role_names & roles_of.get(user, frozenset())
            )
            check_grant(by, permissions_of(removed_roles, users.list_roles(conn, tenant)))
            owners = {member for member, held in roles_of.items() if "owner" in held}
            if "owner" in removed_roles and owners == {user}:
                raise PermissionDenied("The last owner of a tenant stays. Make somebody else an owner first.")
            return users.remove_roles(conn, tenant, user, removed_roles)

        removed = await self._db.write(tenant, take)
        self._changed()
        return removed

    async def roles(self, by: Principal) -> dict[str, frozenset[str]]:
        """Every role that can be given here: the built-in ones, and the tenant's."""
        require_permission(by, by.tenant, "members.manage")
        stored = await self._db.read(by.tenant, users.list_roles, by.tenant)
        return {**stored, **BUILT_IN_ROLES}

    async def own_roles(self, by: Principal) -> dict[str, frozenset[str]]:
        """The roles of the tenant's own, for whoever may change them."""
        require_permission(by, by.tenant, "roles.manage")
        return await self._db.read(by.tenant, users.list_own_roles, by.tenant)

    async def save_role(self, by: Principal, name: str, permissions: Iterable[str]) -> None:
        """A role of the tenant's own, new or changed. It gives no more than `by` holds."""
        require_permission(by, by.tenant, "roles.manage")
        granted, at = check_role(name, permissions), self._db.clock.now()
        check_bounds(by, None, None)  # whoever has the role is not bound as the key of `by` may be
        check_grant(by, granted)
        await self._db.write(by.tenant, users.save_role, by.tenant, name, granted, at=at)
        self._changed()

    async def delete_role(self, by: Principal, name: str) -> bool:
        require_permission(by, by.tenant, "roles.manage")
        deleted = await self._db.write(by.tenant, users.delete_role, by.tenant, name)
        self._changed()
        return deleted


def _role_names(roles: Iterable[str]) -> frozenset[str]:
    names = frozenset([roles] if isinstance(roles, str) else roles)
    if not names:
        raise UsageError(f"Name a role, such as {', '.join(BUILT_IN_ROLES)}.")
    return names


def _check_roles(conn: Connection, by: Principal, names: frozenset[str]) -> None:
    stored = users.list_roles(conn, by.tenant)
    unknown = sorted(names - stored.keys() - BUILT_IN_ROLES.keys())
    if unknown:
        available = ", ".join(sorted(stored.keys() | BUILT_IN_ROLES.keys()))
        raise UsageError(f"There is no role {unknown[0]!r}. There are: {available}.")
    check_bounds(by, None, None)  # nor is whoever gets a role
    check_grant(by, permissions_of(names, stored))
