"""GET /api/tools: which tools there are, for whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from handrail.core.define.permission import Level, Source
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Origin, Tool
from handrail.core.errors import ToolError
from handrail.core.find.visibility import row_slug
from handrail.doors.http import shapes
from handrail.doors.http.paging import After, Limit, Name
from handrail.doors.http.refusing import Refused, no_such
from handrail.doors.http.routing import Anybody, ThePlatform, TheSource, answers, router
from handrail.doors.http.telling import ready
from handrail.identity.resolved import ResolvedKind, ResolvedTool
from handrail.platform import Platform

routes = router("tools")
KindOf = Callable[[Tool], ResolvedKind]
_BATCH = 200


@routes.get("/tools", summary="List the tools that you may use", responses=answers(ok=shapes.ToolPage))
async def list_tools(
    who: Anybody,
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
    kind_of = await kinds(platform, who)

    def fits(tool: Tool) -> bool:
        return (
            (origin is None or tool.origin == origin)
            and (category is None or tool.category == category)
            and (level is None or tool.level == level)
            and (kind is None or kind_of(tool) == kind)
        )

    page, more = await _page(platform, who, source, fits, after, limit)
    lines = [line(tool, kind_of(tool)) for tool in page]
    return ready({"tools": lines, "next": page[-1].id if more else None})


async def _page(
    platform: Platform,
    who: Principal,
    source: Source,
    fits: Callable[[Tool], bool],
    after: str | None,
    limit: int,
) -> tuple[list[Tool], bool]:
    """The next tools that fit, and whether there is another one."""
    found: list[Tool] = []
    while len(found) <= limit:
        batch = await platform.hr.tools(who, source=source, after=after, limit=_BATCH)
        found += [tool for tool in batch if fits(tool)]
        if len(batch) < _BATCH:
            break
        after = batch[-1].id
    return found[:limit], len(found) > limit


@routes.get("/tools/search", summary="Find tools by words", responses=answers(ok=shapes.FoundTools))
async def search_tools(
    who: Anybody,
    platform: ThePlatform,
    source: TheSource,
    q: Annotated[str, Query(max_length=1_000, description="What the tool should do.")],
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
) -> Response:
    """The tools that fit best, the best first."""
    kind_of = await kinds(platform, who)
    found = await platform.hr.search(q, who, limit=limit, source=source)
    lines = [
        line(one.tool, kind_of(one.tool))
        | {"score": one.score, "matched": {part: list(words) for part, words in one.matched.items()}}
        for one in found
    ]
    return ready({"tools": lines})


@routes.get(
    "/tools/{slug}", summary="Read one tool: schemas, level and hints", responses=answers(ok=shapes.ToolWhole)
)
async def read_tool(who: Anybody, platform: ThePlatform, source: TheSource, slug: str) -> Response:
    """By slug, id or alias. Whoever may change a tool sees it also while it is hidden."""
    return ready(await whole_tool(platform, slug, who, source))


async def whole_tool(platform: Platform, slug: str, who: Principal, source: Source) -> dict[str, Any]:
    """Everything about a tool that this principal may see, or may look after."""
    kind_of = await kinds(platform, who)
    try:
        known = await platform.hr.describe(slug, who, source=source)
    except ToolError as error:
        if error.code != "TOOL_NOT_FOUND":
            raise
        hidden = await kept(platform, slug, who) if who.holds("tools.tenant.update") else None
        if hidden is None:
            raise no_such_tool() from None
        return _whole(hidden.tool, hidden.kind, hidden.visible, None, False)
    return _whole(known.tool, kind_of(known.tool), True, known.decision.verdict, known.varies)


async def kept(platform: Platform, slug: str, who: Principal) -> ResolvedTool | None:
    """A tool that rows may speak of, hidden or not."""
    if platform.offices is None:
        return None
    return await platform.offices.tools.resolve_tool_for_tenant(slug, who.tenant)


def no_such_tool() -> Refused:
    return no_such("tool")


async def kinds(platform: Platform, who: Principal) -> KindOf:
    """How each tool of a tenant is kept."""
    if platform.offices is None:
        return lambda _: "code"
    view = await platform.offices.tools.view(who)
    named = view.mine.states().keys() | view.common.states().keys()

    def kind_of(tool: Tool) -> ResolvedKind:
        if tool.origin == "tenant_custom":
            return "tenant_custom"
        return "system_override" if row_slug(tool) in named else "code"

    return kind_of


def line(tool: Tool, kind: ResolvedKind) -> dict[str, Any]:
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


def _whole(
    tool: Tool, kind: ResolvedKind, visible: bool, verdict: str | None, varies: bool
) -> dict[str, Any]:
    sections = tool.sections or (tool.view.sections if tool.view else ())
    return line(tool, kind) | {
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
