"""/api/me, /api/members, /api/roles: who you are, who belongs to your tenant, and as what."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from handrail.core.define.principal import Principal
from handrail.doors.http import shapes
from handrail.doors.http.reading import body
from handrail.doors.http.refusing import no_such
from handrail.doors.http.routing import Anybody, TheOffices, TheSource, answers, need, router
from handrail.doors.http.telling import nothing, ready
from handrail.doors.http.whose import plausible
from handrail.store.users import User

routes = router("people")
Managing = Annotated[Principal, need("members.manage")]


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


@routes.get("/me", summary="Who you are here", responses=answers(ok=shapes.Me))
async def read_me(who: Anybody, source: TheSource) -> Response:
    told = {
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
    return ready(told)


@routes.get(
    "/members", summary="List who belongs to your tenant", responses=answers(409, ok=shapes.MemberList)
)
async def list_members(who: Managing, offices: TheOffices) -> Response:
    found = await offices.people.members(who)
    return ready({"members": [_line(user, roles) for user, roles in found]})


@routes.post(
    "/members",
    summary="Give somebody roles",
    status_code=201,
    responses=answers(409, 415, ok=shapes.MemberLine, status=201),
)
async def add_member(
    who: Managing, offices: TheOffices, given: Annotated[NewMember, body(NewMember)]
) -> Response:
    """Only roles that give no more than you hold."""
    user = await offices.people.add_member(who, given.email, given.roles, given.name)
    roles = next((has for one, has in await offices.people.members(who) if one.id == user.id), frozenset())
    return ready(_line(user, roles), 201)


@routes.delete(
    "/members/{user_id}",
    summary="Let somebody belong no more",
    status_code=204,
    responses=answers(409, status=204),
)
async def remove_member(who: Managing, offices: TheOffices, user_id: str) -> Response:
    if not plausible(user_id) or not await offices.people.remove_member(who, user_id):
        raise no_such("member")
    return nothing()


@routes.get("/roles", summary="List the roles that can be given", responses=answers(409, ok=shapes.RoleList))
async def list_roles(who: Managing, offices: TheOffices) -> Response:
    found = await offices.people.roles(who)
    return ready({"roles": {name: sorted(gives) for name, gives in sorted(found.items())}})


@routes.put(
    "/roles/{name}",
    summary="Make or change a role of your own",
    status_code=204,
    responses=answers(409, 415, status=204),
)
async def save_role(
    who: Annotated[Principal, need("roles.manage")],
    offices: TheOffices,
    name: str,
    given: Annotated[NewRole, body(NewRole)],
) -> Response:
    """It gives no more than you hold."""
    await offices.people.save_role(who, name, given.permissions)
    return nothing()


@routes.delete(
    "/roles/{name}", summary="Remove a role of your own", status_code=204, responses=answers(409, status=204)
)
async def delete_role(
    who: Annotated[Principal, need("roles.manage")], offices: TheOffices, name: str
) -> Response:
    if not plausible(name) or not await offices.people.delete_role(who, name):
        raise no_such("role")
    return nothing()


def _line(user: User, roles: frozenset[str]) -> dict[str, Any]:
    return {
        "id": user.id,
        "email": user.email,
        "name": user.name,
        "roles": sorted(roles),
        "disabled": user.disabled,
    }
