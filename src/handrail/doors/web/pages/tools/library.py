"""`/tools`: the library. What this reader may use, found by words, origin, kind or category."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import htpy as h
from starlette.responses import Response

from handrail.core.define.tool import Tool
from handrail.doors.web.answer import html
from handrail.doors.web.frame import empty, page
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.tools.choosing import (
    KINDS,
    ORIGINS,
    Choices,
    Leaf,
    Wish,
    choices_of,
    leaf_of,
    recent_of,
    seen,
    wish_of,
)
from handrail.doors.web.pages.tools.known import url_of
from handrail.doors.web.pages.tools.star import draw_star, favourites_of, keeps
from handrail.doors.web.routing import Pages, Reader
from handrail.doors.web.words import count, level_mark

pages = Pages()
_FAVOURITES = 24


@pages.get("/tools")
async def library(reader: Reader) -> Response:
    """The library, or with htmx the part that changes while somebody types."""
    wish = wish_of(reader.query)
    starred = await favourites_of(reader)
    if reader.by_htmx:
        return html(await _found(reader, wish, starred))
    choices = await choices_of(reader)
    return page(
        reader,
        "Tools",
        h.div(".head")[h.h1["Tools"], h.span(".quiet")[count(choices.total, "tool")]],
        _finder(reader, wish, choices) if choices.total else None,
        await _found(reader, wish, starred) if choices.total else _nothing(),
        active="tools",
    )


def _nothing() -> h.Element:
    return empty(
        "No tools yet",
        "The tools that you may use stand here. Write one, or let whoever runs this server give you one.",
        h.p[h.code["handrail new tool notes.search"]],
    )


def _finder(reader: Reader, wish: Wish, choices: Choices) -> h.Element:
    asks = {
        "hx-get": "/tools",
        "hx-trigger": "input delay:150ms, submit",
        "hx-target": "#library",
        "hx-swap": "outerHTML",
        "hx-replace-url": "true",
        "hx-sync": "this:replace",
    }
    kept = reader.platform.offices is not None
    return h.form("#tool-find.tool-find", asks, method="get", action="/tools", role="search")[
        h.input(
            "#tool-words.input",
            type="search",
            name="q",
            value=wish.words,
            maxlength="200",
            autocomplete="off",
            placeholder="Find a tool by what it does",
            aria_label="Find a tool",
        ),
        _chooser("origin", "Origin", {one: ORIGINS[one] for one in choices.origins}, wish.origin),
        _chooser("kind", "Kind", KINDS, wish.kind) if kept else None,
        _chooser("category", "Category", {one: one for one in choices.categories}, wish.category),
        h.button(".btn", type="submit", data_variant="outline")["Find"],
    ]


def _chooser(name: str, label: str, options: Mapping[str, str], chosen: str) -> h.Element | None:
    """What there is only one of cannot be chosen by."""
    if len(options) < 2 and not chosen:
        return None
    return h.select(".select", name=name, aria_label=label)[
        h.option(value="")[f"{label}: any"],
        (h.option(value=value, selected=value == chosen)[words] for value, words in options.items()),
    ]


async def _found(reader: Reader, wish: Wish, starred: Collection[str]) -> h.Element | h.Fragment:
    leaf = await leaf_of(reader, wish)
    if wish.after and reader.by_htmx:
        return h.fragment[_cards(reader, leaf, wish, starred)]
    favourites = await seen(reader, starred, _FAVOURITES) if wish.is_open else []
    recent = await recent_of(reader) if wish.is_open else []
    return h.div("#library.tool-library")[
        _row(reader, "Favourites", favourites, starred),
        _row(reader, "Used lately", recent, starred),
        h.section(aria_label="Tools" if wish.is_open else "What was found")[
            h.h2["All tools"] if favourites or recent else None,
            h.ul(".tool-grid")[_cards(reader, leaf, wish, starred)] if leaf.tools else _no_match(wish),
            h.p(".quiet")["There is more: add a word to find it."] if leaf.cut else None,
        ],
    ]


def _no_match(wish: Wish) -> h.Element:
    about = f" for “{wish.words}”" if wish.words else ""
    return empty(
        f"Nothing found{about}",
        "Try fewer or other words, or look at all tools.",
        h.a(".btn", href="/tools", data_variant="outline")["Show all tools"],
    )


def _row(reader: Reader, title: str, tools: Iterable[Tool], starred: Collection[str]) -> h.Element | None:
    there = list(tools)
    if not there:
        return None
    return h.section(aria_label=title)[
        h.h2[title], h.ul(".tool-grid")[(_card(reader, one, starred) for one in there)]
    ]


def _cards(reader: Reader, leaf: Leaf, wish: Wish, starred: Collection[str]) -> Iterable[h.Element | None]:
    yield from (_card(reader, one, starred) for one in leaf.tools)
    if leaf.following is not None:
        url = wish.url(after=leaf.following)
        more = {"hx-get": url, "hx-target": "closest li", "hx-swap": "outerHTML"}
        yield h.li(".tool-more")[h.a(".btn", more, href=url, data_variant="outline")["More tools"]]


def _card(reader: Reader, tool: Tool, starred: Collection[str]) -> h.Element:
    return h.li(".tool-card")[
        h.a(".tool-card-link", href=url_of(tool))[
            h.span(".tool-card-icon")[icon(tool.icon)], h.span(".tool-card-name")[tool.name]
        ],
        draw_star(tool, tool.id in starred, "library") if keeps(reader) else None,
        h.p(".tool-card-about")[tool.description],
        h.p(".tool-card-foot")[
            level_mark(tool.level, tool.danger), h.span(".quiet")[tool.category] if tool.category else None
        ],
    ]
