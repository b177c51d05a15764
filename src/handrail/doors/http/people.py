"""/api/me, /api/members, /api/roles: who you are, who belongs to your tenant, and as what."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from handrail.core.define.principal import Principal
from handrail.doors.http import schemas
from handrail.doors.http.errors import not_found
from handrail.doors.http.parameters import json_body
from handrail.doors.http.router import Router, SignedIn, TheServices, TheSource, need
from handrail.platform.access import is_plausible_id
from handrail.platform.responses import json_response, no_content
from handrail.store.users import User

routes = Router("people")
MemberManager = Annotated[Principal, need("members.manage")]


class NewMember(BaseModel):
    """Somebody, and the roles that they get beside those that they have."""

    model_config = ConfigDict(extra="forbid")

    email: str = Field(max_length=254)
    roles: list[str] = Field(min_length=1)
    name: str = Field(default="", max_length=200)


class NewRole(BaseModel):
    """What a role of your own gives."""

    model_config = ConfigDict(extra="forbid")

    permissions: list[str]


@routes.get("/me", "Who you are here", ok=schemas.CurrentPrincipal)
async def read_me(who: SignedIn, source: TheSource) -> Response:
    body = {
        "tenant": who.tenant,
        "user": who.user,
        "agent": who.agent,
        "roles": sorted(who.roles),
        "permissions": sorted(who.permissions),
        "key": who.key,
        "source": source,
        "tools": None if who.scope is None else list(who.scope),
        "ceiling": who.ceiling,
    }
    return json_response(body)


@routes.get("/members", "List who belongs to your tenant", 409, ok=schemas.MemberList)
async def list_members(who: MemberManager, services: TheServices) -> Response:
    members = await services.people.members(who)
    return json_response({"members": [_member_json(user, roles) for user, roles in members]})


@routes.post("/members", "Give somebody roles", 409, 415, ok=schemas.MemberSummary, status=201)
async def add_member(
    who: MemberManager, services: TheServices, body: Annotated[NewMember, json_body(NewMember)]
) -> Response:
    """Only roles that give no more than you hold."""
    user = await services.people.add_member(who, body.email, body.roles, body.name)
    roles = next(
        (has for member, has in await services.people.members(who) if member.id == user.id), frozenset()
    )
    return json_response(_member_json(user, roles), 201)


@routes.delete("/members/{user_id}", "Let somebody belong no more", 409, status=204)
async def remove_member(who: MemberManager, services: TheServices, user_id: str) -> Response:
    if not is_plausible_id(user_id) or not await services.people.remove_member(who, user_id):
        raise not_found("member")
    return no_content()


@routes.get("/roles", "List the roles that can be given", 409, ok=schemas.RoleList)
async def list_roles(who: MemberManager, services: TheServices) -> Response:
    roles = await services.people.roles(who)
    return json_response({"roles": {name: sorted(gives) for name, gives in sorted(roles.items())}})


@routes.put("/roles/{name}", "Make or change a role of your own", 409, 415, status=204)
async def save_role(
    who: Annotated[Principal, need("roles.manage")],
    services: TheServices,
    name: str,
    body: Annotated[NewRole, json_body(NewRole)],
) -> Response:
    """It gives no more than you hold."""
    await services.people.save_role(who, name, body.permissions)
    return no_content()


@routes.delete("/roles/{name}", "Remove a role of your own", 409, status=204)
async def delete_role(
    who: Annotated[Principal, need("roles.manage")], services: TheServices, name: str
) -> Response:
    if not is_plausible_id(name) or not await services.people.delete_role(who, name):
        raise not_found("role")
    return no_content()


def _member_json(user: User, roles: frozenset[str]) -> dict[str, Any]:
    return {
        "id": user.id,
        "email": user.email,
        "name": user.name,
        "roles": sorted(roles),
        "disabled": user.disabled,
    }
