"""/api/tools: list, search and read tools; how a tenant overrides one, and its versions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from handrail.core.define.levels import Level, PermissionPolicy, Source
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Origin, Tool
from handrail.core.errors import ToolError
from handrail.core.find.visibility import row_slug
from handrail.doors.http import schemas
from handrail.doors.http.errors import ApiError, invalid_param, not_found
from handrail.doors.http.parameters import After, Limit, Name, json_body
from handrail.doors.http.router import (
    Router,
    SignedIn,
    ThePlatform,
    TheServices,
    TheSource,
    need,
)
from handrail.identity.tenant_tools import ResolvedKind
from handrail.platform import Platform
from handrail.platform.access import is_plausible_id
from handrail.platform.responses import json_response, no_content
from handrail.platform.tools import stored_tool, tool_kinds, tool_versions

routes = Router("tools")
_BATCH = 200


@routes.get("/tools", "List the tools that you may use", ok=schemas.ToolPage)
async def list_tools(
    who: SignedIn,
    platform: ThePlatform,
    source: TheSource,
    origin: Annotated[Origin | None, Query(description="Where they come from.")] = None,
    kind: Annotated[ResolvedKind | None, Query(description="How they are kept.")] = None,
    category: Name = None,
    level: Level | None = None,
    after: After = None,
    limit: Limit = 50,
) -> Response:
    """Sorted by id. What you may not see is not there."""
    kind_of = await tool_kinds(platform, who)

    def fits(tool: Tool) -> bool:
        return (
            (origin is None or tool.origin == origin)
            and (category is None or tool.category == category)
            and (level is None or tool.level == level)
            and (kind is None or kind_of(tool) == kind)
        )

    page, more = await _page_of_tools(platform, who, source, fits, after, limit)
    lines = [tool_summary(tool, kind_of(tool)) for tool in page]
    return json_response({"tools": lines, "next": page[-1].id if more else None})


async def _page_of_tools(
    platform: Platform,
    who: Principal,
    source: Source,
    fits: Callable[[Tool], bool],
    after: str | None,
    limit: int,
) -> tuple[list[Tool], bool]:
    """The next tools that fit, and whether there is another one."""
    tools: list[Tool] = []
    while len(tools) <= limit:
        batch = await platform.hr.tools(who, source=source, after=after, limit=_BATCH)
        tools += [tool for tool in batch if fits(tool)]
        if len(batch) < _BATCH:
            break
        after = batch[-1].id
    return tools[:limit], len(tools) > limit


@routes.get("/tools/search", "Find tools by words", ok=schemas.ToolSearchResults)
async def search_tools(
    who: SignedIn,
    platform: ThePlatform,
    source: TheSource,
    q: Annotated[str, Query(max_length=1_000, description="What the tool should do.")],
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
) -> Response:
    """The tools that fit best, the best first."""
    kind_of = await tool_kinds(platform, who)
    matches = await platform.hr.search(q, who, limit=limit, source=source)
    lines = [
        tool_summary(match.tool, kind_of(match.tool))
        | {"score": match.score, "matched": {part: list(words) for part, words in match.matched.items()}}
        for match in matches
    ]
    return json_response({"tools": lines})


@routes.get("/tools/{slug}", "Read one tool: schemas, level and hints", ok=schemas.ToolDetail)
async def read_tool(who: SignedIn, platform: ThePlatform, source: TheSource, slug: str) -> Response:
    """By slug, id or alias. Whoever may change a tool sees it also while it is hidden."""
    return json_response(await tool_detail(platform, slug, who, source))


async def tool_detail(platform: Platform, slug: str, who: Principal, source: Source) -> dict[str, Any]:
    """Everything about a tool that this principal may see, or may look after."""
    kind_of = await tool_kinds(platform, who)
    try:
        details = await platform.hr.describe(slug, who, source=source)
    except ToolError as error:
        if error.code != "TOOL_NOT_FOUND":
            raise
        hidden = await stored_tool(platform, slug, who) if who.holds("tools.tenant.update") else None
        if hidden is None:
            raise tool_not_found() from None
        return _detail_json(hidden.tool, hidden.kind, hidden.visible, None, False)
    return _detail_json(details.tool, kind_of(details.tool), True, details.decision.verdict, details.varies)


def tool_not_found() -> ApiError:
    return not_found("tool")


def tool_summary(tool: Tool, kind: ResolvedKind) -> dict[str, Any]:
    """What a list tells of a tool."""
    return {
        "id": tool.id,
        "slug": row_slug(tool),
        "name": tool.name,
        "description": tool.description,
        "category": tool.category,
        "icon": tool.icon,
        "origin": tool.origin,
        "kind": kind,
        "level": tool.level,
        "danger": tool.danger,
        "aliases": list(tool.aliases),
    }


def _detail_json(
    tool: Tool, kind: ResolvedKind, visible: bool, verdict: str | None, varies: bool
) -> dict[str, Any]:
    sections = tool.sections or (tool.view.sections if tool.view else ())
    return tool_summary(tool, kind) | {
        "guidance": tool.guidance,
        "digest": tool.digest,
        "visible": visible,
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
        "level_varies": tool.level_of_call is not None or tool.danger_of_call is not None,
        "policy": tool.policy,
        "requires": tool.requires,
        "capabilities": sorted(tool.capabilities),
        "timeout": tool.timeout,
        "collaborative": tool.collaborative,
        "annotations": {
            "read_only": tool.level == "read",
            "destructive": tool.level == "destructive",
            "idempotent": tool.idempotent or tool.level == "read",
        },
        "form": None if tool.form is None else dict(tool.form.hints),
        "sections": [section.to_dict() for section in sections],
        "verdict": verdict,
        "varies": varies,
    }


override_routes = Router("tools")
_VERSIONS_PAGE = 50


class ToolOverride(BaseModel):
    """What a tenant changes of a tool. A word that is null is again as the code has it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    enabled: bool = Field(default=True, description="Whether the tenant's callers have the tool.")
    permission_policy: PermissionPolicy | None = None
    name: str | None = Field(default=None, max_length=200)
    description: str | None = Field(default=None, max_length=2_000)
    category: str | None = Field(default=None, max_length=200)
    icon: str | None = Field(default=None, max_length=200)


