"""`/embed/{token}`: published tools inside pages of other places.

The token in the address is all that opens it: no cookie is set or read. Browsers show it on pages of the
origins that its publisher named, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.call import FieldError
from handrail.core.define.tool import Tool
from handrail.core.errors import StorageError
from handrail.doors.web import controls as c
from handrail.doors.web.forms.errors import outcome_field_errors
from handrail.doors.web.forms.fields import MISSING
from handrail.doors.web.forms.form import form_of
from handrail.doors.web.forms.options import PickerOptions
from handrail.doors.web.forms.post import form_items
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import bare_page, message
from handrail.doors.web.responses import html
from handrail.doors.web.router import PageContext, PageRouter
from handrail.doors.web.views.result import render_result
from handrail.identity.embeds import published_tool, published_tools, run_published_tool
from handrail.platform.middleware import EMBED_PREFIX
from handrail.store.embeds import Embed

router = PageRouter()
_ANCESTORS = "embed_ancestors"
_NOWHERE = "'none'"


@router.get("/embed/{token}", open=True)
async def show(ctx: PageContext) -> Response:
    """The one tool of a view, or all of them to choose from."""
    published = await _embed_of_token(ctx)
    tools = await published_tools(ctx.hr, *published) if published is not None else []
    if published is None or not tools:
        return _gone(ctx)
    _, embed = published
    if len(tools) == 1:
        return _tool_page(ctx, embed, tools[0], render_form(ctx, tools[0]))
    return _page(
        ctx,
        embed,
        embed.title,
        h.h1[embed.title],
        h.ul(".embed-list")[
            (
                h.li[
                    h.a(href=_url(ctx, tool))[icon(tool.icon), h.b[tool.name]],
                    h.p(".quiet")[tool.description],
                ]
                for tool in tools
            )
        ],
    )


@router.get("/embed/{token}/{slug}", open=True)
async def show_tool(ctx: PageContext) -> Response:
    published = await _embed_and_tool(ctx)
    if published is None:
        return _gone(ctx)
    _, embed, tool = published
    return _tool_page(ctx, embed, tool, render_form(ctx, tool))


@router.post("/embed/{token}/{slug}", open=True)
async def run(ctx: PageContext) -> Response:
    """Run it for a visitor; whatever goes wrong, everything typed stays."""
    published = await _embed_and_tool(ctx)
    if published is None:
        return _gone(ctx)
    tenant, embed, tool = published
    parsed = form_of(tool, "embed").read(await form_items((await ctx.form()).multi_items()))
    if not parsed.ok:
        form = render_form(ctx, tool, parsed.value, parsed.errors)
        return _tool_page(ctx, embed, tool, form, status=422 if parsed.errors else 200)
    outcome = await run_published_tool(
        ctx.hr, ctx.services.embeds, tenant, embed, tool, dict(parsed.value), ctx.address
    )
    if isinstance(outcome, str):
        form = render_form(ctx, tool, parsed.value, problem=outcome)
        return _tool_page(ctx, embed, tool, form, status=429)
    if errors := outcome_field_errors(outcome):
        return _tool_page(ctx, embed, tool, render_form(ctx, tool, parsed.value, errors), status=422)
    result = h.section("#embed-result.panel.stack", aria_labelledby="result-title")[
        h.h2("#result-title")["Result"], render_result(tool, outcome.result, id="out")
    ]
    return _tool_page(ctx, embed, tool, render_form(ctx, tool, parsed.value), result)


async def _embed_of_token(ctx: PageContext) -> tuple[str, Embed] | None:
    published = await ctx.platform.embed_of_token(ctx.part("token"))
    if published is not None:
        _, embed = published
        ctx.request.scope["state"][_ANCESTORS] = _ancestors(embed)
        ctx.web.rate_limits.take("embed", f"{embed.id} {ctx.address}")
    return published


async def frame_ancestors(ctx: PageContext) -> str:
    """Where a page that only says what went wrong may be framed: where the embed may, if there is one."""
    ancestors: str | None = ctx.request.scope["state"].get(_ANCESTORS)
    if ancestors is not None:
        return ancestors
    token = ctx.request.url.path.removeprefix(EMBED_PREFIX).partition("/")[0]
    try:
        published = await ctx.platform.embed_of_token(token)
    except StorageError:
        return _NOWHERE
    return _NOWHERE if published is None else _ancestors(published[1])


async def _embed_and_tool(ctx: PageContext) -> tuple[str, Embed, Tool] | None:
    published = await _embed_of_token(ctx)
    if published is None:
        return None
    tool = await published_tool(ctx.hr, *published, ctx.part("slug"))
    return None if tool is None else (*published, tool)


def render_form(
    ctx: PageContext,
    tool: Tool,
    value: Any = MISSING,
    errors: Sequence[FieldError] = (),
    problem: str | None = None,
) -> h.Element:
    """The form as visitors have it: what is for operators is not there."""
    run_button = h.button(".btn", type="submit", data_run=True)[icon("play"), "Run"]
    return c.upload_form("embed-form", _url(ctx, tool), "#embed", "outerMorph")[
        c.alert(problem),
        form_of(tool, "embed").render(value, errors, options=PickerOptions()),
        h.div(".row.embed-foot")[run_button],
    ]


def _tool_page(
    ctx: PageContext, embed: Embed, tool: Tool, form: h.Element, result: h.Node = None, status: int = 200
) -> Response:
    content = h.div("#embed.stack")[
        h.h1[tool.name],
        h.p(".quiet")[tool.description] if tool.description else None,
        h.section(".panel")[form],
        result,
    ]
    if ctx.by_htmx:
        return html(content, status, ancestors=_ancestors(embed))
    return _page(ctx, embed, tool.name, content, status=status)


def _page(ctx: PageContext, embed: Embed, title: str, *content: h.Node, status: int = 200) -> Response:
    return bare_page(
        ctx, title, *content, status=status, wide=True, theme="system", ancestors=_ancestors(embed)
    )


def _gone(ctx: PageContext) -> Response:
    """What was switched off says so, wherever it is framed; there is nothing on it to be misled by."""
    content = message(
        "This is no longer here", "Whoever published it has taken it back, or its time is over."
    )
    if ctx.by_htmx:
        return html(h.div("#embed")[content], 404, ancestors="*")
    return bare_page(ctx, "No longer here", content, status=404, theme="system", ancestors="*")


def _ancestors(embed: Embed) -> str:
    return " ".join(embed.origins) or _NOWHERE


def _url(ctx: PageContext, tool: Tool) -> str:
    return f"/embed/{quote(ctx.part('token'), safe='')}/{quote(tool.slug, safe='')}"
