"""Saved inputs as they are drawn: what a person keeps for a tool under names, and a link that fills it in."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

import htpy as h

from handrail.core.define.tool import Tool
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.tools.known import url_of
from handrail.doors.web.pages.tools.panel import FORM
from handrail.store.keepsakes import SavedInput

NAME, FROM = "_name", "_from"


def draw_saved(
    tool: Tool, saved: Sequence[SavedInput], *, said: str | None = None, is_wrong: bool = False
) -> h.Element:
    """The names, each with what can be done with it, and a place for a new one."""
    url = url_of(tool, "saved")
    asks = {"hx-post": url, "hx-target": "#saved", "hx-swap": "outerHTML"}
    return h.details("#saved.tool-saved", open=said is not None)[
        h.summary[icon("bookmark"), f"Saved inputs ({len(saved)})" if saved else "Saved inputs"],
        h.div(".tool-saved-list")[
            h.p(class_="form-error" if is_wrong else "quiet", role="status")[said] if said else None,
            h.ul[(_entry(tool, one.name, at) for at, one in enumerate(saved))]
            if saved
            else h.p(".quiet")["Keep an input under a name, and it is one click away next time."],
            h.div(".row")[
                h.input(
                    "#saved-name.input",
                    name=NAME,
                    form=FORM,
                    maxlength="100",
                    autocomplete="off",
                    placeholder="Name",
                    aria_label="Name for this input",
                ),
                h.button(
                    ".btn",
                    asks,
                    type="submit",
                    form=FORM,
                    formaction=url,
                    data_variant="outline",
                    data_size="sm",
                )["Save this input"],
            ],
            h.p(".form-help")["A name that is there already gets this input instead."] if saved else None,
        ],
    ]


def _entry(tool: Tool, name: str, at: int) -> h.Element:
    return h.li(".tool-saved-one")[
        h.a(href=f"{url_of(tool)}?saved={quote(name, safe='')}")[name],
        h.details[
            h.summary(aria_label=f"Change {name}")[icon("pencil")],
            h.form(".row", _asks(tool, "rename"), method="post", action=url_of(tool, "saved", "rename"))[
                h.input(type="hidden", name=FROM, value=name),
                h.input(
                    f"#saved-to-{at}.input", name=NAME, value=name, maxlength="100", aria_label="New name"
                ),
                h.button(".btn", type="submit", data_variant="outline", data_size="sm")["Rename"],
            ],
            h.form(_asks(tool, "remove"), method="post", action=url_of(tool, "saved", "remove"))[
                h.input(type="hidden", name=NAME, value=name),
                h.button(
                    ".btn", type="submit", data_variant="ghost", data_size="sm", aria_label=f"Remove {name}"
                )["Remove"],
            ],
        ],
    ]


def _asks(tool: Tool, verb: str) -> dict[str, str]:
    return {"hx-post": url_of(tool, "saved", verb), "hx-target": "#saved", "hx-swap": "outerHTML"}


def draw_linker(tool: Tool, link: str | None = None, said: str | None = None) -> h.Element:
    """The button that makes a link, and the link once it is made."""
    url = url_of(tool, "link")
    asks = {"hx-post": url, "hx-target": "#link", "hx-swap": "outerHTML"}
    return h.div("#link.tool-link")[
        h.button(
            ".btn", asks, type="submit", form=FORM, formaction=url, data_variant="ghost", data_size="sm"
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
