"""Founding: the first start of a platform. A tenant, its owner, and the link that lets the owner in."""

from __future__ import annotations

from dataclasses import dataclass

from handrail.identity.granting import console
from handrail.identity.offices import Offices
from handrail.store.users import User

OWNER = "owner@handrail.local"
"""The address of the first owner, unless another one is given."""


@dataclass(frozen=True, slots=True)
class Founded:
    """What a first start made."""

    tenant: str
    owner: User
    link: str


async def found(offices: Offices, tenant: str, email: str = OWNER) -> Founded | None:
    """Make the first tenant and its owner; None where somebody lives already."""
    if await offices.people.tenants():
        return None
    await offices.people.create_tenant(tenant, tenant.replace("-", " ").capitalize())
    owner = await offices.people.add_member(console(tenant), email, ["owner"])
    link = await offices.doorkeeper.make_link(owner.id, tenant)
    return Founded(tenant, owner, link.reveal())


async def link_for(offices: Offices, tenant: str, email: str | None = None) -> str | None:
    """A link that lets a member of the tenant in, once; None for an address that nobody of it has.

    Without an address it is for the owner; None where there is none, or more than one.
    """
    members = await offices.people.members(console(tenant))
    if email is None:
        found = [user for user, roles in members if "owner" in roles and not user.disabled]
    else:
        wanted = email.strip().casefold()
        found = [user for user, _ in members if user.email == wanted and not user.disabled]
    if len(found) != 1:
        return None
    return (await offices.doorkeeper.make_link(found[0].id, tenant)).reveal()
