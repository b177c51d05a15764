"""The first start of a platform: a tenant, its owner, and the link that lets the owner in."""

from __future__ import annotations

from dataclasses import dataclass

from handrail.identity.permissions import console_principal
from handrail.identity.services import Services
from handrail.store.users import User

DEFAULT_OWNER = "owner@handrail.local"
"""The address of the first owner, unless another one is given."""


@dataclass(frozen=True, slots=True)
class FirstTenant:
    """What a first start made."""

    tenant: str
    owner: User
    link: str


async def create_first_tenant(
    services: Services, tenant: str, email: str = DEFAULT_OWNER
) -> FirstTenant | None:
    """Make the first tenant and its owner; None where somebody lives already."""
    if await services.people.tenants():
        return None
    await services.people.create_tenant(tenant, tenant.replace("-", " ").capitalize())
    owner = await services.people.add_member(console_principal(tenant), email, ["owner"])
    link = await services.authenticator.make_link(owner.id, tenant)
    return FirstTenant(tenant, owner, link.reveal())


async def create_sign_in_link(services: Services, tenant: str, email: str | None = None) -> str | None:
    """A link that lets a member of the tenant in, once; None for an address that nobody of it has.

    Without an address it is for the owner; None where there is none, or more than one.
    """
    members = await services.people.members(console_principal(tenant))
    if email is None:
        candidates = [user for user, roles in members if "owner" in roles and not user.disabled]
    else:
        address = email.strip().casefold()
        candidates = [user for user, _ in members if user.email == address and not user.disabled]
    if len(candidates) != 1:
        return None
    return (await services.authenticator.make_link(candidates[0].id, tenant)).reveal()
