"""/api/keys: what opens the door to programs and agents."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from handrail.core.define.levels import Level
from handrail.core.define.principal import KeyKind, Principal
from handrail.doors.http import schemas
from handrail.doors.http.errors import not_found
from handrail.doors.http.parameters import json_body
from handrail.doors.http.router import Router, TheServices, need
from handrail.identity.api_keys import Audience
from handrail.platform.access import is_plausible_id
from handrail.platform.responses import json_response, no_content

routes = Router("keys")
KeyManager = Annotated[Principal, need("keys.manage")]
_CENTURY = 100 * 365 * 86_400.0


class NewKey(BaseModel):
    """A key: for whom, and how far it reaches. It reaches no further than whoever makes it."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=200, description="What it is for.")
    kind: KeyKind = "agent"
    user: str | None = Field(default=None, max_length=200)
    agent: str | None = Field(default=None, max_length=200)
    permissions: list[str] | None = None
    tools: list[str] | None = Field(default=None, description="Names or patterns; none reaches all.")
    ceiling: Level | None = None
    audience: Audience | None = Field(default=None, description="The door it is for.")
    lifetime: float | None = Field(default=None, gt=0, le=_CENTURY, allow_inf_nan=False)


@routes.get("/keys", "List keys", 409, ok=schemas.KeyList)
async def list_keys(who: KeyManager, services: TheServices) -> Response:
    """The newest first. No key can be read from it."""
    return json_response({"keys": [key.to_dict() for key in await services.keys.list(who)]})


@routes.post(
    "/keys", "Make a key", 409, 415, ok=schemas.CreatedKey, status=201, says="The key. It is shown only here."
)
async def make_key(
    who: KeyManager, services: TheServices, body: Annotated[NewKey, json_body(NewKey)]
) -> Response:
    """Keep it: nobody can read it again."""
    text, made = await services.keys.make(
        who,
        body.name,
        body.kind,
        user=body.user,
        agent=body.agent,
        permissions=body.permissions,
        tools=body.tools,
        ceiling=body.ceiling,
        audience=body.audience,
        lifetime=body.lifetime,
    )
    headers = {"cache-control": "no-store"}
    return json_response(made.to_dict() | {"key": text.reveal()}, 201, headers)


@routes.delete("/keys/{key_id}", "Revoke a key", 409, status=204)
async def revoke_key(who: KeyManager, services: TheServices, key_id: str) -> Response:
    """It opens nothing any more, anywhere within a second."""
    if not is_plausible_id(key_id) or not await services.keys.revoke(who, key_id):
        raise not_found("key")
    return no_content()
