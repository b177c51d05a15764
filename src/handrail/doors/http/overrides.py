"""PATCH and DELETE /api/tools/{slug}: how a tenant has a tool that is written in code, and its versions."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from handrail.core.define.permission import PermissionPolicy, Source
from handrail.core.define.principal import Principal
from handrail.doors.http import shapes
from handrail.doors.http.reading import body
from handrail.doors.http.refusing import Refused, invalid
from handrail.doors.http.routing import TheOffices, ThePlatform, TheSource, answers, need, router
from handrail.doors.http.telling import nothing, ready
from handrail.doors.http.tools import kept, no_such_tool, whole_tool
from handrail.doors.http.whose import plausible
from handrail.platform import Platform
from handrail.store.versions import Version

routes = router("tools")
_PAGE = 50


class Override(BaseModel):
    """What a tenant changes of a tool. A word that is null is again as the code has it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    enabled: bool = Field(default=True, description="Whether the tenant's callers have the tool.")
    permission_policy: PermissionPolicy | None = None
    name: str | None = Field(default=None, max_length=200)
    description: str | None = Field(default=None, max_length=2_000)
    category: str | None = Field(default=None, max_length=200)
    icon: str | None = Field(default=None, max_length=200)


@routes.patch(
    "/tools/{slug}",
    summary="Change how your tenant has a tool",
    responses=answers(409, 415, ok=shapes.ToolWhole),
)
async def override_tool(
    who: Annotated[Principal, need("tools.tenant.update")],
    platform: ThePlatform,
    offices: TheOffices,
    source: TheSource,
    slug: str,
    given: Annotated[Override, body(Override)],
) -> Response:
    """Hide it, show it, give it other words, or make it ask. What is left out stays."""
    found = await kept(platform, slug, who)
    if found is None or found.kind == "tenant_custom":
        raise no_such_tool()
    changes = given.model_dump(exclude_unset=True)
    if not changes:
        raise invalid("", f"Say what to change: {', '.join(Override.model_fields)}")
    await offices.editing.override(who, found.slug, changes)
    return ready(await whole_tool(platform, found.slug, who, source))


@routes.delete(
    "/tools/{slug}",
    summary="Remove all that your tenant changed of a tool",
    status_code=204,
    responses=answers(409, status=204),
)
async def reset_tool(
    who: Annotated[Principal, need("tools.tenant.delete")],
    platform: ThePlatform,
    offices: TheOffices,
    slug: str,
) -> Response:
    """The tool is again as the code has it."""
    found = await kept(platform, slug, who)
    if found is None or found.kind == "tenant_custom":
        raise no_such_tool()
    await offices.editing.remove(who, found.slug, "system_override")
    return nothing()


@routes.get(
    "/tools/{slug}/versions",
    summary="The history of a tool's schemas",
    responses=answers(ok=shapes.VersionPage),
)
async def list_tool_versions(
    who: Annotated[Principal, need("tools.tenant.read")],
    platform: ThePlatform,
    source: TheSource,
    slug: str,
    before: Annotated[int | None, Query(ge=1, le=2**31)] = None,
) -> Response:
    """The newest first. A tool that is written in code has its history in the code."""
    tool = await _known(platform, slug, who, source)
    found: list[Version] = []
    if platform.offices is not None and plausible(slug):
        found = await platform.offices.editing.versions(who, tool["slug"] if tool else slug, before=before)
    if tool is None and not found:
        raise no_such_tool()
    more = found[-1].number if len(found) == _PAGE and found[-1].number > 1 else None
    digest = tool["digest"] if tool else None
    return ready({"digest": digest, "versions": [asdict(one) for one in found], "next": more})


async def _known(platform: Platform, slug: str, who: Principal, source: Source) -> dict[str, Any] | None:
    """The tool, unless it is only stored and cannot be used now."""
    try:
        return await whole_tool(platform, slug, who, source)
    except Refused:
        return None
