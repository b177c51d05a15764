"""Granting: nobody gives what they do not hold."""

from __future__ import annotations

from collections.abc import Iterable

from handrail.core.define.permission import LEVELS, Level
from handrail.core.define.principal import EVERYTHING, Principal
from handrail.identity.errors import NotGranted


def console(tenant: str) -> Principal:
    """Whoever has the machine and its database in hand: they could write the rows themselves."""
    return Principal(tenant, user="console", roles=["owner"], permissions=[EVERYTHING], key="person")


FOR_PEOPLE = frozenset({"embeds.manage", "keys.manage", "members.manage", "roles.manage", "tenant.manage"})
"""Who lets others in. No agent does, whatever its key holds: it would let in whomever it likes."""


def must_hold(by: Principal, tenant: str, permission: str) -> None:
    """Raise unless the principal belongs to the tenant and holds the permission."""
    if by.agent is not None and permission in FOR_PEOPLE:
        raise NotGranted("An agent lets nobody in: a person looks after keys, people, roles and embeds.")
    if by.tenant != tenant or not by.holds(permission):
        raise NotGranted(f"For that you need the permission {permission}.")


def check_grant(by: Principal, permissions: Iterable[str]) -> None:
    """Raise unless the principal holds all that it would give."""
    lacking = sorted(one for one in permissions if not by.holds(one))
    if lacking:
        raise NotGranted(f"You cannot give what you do not hold: {', '.join(lacking)}.")


def check_bounds(by: Principal, scope: Iterable[str] | None, ceiling: Level | None) -> None:
    """Raise unless a key of these bounds reaches no more than the principal does."""
    if by.scope is not None and (scope is None or not set(scope) <= set(by.scope)):
        raise NotGranted(f"Your own key reaches only these tools: {', '.join(by.scope) or 'none'}.")
    if by.ceiling is None:
        return
    if ceiling is None or LEVELS.index(ceiling) > LEVELS.index(by.ceiling):
        raise NotGranted(f"Your own key reaches no further than {by.ceiling}.")