@override_routes.patch("/tools/{slug}", "Change how your tenant has a tool", 409, 415, ok=schemas.ToolDetail)
async def override_tool(
    who: Annotated[Principal, need("tools.tenant.update")],
    platform: ThePlatform,
    services: TheServices,
    source: TheSource,
    slug: str,
    body: Annotated[ToolOverride, json_body(ToolOverride)],
) -> Response:
    """Hide it, show it, give it other words, or make it ask. What is left out stays."""
    stored = await stored_tool(platform, slug, who)
    if stored is None or stored.kind == "tenant_custom":
        raise tool_not_found()
    changes = body.model_dump(exclude_unset=True)
    if not changes:
        raise invalid_param("", f"Say what to change: {', '.join(ToolOverride.model_fields)}")
    await services.tool_admin.override(who, stored.slug, changes)
    return json_response(await tool_detail(platform, stored.slug, who, source))


@override_routes.delete("/tools/{slug}", "Remove all that your tenant changed of a tool", 409, status=204)
async def reset_tool(
    who: Annotated[Principal, need("tools.tenant.delete")],
    platform: ThePlatform,
    services: TheServices,
    slug: str,
) -> Response:
    """The tool is again as the code has it."""
    stored = await stored_tool(platform, slug, who)
    if stored is None or stored.kind == "tenant_custom":
        raise tool_not_found()
    await services.tool_admin.remove(who, stored.slug, "system_override")
    return no_content()


@override_routes.get("/tools/{slug}/versions", "The history of a tool's schemas", ok=schemas.VersionPage)
async def list_tool_versions(
    who: Annotated[Principal, need("tools.tenant.read")],
    platform: ThePlatform,
    source: TheSource,
    slug: str,
    before: Annotated[int | None, Query(ge=1, le=2**31)] = None,
) -> Response:
    """The newest first. A tool that is written in code has its history in the code."""
    tool = await _detail_or_none(platform, slug, who, source)
    current_slug = tool["slug"] if tool else slug
    versions = await tool_versions(platform, current_slug, who, before) if is_plausible_id(slug) else []
    if tool is None and not versions:
        raise tool_not_found()
    more = versions[-1].number if len(versions) == _VERSIONS_PAGE and versions[-1].number > 1 else None
    digest = tool["digest"] if tool else None
    return json_response(
        {"digest": digest, "versions": [asdict(version) for version in versions], "next": more}
    )


async def _detail_or_none(
    platform: Platform, slug: str, who: Principal, source: Source
) -> dict[str, Any] | None:
    """The tool, unless it is only stored and cannot be used now."""
    try:
        return await tool_detail(platform, slug, who, source)
    except ApiError:
        return None
