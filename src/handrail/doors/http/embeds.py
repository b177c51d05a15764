"""/api/embeds: tools that are published for everybody, on pages of other places."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from handrail.core.define.principal import Principal
from handrail.core.errors import ToolError
from handrail.doors.http import shared_shapes as shapes
from handrail.doors.http.reading import body
from handrail.doors.http.refusing import invalid, no_such
from handrail.doors.http.routing import TheHandrail, TheOffices, TheSource, answers, need, router
from handrail.doors.http.telling import nothing, ready
from handrail.doors.http.whose import plausible
from handrail.identity.embeds import MOST_ORIGINS, MOST_RUNS, MOST_TOOLS
from handrail.identity.offices import Offices
from handrail.store.embeds import Embed

routes = router("embeds")
Managing = Annotated[Principal, need("embeds.manage")]
Quota = Annotated[int, Field(ge=0, le=MOST_RUNS)]
_CENTURY = 100 * 365 * 86_400.0
_NO_STORE = {"cache-control": "no-store"}


class NewEmbed(BaseModel):
    """What to publish, where it may be shown, and how often it may be used."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(min_length=1, max_length=200)
    tools: list[Annotated[str, Field(max_length=200)]] = Field(min_length=1, max_length=MOST_TOOLS)
    origins: list[Annotated[str, Field(max_length=300)]] = Field(default=[], max_length=MOST_ORIGINS)
    runs_per_day: Quota = 1_000
    runs_per_visitor: Quota = 100
    lifetime: float | None = Field(default=None, gt=0, le=_CENTURY, allow_inf_nan=False)


class EmbedChange(BaseModel):
    """What is left out stays as it is. `enabled: false` ends it at once, until it is true again."""

    model_config = ConfigDict(extra="forbid", strict=True)

    title: str | None = Field(default=None, min_length=1, max_length=200)
    origins: list[Annotated[str, Field(max_length=300)]] | None = Field(default=None, max_length=MOST_ORIGINS)
    runs_per_day: Quota | None = None
    runs_per_visitor: Quota | None = None
    enabled: bool | None = None


@routes.get("/embeds", summary="List embeds", responses=answers(409, ok=shapes.EmbedList))
async def list_embeds(who: Managing, offices: TheOffices) -> Response:
    """The newest first, also those that are revoked."""
    return ready({"embeds": [one.to_dict() for one in await offices.embeds.list(who)]})


@routes.post(
    "/embeds",
    summary="Publish tools for everybody",
    status_code=201,
    responses=answers(409, 415, ok=shapes.EmbedWhole, status=201),
)
async def publish_embed(
    who: Managing,
    hr: TheHandrail,
    offices: TheOffices,
    source: TheSource,
    given: Annotated[NewEmbed, body(NewEmbed)],
) -> Response:
    """Tools that only read, and that you may use. Whoever has the token may use them, and no others."""
    tools = []
    for name in given.tools:
        try:
            tools.append((await hr.describe(name, who, source=source)).tool)
        except ToolError as error:
            if error.code != "TOOL_NOT_FOUND":
                raise
            raise invalid("tools", "names a tool that is not there, or is not yours to see") from None
    _, made = await offices.embeds.publish(
        who,
        given.title,
        tools,
        given.origins,
        runs_per_day=given.runs_per_day,
        runs_per_visitor=given.runs_per_visitor,
        lifetime=given.lifetime,
    )
    return ready(await _whole(offices, who, made), 201, _NO_STORE)


@routes.get("/embeds/{embed_id}", summary="Read one embed", responses=answers(409, ok=shapes.EmbedWhole))
async def read_embed(who: Managing, offices: TheOffices, embed_id: str) -> Response:
    """With its token, and how often it was used today."""
    return ready(await _whole(offices, who, await _there(offices, who, embed_id)), headers=_NO_STORE)


@routes.patch(
    "/embeds/{embed_id}",
    summary="Change an embed, or switch it off",
    responses=answers(409, 415, ok=shapes.EmbedLine),
)
async def change_embed(
    who: Managing, offices: TheOffices, embed_id: str, given: Annotated[EmbedChange, body(EmbedChange)]
) -> Response:
    """Title, origins, quotas, and whether it is there. It holds from the next request on."""
    await _there(offices, who, embed_id)
    changes = {
        name: value for name, value in given.model_dump(exclude_unset=True).items() if value is not None
    }
    if changes and not await offices.embeds.change(who, embed_id, changes):
        raise no_such("embed")
    return ready((await _there(offices, who, embed_id)).to_dict())


@routes.delete(
    "/embeds/{embed_id}", summary="End an embed for good", status_code=204, responses=answers(409, status=204)
)
async def revoke_embed(who: Managing, offices: TheOffices, embed_id: str) -> Response:
    if not plausible(embed_id) or not await offices.embeds.revoke(who, embed_id):
        raise no_such("embed")
    return nothing()


async def _there(offices: Offices, who: Principal, name: str) -> Embed:
    found = await offices.embeds.get(who, name) if plausible(name) else None
    if found is None:
        raise no_such("embed")
    return found


async def _whole(offices: Offices, who: Principal, embed: Embed) -> dict[str, Any]:
    token = offices.embeds.token(who, embed).reveal()
    today = await offices.embeds.runs_today(who, embed.id)
    return embed.to_dict() | {"token": token, "url": f"/embed/{token}", "runs_today": today}
