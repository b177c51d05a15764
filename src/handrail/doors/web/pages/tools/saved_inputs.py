"""Saving an input under a name, renaming and removing it; and making a link of it."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.core.define.lookup import ToolDetails
from handrail.core.errors import UsageError
from handrail.doors.web.humanize import pluralize
from handrail.doors.web.pages.tools.inputs import ToolInput, posted_pairs, posted_value, read_input
from handrail.doors.web.pages.tools.lookup import described_tool, tool_url
from handrail.doors.web.pages.tools.page import ToolPageParts, saved_inputs_of, tool_page
from handrail.doors.web.pages.tools.preferences import (
    FROM,
    NAME,
    LinkTooLong,
    input_link,
    render_input_link,
    render_saved_inputs,
)
from handrail.doors.web.responses import html
from handrail.doors.web.routing import PageContext, PageRouter, redirect

router = PageRouter()
_UNREAD = "The input is not JSON yet; set that right first."
_TOO_LONG = "This input is too long for a link. Save it under a name instead."


@router.post("/tools/{slug}/saved")
async def save(ctx: PageContext) -> Response:
    """Keep what stands in the form, whole or half-typed."""
    known = await described_tool(ctx)
    pairs = await posted_pairs(ctx)
    given = read_input(known.tool, pairs)
    preferences = ctx.services.preferences
    if not given.readable:
        return await _refused(ctx, known, _UNREAD, given)
    try:
        left_out = await preferences.save(ctx.who, known.tool, posted_value(pairs, NAME) or "", given.args)
    except UsageError as error:
        return await _refused(ctx, known, str(error), given)
    said = f"Saved. {_without_secrets(left_out)}".strip()
    return await _saved(ctx, known, said, given)


@router.post("/tools/{slug}/saved/rename")
async def rename(ctx: PageContext) -> Response:
    """The same input under another name, in the place of what had that name."""
    known = await described_tool(ctx)
    given = await ctx.form()
    old, new = str(given.get(FROM) or ""), str(given.get(NAME) or "")
    preferences = ctx.services.preferences
    there = next((one for one in await saved_inputs_of(ctx, known.tool) if one.name == old), None)
    if there is None:
        return await _refused(ctx, known, "This input is not there any more.")
    if " ".join(new.split()) != old:
        try:
            await preferences.save(ctx.who, known.tool, new, there.args)
        except UsageError as error:
            return await _refused(ctx, known, str(error))
        await preferences.remove(ctx.who, known.tool.id, old)
    return await _saved(ctx, known, "Renamed.")


@router.post("/tools/{slug}/saved/remove")
async def remove(ctx: PageContext) -> Response:
    """Forget one."""
    known = await described_tool(ctx)
    given = await ctx.form()
    await ctx.services.preferences.remove(ctx.who, known.tool.id, str(given.get(NAME) or ""))
    return await _saved(ctx, known, "Removed.")


@router.post("/tools/{slug}/link")
async def link(ctx: PageContext) -> Response:
    """A link to this page with this input in it."""
    known = await described_tool(ctx)
    given = read_input(known.tool, await posted_pairs(ctx))
    drawn, status = _render_link(ctx, known, given)
    if ctx.by_htmx:
        return html(drawn, status)
    return await tool_page(ctx, known, given, ToolPageParts(linker=drawn, status=status))


def _render_link(ctx: PageContext, known: ToolDetails, given: ToolInput) -> tuple[h.Element, int]:
    if not given.readable:
        return render_input_link(known.tool, said=_UNREAD), 422
    try:
        path, left_out = input_link(known.tool, given.args)
    except LinkTooLong:
        return render_input_link(known.tool, said=_TOO_LONG), 422
    home = str(ctx.request.base_url).rstrip("/")
    said = _without_secrets(left_out) or "Whoever may use this tool finds the form filled in like this."
    return render_input_link(known.tool, home + path, said), 200


def _without_secrets(left_out: tuple[str, ...]) -> str:
    return f"{pluralize(len(left_out), 'secret')} left out: type it again each time." if left_out else ""


async def _saved(ctx: PageContext, known: ToolDetails, said: str, given: ToolInput | None = None) -> Response:
    drawn = render_saved_inputs(known.tool, await saved_inputs_of(ctx, known.tool), said=said)
    if ctx.by_htmx:
        return html(drawn)
    if given is None:
        return redirect(tool_url(known.tool))
    return await tool_page(ctx, known, given, ToolPageParts(saved=drawn))


async def _refused(
    ctx: PageContext, known: ToolDetails, said: str, given: ToolInput | None = None
) -> Response:
    drawn = render_saved_inputs(known.tool, await saved_inputs_of(ctx, known.tool), said=said, is_wrong=True)
    if ctx.by_htmx:
        return html(drawn, 422)
    return await tool_page(ctx, known, given or ToolInput(), ToolPageParts(saved=drawn, status=422))
