"""What a person keeps for a tool: the star of a favourite, saved inputs, and links that fill in its form."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.redaction import drop_paths
from handrail.core.define.tool import Tool
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.tools.input_panel import FORM_ID
from handrail.doors.web.pages.tools.inputs import InvalidJson, read_json_object
from handrail.doors.web.pages.tools.lookup import requested_tool, tool_url
from handrail.doors.web.responses import html
from handrail.doors.web.routing import PageContext, PageRouter, redirect
from handrail.store.preferences import SavedInput

router = PageRouter()


def has_preferences(ctx: PageContext) -> bool:
    """Whether this reader can keep things: that takes a database, and a person."""
    return ctx.platform.services is not None and ctx.who.user is not None and ctx.who.agent is None


async def favourites_of(ctx: PageContext) -> list[str]:
    """The ids of this reader's favourite tools."""
    return await ctx.services.preferences.favourites(ctx.who) if has_preferences(ctx) else []


@router.post("/tools/{slug}/star")
async def set_favourite(ctx: PageContext) -> Response:
    """Make it a favourite, or none any more."""
    tool = await requested_tool(ctx)
    given = await ctx.form()
    on = given.get("on") == "1"
    await ctx.services.preferences.set_favourite(ctx.who, tool.id, on)
    if ctx.by_htmx:
        return html(render_star(tool, on))
    return redirect("/tools" if given.get("back") == "library" else tool_url(tool))


def render_star(tool: Tool, on: bool, back: str | None = None) -> h.Element:
    """A button that says how it stands, and changes it."""
    url = tool_url(tool, "star")
    label = f"{tool.name}: a favourite" if on else f"{tool.name}: make it a favourite"
    return h.form(".tool-star", {"hx-post": url, "hx-swap": "outerHTML"}, method="post", action=url)[
        h.input(type="hidden", name="on", value="0" if on else "1"),
        h.input(type="hidden", name="back", value=back) if back else None,
        h.button(
            type="submit",
            class_="tool-star-on" if on else "",
            aria_pressed="true" if on else "false",
            aria_label=label,
            title="A favourite" if on else "Make it a favourite",
        )[icon("star")],
    ]


MAX_LINK = 4_000
"""Characters of a link that mail programs and servers still pass on."""


class LinkTooLong(ValueError):
    """The input is too long for a link; save it under a name instead."""


def input_link(tool: Tool, value: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The path of a page whose form is filled in like this, and which secrets were left out of it."""
    shown, left_out = drop_paths(dict(value), tool.secrets)
    told = json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode()
    packed = base64.urlsafe_b64encode(told).decode().rstrip("=")
    path = f"{tool_url(tool)}?input={packed}"
    if len(path) > MAX_LINK:
        raise LinkTooLong
    return path, left_out


def input_from_link(tool: Tool, packed: str) -> dict[str, Any]:
    """The input of a link. One that was broken on the way says so; a secret in it is not taken."""
    try:
        text = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True).decode()
        found = read_json_object(text)
    except (InvalidJson, ValueError):
        raise InvalidJson("The link is not whole, so nothing of it was filled in. Copy it again.") from None
    shown, _ = drop_paths(found, tool.secrets)
    return dict(shown)


NAME, FROM = "_name", "_from"


def render_saved_inputs(
    tool: Tool, saved: Sequence[SavedInput], *, said: str | None = None, is_wrong: bool = False
) -> h.Element:
    """The names, each with what can be done with it, and a place for a new one."""
    url = tool_url(tool, "saved")
    asks = {"hx-post": url, "hx-target": "#saved", "hx-swap": "outerHTML"}
    return h.details("#saved.tool-saved", open=said is not None)[
        h.summary[icon("bookmark"), f"Saved inputs ({len(saved)})" if saved else "Saved inputs"],
        h.div(".tool-saved-list")[
            h.p(class_="form-error" if is_wrong else "quiet", role="status")[said] if said else None,
            h.ul[(_saved_input(tool, one.name, at) for at, one in enumerate(saved))]
            if saved
            else h.p(".quiet")["Keep an input under a name, and it is one click away next time."],
            h.div(".row")[
                h.input(
                    "#saved-name.input",
                    name=NAME,
                    form=FORM_ID,
                    maxlength="100",
                    autocomplete="off",
                    placeholder="Name",
                    aria_label="Name for this input",
                ),
                h.button(
                    ".btn",
                    asks,
                    type="submit",
                    form=FORM_ID,
                    formaction=url,
                    data_variant="outline",
                    data_size="sm",
                )["Save this input"],
            ],
            h.p(".form-help")["A name that is there already gets this input instead."] if saved else None,
        ],
    ]


def _saved_input(tool: Tool, name: str, at: int) -> h.Element:
    return h.li(".tool-saved-one")[
        h.a(href=f"{tool_url(tool)}?saved={quote(name, safe='')}")[name],
        h.details[
            h.summary(aria_label=f"Change {name}")[icon("pencil")],
            h.form(".row", _asks(tool, "rename"), method="post", action=tool_url(tool, "saved", "rename"))[
                h.input(type="hidden", name=FROM, value=name),
                h.input(
                    f"#saved-to-{at}.input", name=NAME, value=name, maxlength="100", aria_label="New name"
                ),
                h.button(".btn", type="submit", data_variant="outline", data_size="sm")["Rename"],
            ],
            h.form(_asks(tool, "remove"), method="post", action=tool_url(tool, "saved", "remove"))[
                h.input(type="hidden", name=NAME, value=name),
                h.button(
                    ".btn", type="submit", data_variant="ghost", data_size="sm", aria_label=f"Remove {name}"
                )["Remove"],
            ],
        ],
    ]


def _asks(tool: Tool, verb: str) -> dict[str, str]:
    return {"hx-post": tool_url(tool, "saved", verb), "hx-target": "#saved", "hx-swap": "outerHTML"}


def render_input_link(tool: Tool, link: str | None = None, said: str | None = None) -> h.Element:
    """The button that makes a link, and the link once it is made."""
    url = tool_url(tool, "link")
    asks = {"hx-post": url, "hx-target": "#link", "hx-swap": "outerHTML"}
    return h.div("#link.tool-link")[
        h.button(
            ".btn", asks, type="submit", form=FORM_ID, formaction=url, data_variant="ghost", data_size="sm"
        )[icon("link"), "Link with this input"],
        h.div(".row")[
            h.input("#link-text.input", value=link, readonly=True, aria_label="Link with this input"),
            h.button(".btn", type="button", data_copy="link-text", data_variant="outline", data_size="sm")[
                "Copy"
            ],
        ]
        if link
        else None,
        h.p(".quiet", role="status")[said] if said else None,
    ]
