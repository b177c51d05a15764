"""`/tools`: the library. What this reader may use, by words, origin, kind or category."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

import htpy as h
from starlette.responses import Response

from handrail.core.define.tool import Tool
from handrail.doors.web import controls as c
from handrail.doors.web.humanize import level_badge, pluralize
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import empty_state, page
from handrail.doors.web.pages.tools.preferences import favourites_of, has_preferences, render_star
from handrail.doors.web.responses import html
from handrail.doors.web.router import PageContext, PageRouter
from handrail.doors.web.tool_lookup import tool_url, visible_tools
from handrail.platform.tools import KindOf, tool_kinds

PAGE_SIZE = 48
"""Tools of one page."""
_BATCH = 200

_MAX_FOUND = 60
"""The most that a search shows."""
_MAX_QUERY = 200
_MAX_RECENT = 6

_MAX_RUNS = 60
"""How many of the newest runs are looked through for recent tools."""

ORIGINS: Mapping[str, str] = {
    "system": "Built in",
    "custom": "Written here",
    "tenant_custom": "Made by your team",
    "bundle": "From a bundle",
    "mcp": "From another server",
}

KINDS: Mapping[str, str] = {
    "code": "As written",
    "system_override": "Adjusted for your team",
    "tenant_custom": "Kept by your team",
}


@dataclass(frozen=True, slots=True)
class LibraryQuery:
    """What somebody looks for in the library."""

    words: str = ""
    origin: str = ""
    kind: str = ""
    category: str = ""
    after: str = ""

    @property
    def is_open(self) -> bool:
        """Whether nothing in particular is looked for."""
        return not (self.words or self.origin or self.kind or self.category or self.after)

    def url(self, **changes: str) -> str:
        """The address of the library as it is wished for."""
        query = {"q": self.words, "origin": self.origin, "kind": self.kind, "category": self.category}
        pairs = {name: value for name, value in (query | changes).items() if value}
        return f"/tools?{urlencode(pairs)}" if pairs else "/tools"


def read_library_query(query: Mapping[str, str]) -> LibraryQuery:
    """What an address asks for; what there is none of counts for nothing."""
    words, category, after = (query.get(name, "").strip()[:_MAX_QUERY] for name in ("q", "category", "after"))
    origin, kind = query.get("origin", ""), query.get("kind", "")
    return LibraryQuery(
        words, origin if origin in ORIGINS else "", kind if kind in KINDS else "", category, after
    )


@dataclass(frozen=True, slots=True)
class LibraryPage:
    """One page of the library."""

    tools: tuple[Tool, ...]
    following: str | None = None
    """After which tool the next page begins, if there is one."""
    cut: bool = False
    """Whether a search found more than is shown."""


async def library_page(ctx: PageContext, query: LibraryQuery) -> LibraryPage:
    """The tools that fit, of those this reader may see: the best first, or by id."""
    kind_of = await tool_kinds(ctx.platform, ctx.who) if query.kind else None
    if query.words:
        matches = await ctx.hr.search(query.words, ctx.who, limit=_MAX_FOUND * 4, source=ctx.source)
        tools = [match.tool for match in matches]
        fitting = [tool for tool in tools if tool.ready and _fits(tool, query, kind_of)]
        return LibraryPage(tuple(fitting[:_MAX_FOUND]), cut=len(fitting) > _MAX_FOUND)
    return await _page(ctx, query, kind_of)


async def _page(ctx: PageContext, query: LibraryQuery, kind_of: KindOf | None) -> LibraryPage:
    tools: list[Tool] = []
    after = query.after or None
    while len(tools) <= PAGE_SIZE:
        batch = await ctx.hr.tools(ctx.who, source=ctx.source, after=after, limit=_BATCH)
        tools += [tool for tool in batch if _fits(tool, query, kind_of)]
        if len(batch) < _BATCH:
            break
        after = batch[-1].id
    return LibraryPage(tuple(tools[:PAGE_SIZE]), tools[PAGE_SIZE - 1].id if len(tools) > PAGE_SIZE else None)


def _fits(tool: Tool, query: LibraryQuery, kind_of: KindOf | None) -> bool:
    return (
        (not query.origin or tool.origin == query.origin)
        and (not query.category or tool.category == query.category)
        and (kind_of is None or kind_of(tool) == query.kind)
    )


@dataclass(frozen=True, slots=True)
class LibraryFacets:
    """By what this reader's tools can be told apart."""

    total: int
    origins: tuple[str, ...]
    categories: tuple[str, ...]


async def library_facets(ctx: PageContext) -> LibraryFacets:
    """Of all that this reader may see, however much that is."""
    tools = await ctx.hr.tools(ctx.who, source=ctx.source)
    origins = {tool.origin for tool in tools}
    categories = {tool.category for tool in tools if tool.category}
    return LibraryFacets(
        len(tools),
        tuple(origin for origin in ORIGINS if origin in origins),
        tuple(sorted(categories, key=str.casefold)),
    )


