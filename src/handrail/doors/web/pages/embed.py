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
from handrail.doors.entrance import EMBEDS
from handrail.doors.web import controls as c
from handrail.doors.web.answer import html
from handrail.doors.web.forms.field import MISSING
from handrail.doors.web.forms.form import form_of
from handrail.doors.web.forms.options import Options
from handrail.doors.web.forms.post import taken
from handrail.doors.web.forms.refused import refused_fields
from handrail.doors.web.frame import bare
from handrail.doors.web.icons import icon
from handrail.doors.web.routing import Pages, Reader
from handrail.doors.web.views.result import draw_result
from handrail.identity.embedding import published_tool, published_tools, run_published
from handrail.store.embeds import Embed

pages = Pages()
_AROUND = "embed_ancestors"
_NOWHERE = "'none'"


@pages.get("/embed/{token}", open=True)
async def show(reader: Reader) -> Response:
    """The one tool of a view, or all of them to choose from."""
    found = await _behind(reader)
    if found is None:
        return _gone(reader)
    tenant, embed = found
    tools = await published_tools(reader.hr, tenant, embed)
    if not tools:
        return _gone(reader)
    if len(tools) == 1:
        return _tool_page(reader, embed, tools[0], draw_form(reader, tools[0]))
    return _page(
        reader,
        embed,
        embed.title,
        h.h1[embed.title],
        h.ul(".embed-list")[
            (
                h.li[
                    h.a(href=_url(reader, tool))[icon(tool.icon), h.b[tool.name]],
                    h.p(".quiet")[tool.description],
                ]
                for tool in tools
            )
        ],
    )


@pages.get("/embed/{token}/{slug}", open=True)
async def show_tool(reader: Reader) -> Response:
    found = await _here(reader)
    if found is None:
        return _gone(reader)
    _, embed, tool = found
    return _tool_page(reader, embed, tool, draw_form(reader, tool))


@pages.post("/embed/{token}/{slug}", open=True)
async def run(reader: Reader) -> Response:
    """Run it for a visitor; whatever goes wrong, everything typed stays."""
    found = await _here(reader)
    if found is None:
        return _gone(reader)
    tenant, embed, tool = found
    read = form_of(tool, "embed").read(await taken((await reader.form()).multi_items()))
    if not read.ok:
        form = draw_form(reader, tool, read.value, read.errors)
        return _tool_page(reader, embed, tool, form, status=422 if read.errors else 200)
    done = await run_published(
        reader.hr, reader.offices.embeds, tenant, embed, tool, dict(read.value), reader.address
    )
    if isinstance(done, str):
        form = draw_form(reader, tool, read.value, said=done)
        return _tool_page(reader, embed, tool, form, status=429)
    if errors := refused_fields(done):
        return _tool_page(reader, embed, tool, draw_form(reader, tool, read.value, errors), status=422)
    result = h.section("#embed-result.panel.stack", aria_labelledby="result-title")[
        h.h2("#result-title")["Result"], draw_result(tool, done.result, id="out")
    ]
    return _tool_page(reader, embed, tool, draw_form(reader, tool, read.value), result)


async def _behind(reader: Reader) -> tuple[str, Embed] | None:
    if reader.platform.offices is None:
        return None
    found = await reader.offices.embeds.behind(reader.part("token"))
    if found is not None:
        reader.request.scope["state"][_AROUND] = _ancestors(found[1])
        reader.web.pacing.take("embed", f"{found[1].id} {reader.address}")
    return found


async def around(reader: Reader) -> str:
    """Where a page that only says what went wrong may be framed: where the embed may, if there is one."""
    known: str | None = reader.request.scope["state"].get(_AROUND)
    if known is not None or reader.platform.offices is None:
        return known or _NOWHERE
    token = reader.request.url.path.removeprefix(EMBEDS).partition("/")[0]
    try:
        found = await reader.offices.embeds.behind(token)
    except StorageError:
        return _NOWHERE
    return _NOWHERE if found is None else _ancestors(found[1])


async def _here(reader: Reader) -> tuple[str, Embed, Tool] | None:
    found = await _behind(reader)
    if found is None:
        return None
    tool = await published_tool(reader.hr, *found, reader.part("slug"))
    return None if tool is None else (*found, tool)


def draw_form(
    reader: Reader,
    tool: Tool,
    value: Any = MISSING,
    errors: Sequence[FieldError] = (),
    said: str | None = None,
) -> h.Element:
    """The form as visitors have it: what is for operators is not there."""
    form, url = form_of(tool, "embed"), _url(reader, tool)
    asks = {"hx-post": url, "hx-target": "#embed", "hx-swap": "outerMorph", "hx-sync": "this:drop"}
    options = Options()
    fields = (
        form.draw(errors=errors, options=options)
        if value is MISSING
        else form.draw(value, errors, options=options)
    )
    return h.form(
        asks,
        id="embed-form",
        method="post",
        action=url,
        enctype="multipart/form-data",
        novalidate=True,
    )[
        c.alert(said) if said else None,
        fields,
        h.div(".row.embed-foot")[h.button(".btn", type="submit", data_run=True)[icon("play"), "Run"]],
    ]


def _tool_page(
    reader: Reader, embed: Embed, tool: Tool, form: h.Element, result: h.Node = None, status: int = 200
) -> Response:
    content = h.div("#embed.stack")[
        h.h1[tool.name],
        h.p(".quiet")[tool.description] if tool.description else None,
        h.section(".panel")[form],
        result,
    ]
    if reader.by_htmx:
        return html(content, status, ancestors=_ancestors(embed))
    return _page(reader, embed, tool.name, content, status=status)


def _page(reader: Reader, embed: Embed, title: str, *content: h.Node, status: int = 200) -> Response:
    return bare(
        reader, title, *content, status=status, wide=True, theme="system", ancestors=_ancestors(embed)
    )


def _gone(reader: Reader) -> Response:
    """What was switched off says so, wherever it is framed; there is nothing on it to be misled by."""
    content = h.section(".message")[
        h.h1["This is no longer here"], h.p["Whoever published it has taken it back, or its time is over."]
    ]
    if reader.by_htmx:
        return html(h.div("#embed")[content], 404, ancestors="*")
    return bare(reader, "No longer here", content, status=404, theme="system", ancestors="*")


def _ancestors(embed: Embed) -> str:
    return " ".join(embed.origins) or _NOWHERE


def _url(reader: Reader, tool: Tool) -> str:
    return f"/embed/{quote(reader.part('token'), safe='')}/{quote(tool.slug, safe='')}"
