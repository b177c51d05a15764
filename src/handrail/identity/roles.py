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

from handrail.core.define.principal import EVERYTHING
from handrail.core.errors import UsageError

_VIEW = frozenset(
    {
        "entities.team.read",
        "entity_types.team.read",
        "plans.run",
        "runs.read",
        "tool_sessions.read",
        "tools.tenant.read",
    }
)
_WORK = _VIEW | {"entities.team.create", "entities.team.update", "tool_sessions.create"}
_BUILD = {"embeds.manage", "tools.tenant.create", "tools.tenant.update", "tools.tenant.delete"}
_OPERATE = {
    "dead_letters.read",
    "dead_letters.replay",
    "events.read",
    "jobs.cancel",
    "jobs.schedule",
    "tool_sessions.manage",
    "usage.read",
}
_ANSWER = {"approvals.read", "approvals.decide"}
_RULE = {
    "dead_letters.purge",
    "entities.team.delete",
    "keys.manage",
    "members.manage",
    "roles.manage",
    "secrets.manage",
}

BUILT_IN: Mapping[str, frozenset[str]] = {
    "owner": frozenset({EVERYTHING}),
    "admin": _WORK | _BUILD | _OPERATE | _ANSWER | _RULE,
    "builder": _WORK | _BUILD | {"events.read"},
    "operator": _WORK | _OPERATE,
    "approver": _VIEW | _ANSWER,
    "viewer": _VIEW,
}

_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*\Z")
_PERMISSION = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+\Z")


def check_role(name: str, permissions: Iterable[str]) -> frozenset[str]:
    """The permissions of a role of a tenant's own, if it may be called that and they can be held."""
    if name in BUILT_IN:
        raise UsageError(f"The role {name!r} is built in and stays as it is. Choose another name.")
    if not isinstance(name, str) or len(name) > 63 or not _NAME.match(name):
        raise UsageError(f"{name!r} cannot name a role. Use lower-case words, such as 'night-shift'.")
    return check_permissions(permissions)


def check_permissions(permissions: Iterable[str]) -> frozenset[str]:
    """The permissions, if each is one: words joined by dots, or `*`."""
    if isinstance(permissions, str):
        raise UsageError(f"Give permissions as a list, such as [{permissions!r}].")
    given = frozenset(permissions)
    for one in given:
        if one != EVERYTHING and not (isinstance(one, str) and _PERMISSION.match(one)):
            raise UsageError(f"{one!r} is not a permission. Write it like 'entities.team.read'.")
    return given


def permissions_of(names: Iterable[str], stored: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """All that these roles give. A stored role of a built-in name counts for nothing; nor does a lost one."""
    found: frozenset[str] = frozenset()
    for name in names:
        found |= BUILT_IN[name] if name in BUILT_IN else stored.get(name, frozenset())
    return found