async def recent_tools(ctx: PageContext) -> list[Tool]:
    """What this reader ran last, each tool once."""
    if ctx.who.user is None:
        return []
    runs = await ctx.hr.runs(ctx.who, user=ctx.who.user, limit=_MAX_RUNS)
    used = dict.fromkeys(run.tool for run in runs if run.agent == ctx.who.agent)
    return await visible_tools(ctx, used, _MAX_RECENT)


router = PageRouter()
_MAX_FAVOURITES = 24


@router.get("/tools")
async def library(ctx: PageContext) -> Response:
    """The library, or with htmx the part that changes while somebody types."""
    query = read_library_query(ctx.query)
    starred = await favourites_of(ctx)
    if ctx.by_htmx:
        return html(await _matches(ctx, query, starred))
    facets = await library_facets(ctx)
    return page(
        ctx,
        "Tools",
        h.div(".head")[h.h1["Tools"], h.span(".quiet")[pluralize(facets.total, "tool")]],
        [_search_form(ctx, query, facets), await _matches(ctx, query, starred)]
        if facets.total
        else _nothing(),
        active="tools",
    )


def _nothing() -> h.Element:
    return empty_state(
        "No tools yet",
        "The tools that you may use stand here. Write one, or let whoever runs this server give you one.",
        h.p[h.code["handrail new tool notes.search"]],
    )


def _search_form(ctx: PageContext, query: LibraryQuery, facets: LibraryFacets) -> h.Element:
    asks = {
        **c.get_into("/tools", "#library"),
        "hx-trigger": "input delay:150ms, submit",
        "hx-replace-url": "true",
        "hx-sync": "this:replace",
    }
    has_database = ctx.platform.can_sign_in
    return h.form("#tool-find.tool-find", asks, method="get", action="/tools", role="search")[
        h.input(
            "#tool-words.input",
            type="search",
            name="q",
            value=query.words,
            maxlength="200",
            autocomplete="off",
            placeholder="Find a tool by what it does",
            aria_label="Find a tool",
        ),
        _filter("origin", "Origin", {origin: ORIGINS[origin] for origin in facets.origins}, query.origin),
        _filter("kind", "Kind", KINDS, query.kind) if has_database else None,
        _filter("category", "Category", {name: name for name in facets.categories}, query.category),
        c.submit("Find", "outline"),
    ]


def _filter(name: str, label: str, options: Mapping[str, str], chosen: str) -> h.Element | None:
    """What there is only one of cannot be chosen by."""
    if len(options) < 2 and not chosen:
        return None
    return h.select(".select", name=name, aria_label=label)[
        h.option(value="")[f"{label}: any"],
        (h.option(value=value, selected=value == chosen)[words] for value, words in options.items()),
    ]


async def _matches(ctx: PageContext, query: LibraryQuery, starred: Collection[str]) -> h.Element | h.Fragment:
    listing = await library_page(ctx, query)
    if query.after and ctx.by_htmx:
        return h.fragment[_cards(ctx, listing, query, starred)]
    favourites = await visible_tools(ctx, starred, _MAX_FAVOURITES) if query.is_open else []
    recent = await recent_tools(ctx) if query.is_open else []
    return h.div("#library.tool-library")[
        _row(ctx, "Favourites", favourites, starred),
        _row(ctx, "Used lately", recent, starred),
        h.section(aria_label="Tools" if query.is_open else "What was found")[
            h.h2["All tools"] if favourites or recent else None,
            h.ul(".tool-grid")[_cards(ctx, listing, query, starred)] if listing.tools else _no_match(query),
            h.p(".quiet")["There is more: add a word to find it."] if listing.cut else None,
        ],
    ]


def _no_match(query: LibraryQuery) -> h.Element:
    about = f" for “{query.words}”" if query.words else ""
    return empty_state(
        f"Nothing found{about}",
        "Try fewer or other words, or look at all tools.",
        c.link_button("/tools", "Show all tools", "outline"),
    )


def _row(ctx: PageContext, title: str, tools: list[Tool], starred: Collection[str]) -> h.Element | None:
    if not tools:
        return None
    return h.section(aria_label=title)[
        h.h2[title], h.ul(".tool-grid")[(_card(ctx, tool, starred) for tool in tools)]
    ]


def _cards(
    ctx: PageContext, listing: LibraryPage, query: LibraryQuery, starred: Collection[str]
) -> Iterable[h.Element | None]:
    yield from (_card(ctx, tool, starred) for tool in listing.tools)
    if listing.following is not None:
        url = query.url(after=listing.following)
        asks = c.get_into(url, "closest li")
        yield h.li(".tool-more")[c.link_button(url, "More tools", "outline", asks=asks)]


def _card(ctx: PageContext, tool: Tool, starred: Collection[str]) -> h.Element:
    return h.li(".tool-card")[
        h.a(".tool-card-link", href=tool_url(tool))[
            h.span(".tool-card-icon")[icon(tool.icon)], h.span(".tool-card-name")[tool.name]
        ],
        render_star(tool, tool.id in starred, "library") if has_preferences(ctx) else None,
        h.p(".tool-card-about")[tool.description],
        h.p(".tool-card-foot")[
            level_badge(tool.level, tool.danger), h.span(".quiet")[tool.category] if tool.category else None
        ],
    ]
