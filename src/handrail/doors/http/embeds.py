"""/api/embeds: tools that are published for everybody, on pages of other places."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from handrail.core.define.principal import Principal
from handrail.core.errors import ToolError
from handrail.doors.http import schemas
from handrail.doors.http.errors import invalid_param, not_found
from handrail.doors.http.parameters import json_body
from handrail.doors.http.router import Router, TheHandrail, TheServices, TheSource, need
from handrail.identity.embeds import MAX_EMBED_ORIGINS, MAX_EMBED_RUNS, MAX_EMBED_TOOLS
from handrail.identity.services import Services
from handrail.platform.access import is_plausible_id
from handrail.platform.responses import json_response, no_content
from handrail.store.embeds import Embed

routes = Router("embeds")
EmbedManager = Annotated[Principal, need("embeds.manage")]
Quota = Annotated[int, Field(ge=0, le=MAX_EMBED_RUNS)]
_CENTURY = 100 * 365 * 86_400.0
_NO_STORE = {"cache-control": "no-store"}


class NewEmbed(BaseModel):
    """What to publish, where it may be shown, and how often it may be used."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(min_length=1, max_length=200)
    tools: list[Annotated[str, Field(max_length=200)]] = Field(min_length=1, max_length=MAX_EMBED_TOOLS)
    origins: list[Annotated[str, Field(max_length=300)]] = Field(default=[], max_length=MAX_EMBED_ORIGINS)
    runs_per_day: Quota = 1_000
    runs_per_visitor: Quota = 100
    lifetime: float | None = Field(default=None, gt=0, le=_CENTURY, allow_inf_nan=False)


class EmbedChange(BaseModel):
    """What is left out stays as it is. `enabled: false` ends it at once, until it is true again."""

    model_config = ConfigDict(extra="forbid", strict=True)

    title: str | None = Field(default=None, min_length=1, max_length=200)
    origins: list[Annotated[str, Field(max_length=300)]] | None = Field(
        default=None, max_length=MAX_EMBED_ORIGINS
    )
    runs_per_day: Quota | None = None
    runs_per_visitor: Quota | None = None
    enabled: bool | None = None


@routes.get("/embeds", "List embeds", 409, ok=schemas.EmbedList)
async def list_embeds(who: EmbedManager, services: TheServices) -> Response:
    """The newest first, also those that are revoked."""
    return json_response({"embeds": [embed.to_dict() for embed in await services.embeds.list(who)]})


@routes.post("/embeds", "Publish tools for everybody", 409, 415, ok=schemas.EmbedDetail, status=201)
async def publish_embed(
    who: EmbedManager,
    hr: TheHandrail,
    services: TheServices,
    source: TheSource,
    body: Annotated[NewEmbed, json_body(NewEmbed)],
) -> Response:
    """Tools that only read, and that you may use. Whoever has the token may use them, and no others."""
    tools = []
    for name in body.tools:
        try:
            tools.append((await hr.describe(name, who, source=source)).tool)
        except ToolError as error:
            if error.code != "TOOL_NOT_FOUND":
                raise
            raise invalid_param("tools", "names a tool that is not there, or is not yours to see") from None
    _, embed = await services.embeds.publish(
        who,
        body.title,
        tools,
        body.origins,
        runs_per_day=body.runs_per_day,
        runs_per_visitor=body.runs_per_visitor,
        lifetime=body.lifetime,
    )
    return json_response(await _embed_detail(services, who, embed), 201, _NO_STORE)


@routes.get("/embeds/{embed_id}", "Read one embed", 409, ok=schemas.EmbedDetail)
async def read_embed(who: EmbedManager, services: TheServices, embed_id: str) -> Response:
    """With its token, and how often it was used today."""
    return json_response(
        await _embed_detail(services, who, await _embed_or_404(services, who, embed_id)), headers=_NO_STORE
    )


@routes.patch("/embeds/{embed_id}", "Change an embed, or switch it off", 409, 415, ok=schemas.EmbedSummary)
async def change_embed(
    who: EmbedManager,
    services: TheServices,
    embed_id: str,
    body: Annotated[EmbedChange, json_body(EmbedChange)],
) -> Response:
    """Title, origins, quotas, and whether it is there. It holds from the next request on."""
    await _embed_or_404(services, who, embed_id)
    changes = {
        name: value for name, value in body.model_dump(exclude_unset=True).items() if value is not None
    }
    if changes and not await services.embeds.change(who, embed_id, changes):
        raise not_found("embed")
    return json_response((await _embed_or_404(services, who, embed_id)).to_dict())


@routes.delete("/embeds/{embed_id}", "End an embed for good", 409, status=204)
async def revoke_embed(who: EmbedManager, services: TheServices, embed_id: str) -> Response:
    if not is_plausible_id(embed_id) or not await services.embeds.revoke(who, embed_id):
        raise not_found("embed")
    return no_content()


async def _embed_or_404(services: Services, who: Principal, name: str) -> Embed:
    embed = await services.embeds.get(who, name) if is_plausible_id(name) else None
    if embed is None:
        raise not_found("embed")
    return embed


async def _embed_detail(services: Services, who: Principal, embed: Embed) -> dict[str, Any]:
    token = services.embeds.token(who, embed).reveal()
    today = await services.embeds.runs_today(who, embed.id)
    return embed.to_dict() | {"token": token, "url": f"/embed/{token}", "runs_today": today}
