"""permissions: what can be given to roles and keys, in words. Nobody is offered what they do not hold."""

from __future__ import annotations

from collections.abc import Iterable

from handrail.core.define.principal import EVERYTHING, Principal
from handrail.doors.web.controls import Option
from handrail.identity.roles import BUILT_IN

WORDS = {
    "approvals.decide": "Decide on approvals",
    "approvals.read": "See approvals",
    "dead_letters.purge": "Purge dead letters",
    "dead_letters.read": "See dead letters",
    "dead_letters.replay": "Replay dead letters",
    "entities.team.create": "Create records",
    "entities.team.delete": "Delete records",
    "entities.team.read": "See records",
    "entities.team.update": "Change records",
    "entity_types.team.read": "See kinds of records",
    "events.read": "Read everybody's events, with what was given and what came of it",
    "jobs.cancel": "Cancel jobs",
    "jobs.schedule": "Schedule jobs",
    "keys.manage": "Make and revoke keys",
    "members.manage": "Add and remove members",
    "plans.run": "Run what you have planned",
    "roles.manage": "Make and change roles",
    "runs.read": "See everybody's runs",
    "secrets.manage": "Keep secrets",
    "tenant.manage": "Rename the tenant",
    "tools.tenant.create": "Create tools",
    "tools.tenant.delete": "Delete tools",
    "tools.tenant.read": "See how tools are made",
    "tools.tenant.update": "Change tools",
    "usage.read": "See usage",
}


def offered(by: Principal, also: Iterable[str] = ()) -> list[Option]:
    """The permissions that somebody may give, and those that something has already."""
    known = {one for gives in BUILT_IN.values() for one in gives} | set(WORDS) | by.permissions
    given = {one for one in known if one != EVERYTHING and by.holds(one)} | (set(also) - {EVERYTHING})
    return [(one, said(one)) for one in sorted(given)]


def said(permission: str) -> str:
    """A permission in words; one that only a tool knows stands for itself."""
    return "Everything" if permission == EVERYTHING else WORDS.get(permission, permission)


def listed(text: str) -> list[str]:
    """Names that were typed, one a line or parted by commas."""
    return [word for line in text.splitlines() for word in line.replace(",", " ").split()]
