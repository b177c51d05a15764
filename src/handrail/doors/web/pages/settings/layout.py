"""What the pages of the settings share: tabs, confirmation, and a word on what was just done."""

from __future__ import annotations

from typing import NamedTuple

import htpy as h
from starlette.responses import Response

from handrail.doors.web.layout import Crumb, page
from handrail.doors.web.routing import PageContext


class SettingsTab(NamedTuple):
    """A part of the settings, and what one must hold to see it."""

    label: str
    path: str
    need: str | None = None


SETTINGS_TABS = (
    SettingsTab("Profile", "/settings/profile"),
    SettingsTab("Keys", "/settings/keys", "keys.manage"),
    SettingsTab("Members", "/settings/members", "members.manage"),
    SettingsTab("Roles", "/settings/roles", "roles.manage"),
    SettingsTab("Embeds", "/settings/embeds", "embeds.manage"),
    SettingsTab("Dead letters", "/settings/dead-letters", "dead_letters.read"),
    SettingsTab("Usage", "/settings/usage", "usage.read"),
)


def settings_page(
    ctx: PageContext,
    title: str,
    *content: h.Node,
    part: str,
    status: int = 200,
    done: str | None = None,
    live: tuple[str, ...] = (),
) -> Response:
    """A page of the settings; `part` is the path of the part that it belongs to."""
    here = next(one for one in SETTINGS_TABS if one.path == part)
    crumbs: list[Crumb] = [("Settings", "/settings")]
    if title != here.label:
        crumbs.append((here.label, here.path))
    return page(
        ctx,
        title,
        h.nav(".set-nav", aria_label="Settings")[
            h.ul[(h.li[_link(one, one is here)] for one in SETTINGS_TABS if _may(ctx, one))]
        ],
        h.div(".set-done", role="status")[done] if done else None,
        content,
        active="settings",
        crumbs=crumbs,
        live=live,
        status=status,
    )


def confirm_page(
    ctx: PageContext, title: str, said: h.Node, *, part: str, action: str, label: str, back: str
) -> Response:
    """A page that asks once more before something is gone for good."""
    return settings_page(
        ctx,
        title,
        h.section(".panel.stack.set-narrow")[
            h.h1[title],
            h.p[said],
            h.form(".row", method="post", action=action)[
                h.button(".btn", type="submit", data_variant="destructive")[label],
                h.a(".btn", href=back, data_variant="outline")["Keep it"],
            ],
        ],
        part=part,
    )


def done_message(ctx: PageContext, words: dict[str, str]) -> str | None:
    """What was just done, said by a word in the address; only words that we know are shown."""
    return words.get(ctx.query.get("done", ""))


def _may(ctx: PageContext, one: SettingsTab) -> bool:
    return one.need is None or ctx.may(one.need)


def _link(one: SettingsTab, here: bool) -> h.Element:
    return h.a(".set-link", {"aria-current": "page"} if here else {}, href=one.path)[one.label]
