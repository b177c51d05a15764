"""shell: what the pages of the settings share. Only what one may use is there."""

from __future__ import annotations

from typing import NamedTuple

import htpy as h
from starlette.responses import Response

from handrail.doors.web.frame import Crumb, page
from handrail.doors.web.routing import Reader


class Part(NamedTuple):
    """A part of the settings, and what one must hold to see it."""

    label: str
    path: str
    need: str | None = None


PARTS = (
    Part("Profile", "/settings/profile"),
    Part("Keys", "/settings/keys", "keys.manage"),
    Part("Members", "/settings/members", "members.manage"),
    Part("Roles", "/settings/roles", "roles.manage"),
    Part("Embeds", "/settings/embeds", "embeds.manage"),
    Part("Dead letters", "/settings/dead-letters", "dead_letters.read"),
    Part("Usage", "/settings/usage", "usage.read"),
)


def settings(
    reader: Reader,
    title: str,
    *content: h.Node,
    part: str,
    status: int = 200,
    done: str | None = None,
    live: tuple[str, ...] = (),
) -> Response:
    """A page of the settings; `part` is the path of the part that it belongs to."""
    here = next(one for one in PARTS if one.path == part)
    crumbs: list[Crumb] = [("Settings", "/settings")]
    if title != here.label:
        crumbs.append((here.label, here.path))
    return page(
        reader,
        title,
        h.nav(".set-nav", aria_label="Settings")[
            h.ul[(h.li[_link(one, one is here)] for one in PARTS if _may(reader, one))]
        ],
        h.div(".set-done", role="status")[done] if done else None,
        content,
        active="settings",
        crumbs=crumbs,
        live=live,
        status=status,
    )


def confirm(
    reader: Reader, title: str, said: h.Node, *, part: str, action: str, label: str, back: str
) -> Response:
    """A page that asks once more before something is gone for good."""
    return settings(
        reader,
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


def done(reader: Reader, words: dict[str, str]) -> str | None:
    """What was just done, said by a word in the address; only words that we know are shown."""
    return words.get(reader.query.get("done", ""))


def _may(reader: Reader, one: Part) -> bool:
    return one.need is None or reader.may(one.need)


def _link(one: Part, here: bool) -> h.Element:
    return h.a(".set-link", {"aria-current": "page"} if here else {}, href=one.path)[one.label]
