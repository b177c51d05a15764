"""Roles: names for sets of permissions. Six are built in; a tenant may have others of its own.

| role | for |
|---|---|
| owner | everything, also what is not thought of yet |
| admin | everything listed here but the tenant itself |
| builder | makes and changes the tenant's tools |
| operator | runs things and sets right what failed |
| approver | answers approval requests |
| viewer | looks, and changes nothing |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from handrail.core.define.levels import LEVELS, Level
from handrail.core.define.principal import EVERYTHING, Principal
from handrail.core.errors import UsageError
from handrail.identity.errors import PermissionDenied

_VIEWER = frozenset(
    {
        "entities.team.read",
        "entity_types.team.read",
        "plans.run",
        "runs.read",
        "tool_sessions.read",
        "tools.tenant.read",
    }
)
_WORKER = _VIEWER | {"entities.team.create", "entities.team.update", "tool_sessions.create"}
_BUILDER = {"embeds.manage", "tools.tenant.create", "tools.tenant.update", "tools.tenant.delete"}

_OPERATOR = {
    "dead_letters.read",
    "dead_letters.replay",
    "events.read",
    "jobs.cancel",
    "jobs.schedule",
    "tool_sessions.manage",
    "usage.read",
}
_APPROVER = {"approvals.read", "approvals.decide"}

_ADMIN = {
    "dead_letters.purge",
    "entities.team.delete",
    "keys.manage",
    "members.manage",
    "roles.manage",
    "secrets.manage",
}

BUILT_IN_ROLES: Mapping[str, frozenset[str]] = {
    "owner": frozenset({EVERYTHING}),
    "admin": _WORKER | _BUILDER | _OPERATOR | _APPROVER | _ADMIN,
    "builder": _WORKER | _BUILDER | {"events.read"},
    "operator": _WORKER | _OPERATOR,
    "approver": _VIEWER | _APPROVER,
    "viewer": _VIEWER,
}
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*\Z")
_PERMISSION = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+\Z")


def check_role(name: str, permissions: Iterable[str]) -> frozenset[str]:
    """The permissions of a role of a tenant's own, if it may be called that and they can be held."""
    if name in BUILT_IN_ROLES:
        raise UsageError(f"The role {name!r} is built in and stays as it is. Choose another name.")
    if not isinstance(name, str) or len(name) > 63 or not _NAME.match(name):
        raise UsageError(f"{name!r} cannot name a role. Use lower-case words, such as 'night-shift'.")
    return check_permissions(permissions)


def check_permissions(permissions: Iterable[str]) -> frozenset[str]:
    """The permissions, if each is one: words joined by dots, or `*`."""
    if isinstance(permissions, str):
        raise UsageError(f"Give permissions as a list, such as [{permissions!r}].")
    checked = frozenset(permissions)
    for permission in checked:
        if permission != EVERYTHING and not (isinstance(permission, str) and _PERMISSION.match(permission)):
            raise UsageError(f"{permission!r} is not a permission. Write it like 'entities.team.read'.")
    return checked


def permissions_of(names: Iterable[str], stored: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """All that these roles give. A stored role of a built-in name counts for nothing; nor does a lost one."""
    permissions: frozenset[str] = frozenset()
    for name in names:
        permissions |= BUILT_IN_ROLES[name] if name in BUILT_IN_ROLES else stored.get(name, frozenset())
    return permissions


def console_principal(tenant: str) -> Principal:
    """Whoever has the machine and its database in hand: they could write the rows themselves."""
    return Principal(tenant, user="console", roles=["owner"], permissions=[EVERYTHING], key="person")


PEOPLE_ONLY = frozenset({"embeds.manage", "keys.manage", "members.manage", "roles.manage", "tenant.manage"})
"""Who lets others in. No agent does, whatever its key holds: it would let in whomever it likes."""


def require_permission(by: Principal, tenant: str, permission: str) -> None:
    """Raise unless the principal belongs to the tenant and holds the permission."""
    if by.agent is not None and permission in PEOPLE_ONLY:
        raise PermissionDenied(
            "An agent lets nobody in: a person looks after keys, people, roles and embeds."
        )
    if by.tenant != tenant or not by.holds(permission):
        raise PermissionDenied(f"For that you need the permission {permission}.")


def check_grant(by: Principal, permissions: Iterable[str]) -> None:
    """Raise unless the principal holds all that it would give."""
    lacking = sorted(permission for permission in permissions if not by.holds(permission))
    if lacking:
        raise PermissionDenied(f"You cannot give what you do not hold: {', '.join(lacking)}.")


def check_bounds(by: Principal, scope: Iterable[str] | None, ceiling: Level | None) -> None:
    """Raise unless a key of these bounds reaches no more than the principal does."""
    if by.scope is not None and (scope is None or not set(scope) <= set(by.scope)):
        raise PermissionDenied(f"Your own key reaches only these tools: {', '.join(by.scope) or 'none'}.")
    if by.ceiling is None:
        return
    if ceiling is None or LEVELS.index(ceiling) > LEVELS.index(by.ceiling):
        raise PermissionDenied(f"Your own key reaches no further than {by.ceiling}.")
