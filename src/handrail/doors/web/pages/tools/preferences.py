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
from handrail.doors.web import controls as c
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.tools.input_panel import FORM_ID
from handrail.doors.web.pages.tools.inputs import InvalidJson, read_json_object
from handrail.doors.web.responses import html
from handrail.doors.web.router import PageContext, PageRouter, redirect
from handrail.doors.web.tool_lookup import requested_tool, tool_url
from handrail.store.preferences import SavedInput

router = PageRouter()


def has_preferences(ctx: PageContext) -> bool:
    """Whether this reader can keep things: that takes a database, and a person."""
    return ctx.platform.can_sign_in and ctx.who.user is not None and ctx.who.agent is None


async def favourites_of(ctx: PageContext) -> list[str]:
    """The ids of this reader's favourite tools."""
    return await ctx.services.preferences.favourites(ctx.who) if has_preferences(ctx) else []


@router.post("/tools/{slug}/star")
async def set_favourite(ctx: PageContext) -> Response:
    """Make it a favourite, or none any more."""
    tool = await requested_tool(ctx)
    form = await ctx.form()
    on = form.get("on") == "1"
    await ctx.services.preferences.set_favourite(ctx.who, tool.id, on)
    if ctx.by_htmx:
        return html(render_star(tool, on))
    return redirect("/tools" if form.get("back") == "library" else tool_url(tool))


def render_star(tool: Tool, on: bool, back: str | None = None) -> h.Element:
    """A button that says how it stands, and changes it."""
    url = tool_url(tool, "star")
    label = f"{tool.name}: a favourite" if on else f"{tool.name}: make it a favourite"
    return h.form(".tool-star", {"hx-post": url, "hx-swap": "outerHTML"}, method="post", action=url)[
        c.hidden(on="0" if on else "1", **({"back": back} if back else {})),
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
    text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    packed = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    path = f"{tool_url(tool)}?input={packed}"
    if len(path) > MAX_LINK:
        raise LinkTooLong
    return path, left_out


def input_from_link(tool: Tool, packed: str) -> dict[str, Any]:
    """The input of a link. One that was broken on the way says so; a secret in it is not taken."""
    try:
        text = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True).decode()
        args = read_json_object(text)
    except (InvalidJson, ValueError):
        raise InvalidJson("The link is not whole, so nothing of it was filled in. Copy it again.") from None
    shown, _ = drop_paths(args, tool.secrets)
    return dict(shown)


NAME, FROM = "_name", "_from"


def render_saved_inputs(
    tool: Tool, saved: Sequence[SavedInput], *, text: str | None = None, is_wrong: bool = False
) -> h.Element:
    """The names, each with what can be done with it, and a field for a new one; `text` is what was done."""
    name_input = {"maxlength": "100", "autocomplete": "off", "placeholder": "Name"}
    return h.details("#saved.tool-saved", open=text is not None)[
        h.summary[icon("bookmark"), f"Saved inputs ({len(saved)})" if saved else "Saved inputs"],
        h.div(".tool-saved-list")[
            h.p(class_="form-error" if is_wrong else "quiet", role="status")[text] if text else None,
            h.ul[(_saved_input(tool, item.name, at) for at, item in enumerate(saved))]
            if saved
            else h.p(".quiet")["Keep an input under a name, and it is one click away next time."],
            h.div(".row")[
                h.input(
                    "#saved-name.input", name_input, name=NAME, form=FORM_ID, aria_label="Name for this input"
                ),
                _form_button(tool_url(tool, "saved"), "#saved", "outline", "Save this input"),
            ],
            h.p(".form-help")["A name that is there already gets this input instead."] if saved else None,
        ],
    ]


def _form_button(url: str, target: str, variant: str, label: h.Node) -> h.Element:
    """A button outside the form of the input that posts it to another address."""
    asks = c.post_into(url, target)
    return h.button(
        ".btn", asks, type="submit", form=FORM_ID, formaction=url, data_variant=variant, data_size="sm"
    )[label]


def _saved_input(tool: Tool, name: str, at: int) -> h.Element:
    def post_form(verb: str, class_: str | None = None) -> h.Element:
        url = tool_url(tool, "saved", verb)
        return h.form(c.post_into(url, "#saved"), class_=class_, method="post", action=url)

    return h.li(".tool-saved-one")[
        h.a(href=f"{tool_url(tool)}?saved={quote(name, safe='')}")[name],
        h.details[
            h.summary(aria_label=f"Change {name}")[icon("pencil")],
            post_form("rename", "row")[
                c.hidden(**{FROM: name}),
                h.input(
                    f"#saved-to-{at}.input", name=NAME, value=name, maxlength="100", aria_label="New name"
                ),
                c.small_submit("Rename"),
            ],
            post_form("remove")[
                c.hidden(**{NAME: name}), c.submit("Remove", "ghost", "sm", aria_label=f"Remove {name}")
            ],
        ],
    ]


def render_input_link(tool: Tool, link: str | None = None, text: str | None = None) -> h.Element:
    """The button that makes a link, and the link once it is made."""
    label = [icon("link"), "Link with this input"]
    copy = {"data-copy": "link-text", "data-variant": "outline", "data-size": "sm"}
    return h.div("#link.tool-link")[
        _form_button(tool_url(tool, "link"), "#link", "ghost", label),
        h.div(".row")[
            h.input("#link-text.input", value=link, readonly=True, aria_label="Link with this input"),
            h.button(".btn", copy, type="button")["Copy"],
        ]
        if link
        else None,
        h.p(".quiet", role="status")[text] if text else None,
    ]
