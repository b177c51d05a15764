"""The layout of every page: sidebar, breadcrumb, command palette, theme and account menu."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import htpy as h
from starlette.responses import HTMLResponse, Response

from handrail.doors.web import controls as c
from handrail.doors.web.assets import asset_url
from handrail.doors.web.cookies import SIDEBAR_COOKIE, THEME_COOKIE
from handrail.doors.web.icons import icon
from handrail.doors.web.live import live_url
from handrail.doors.web.responses import html
from handrail.doors.web.router import PageContext, PageRouter

_HTMX = '{"includeIndicatorCSS": false, "defaultSwap": "outerMorph", "history": true}'


class NavItem(NamedTuple):
    """An entry of the sidebar."""

    id: str
    label: str
    path: str
    icon: str
    need: str | None = None
    """A permission without which it is not there."""
    needs_database: bool = False
    on_phone: bool = False
    """Whether it stands in the bar of a small screen."""


NAV_ITEMS = (
    NavItem("home", "Home", "/", "house", on_phone=True),
    NavItem("tools", "Tools", "/tools", "wrench", on_phone=True),
    NavItem("runs", "Runs", "/runs", "activity", on_phone=True),
    NavItem("approvals", "Approvals", "/approvals", "hand", on_phone=True),
    NavItem("sessions", "Sessions", "/sessions", "users", need="events.read", needs_database=True),
    NavItem("settings", "Settings", "/settings", "settings", needs_database=True),
)

Crumb = tuple[str, str]
"""A word and where it leads."""


def page(
    ctx: PageContext,
    title: str,
    *content: h.Node,
    active: str = "",
    crumbs: Iterable[Crumb] = (),
    live: Iterable[str] = (),
    status: int = 200,
) -> HTMLResponse:
    """A page in its frame. Its heading is its own affair; `title` is for the window and ends the crumbs."""
    if ctx.somebody is None:
        return bare_page(ctx, title, *content, status=status)
    is_narrow = ctx.request.cookies.get(SIDEBAR_COOKIE) == "narrow"
    body = h.body({"hx-sse:connect": live_url(("approvals", *live)), "hx-swap": "none"})[
        h.a(".skip", href="#main")["Skip to the content"],
        h.div(class_="frame frame-narrow" if is_narrow else "frame")[
            _sidebar(ctx, active),
            h.div(".frame-page")[
                _top_bar(ctx, title, crumbs),
                h.main("#main", tabindex="-1")[content],
            ],
        ],
        _bottom_bar(ctx, active),
        _palette(),
        _shortcuts(),
        _toasts(),
    ]
    return html(_document(ctx, title, body), status)


def bare_page(
    ctx: PageContext,
    title: str,
    *content: h.Node,
    status: int = 200,
    ancestors: str = "'none'",
    wide: bool = False,
    live: str | None = None,
    theme: str | None = None,
) -> HTMLResponse:
    """A page without the frame: for whoever is not signed in, and inside pages of others.

    `live` is the address of its stream. With a `theme`, no cookie is asked for one.
    """
    stream = {} if live is None else {"hx-sse:connect": live, "hx-swap": "none"}
    body = h.body(".bare.wide" if wide else ".bare", stream)[h.main("#main")[content], _toasts()]
    return html(_document(ctx, title, body, theme), status, ancestors=ancestors)


def _toasts() -> h.Element:
    return h.div("#toasts", role="status", aria_live="polite")


def _document(ctx: PageContext, title: str, body: h.Element, theme: str | None = None) -> h.Element:
    theme = theme or ctx.request.cookies.get(THEME_COOKIE, "system")
    looks = theme if theme in ("light", "dark") else "system"
    return h.html(lang="en", class_="dark" if looks == "dark" else "", data_theme=looks)[
        h.head[
            h.meta(charset="utf-8"),
            h.meta(name="viewport", content="width=device-width, initial-scale=1"),
            h.meta(name="color-scheme", content="light dark"),
            h.meta(name="htmx-config", content=_HTMX),
            h.title[f"{title} · Handrail"],
            h.link(rel="icon", href="data:,"),
            h.link(rel="stylesheet", href=asset_url("app.css")),
            h.script(src=asset_url("first.js")),
            h.script(src=asset_url("app.js"), defer=True),
        ],
        body,
    ]


def nav_items_for(ctx: PageContext) -> list[NavItem]:
    """Where this reader may go."""
    has_database = ctx.platform.can_sign_in
    return [
        item
        for item in NAV_ITEMS
        if (has_database or not item.needs_database) and (item.need is None or ctx.may(item.need))
    ]


def _sidebar(ctx: PageContext, active: str) -> h.Element:
    return h.nav(".side", aria_label="Main")[
        h.a(".side-brand", href="/")[icon("shield-check"), h.span["Handrail"]],
        h.ul[(h.li[_nav_link(item, active)] for item in nav_items_for(ctx))],
        h.button(".side-fold", type="button", data_fold=True, title="Fold the sidebar")[
            icon("panel-left"), h.span["Fold"]
        ],
    ]


def _nav_link(item: NavItem, active: str) -> h.Element:
    current = {"aria-current": "page"} if item.id == active else {}
    waiting = h.span(".badge-count", _WAITING) if item.id == "approvals" else None
    return h.a(current, href=item.path, title=item.label)[icon(item.icon), h.span[item.label], waiting]


_WAITING = {"hx-get": "/approvals/badge", "hx-trigger": "load, approvals from:body", "hx-swap": "innerHTML"}
"""How many wait; it asks for itself whenever that may have changed."""


def _bottom_bar(ctx: PageContext, active: str) -> h.Element:
    return h.nav(".bar", aria_label="Most used")[
        h.ul[(h.li[_nav_link(item, active)] for item in nav_items_for(ctx) if item.on_phone)]
    ]


def _top_bar(ctx: PageContext, title: str, crumbs: Iterable[Crumb]) -> h.Element:
    return h.header(".top")[
        h.nav(".crumbs", aria_label="Breadcrumb")[
            h.ol[
                (h.li[h.a(href=path)[word]] for word, path in crumbs),
                h.li[h.span(aria_current="page")[title]],
            ]
        ],
        h.div(".top-tools")[
            h.button(".btn", type="button", data_variant="outline", data_size="sm", data_palette=True)[
                icon("search"), h.span["Find"], h.kbd(".kbd")["⌘K"]
            ],
            h.button(
                ".btn",
                type="button",
                data_variant="ghost",
                data_size="icon-sm",
                data_theme_switch=True,
                aria_label="Light or dark",
            )[icon("sun-moon")],
            account_menu(ctx),
        ],
    ]


def account_menu(ctx: PageContext) -> h.Element:
    """Who one is, and the way out."""
    account = ctx.account
    return h.details(".menu")[
        h.summary[
            icon("circle-user"),
            h.span(".menu-who")[h.span(".sr-only")["Account: "], account.name],
        ],
        h.div(".menu-list")[
            h.p(".menu-note")[account.tenant],
            h.a(href="/switch")["Switch tenant"] if account.several else None,
            h.a(href="/settings/profile")["Your profile"] if ctx.platform.can_sign_in else None,
            h.form(method="post", action="/sign-out")[h.button(type="submit")["Sign out"]],
        ],
    ]


def _palette() -> h.Element:
    """Everything by a few letters. Without script there is `/tools`."""
    search = {
        "hx-get": "/palette",
        "hx-trigger": "input changed delay:120ms, open",
        "hx-target": "#palette-found",
        "hx-swap": "innerHTML",
    }
    return h.dialog("#palette", aria_label="Find a page or a tool")[
        h.input(
            "#palette-words.input",
            search,
            name="q",
            type="text",
            role="combobox",
            aria_expanded="true",
            autocomplete="off",
            placeholder="Find a page or a tool",
            aria_label="Find a page or a tool",
            aria_controls="palette-found",
        ),
        h.div("#palette-found", role="listbox", aria_label="What was found"),
    ]


def _shortcuts() -> h.Element:
    return h.dialog("#shortcuts", aria_labelledby="shortcuts-title")[
        h.h2("#shortcuts-title")["Keyboard"],
        h.dl[((h.dt[h.kbd(".kbd")[key]], h.dd[does]) for key, does in SHORTCUTS)],
        h.form(method="dialog")[c.small_submit("Close")],
    ]


SHORTCUTS = (
    ("?", "This list"),
    ("⌘K", "Find a page or a tool"),
    ("g h", "Home"),
    ("g t", "Tools"),
    ("g r", "Runs"),
    ("g a", "Approvals"),
    ("⌘↵", "Run the tool on this page"),
    ("j k", "Next and previous approval"),
    ("a", "Approve"),
    ("e", "Edit and approve"),
    ("r", "Reject"),
)


def empty_state(title: str, text: str, step: h.Node = None) -> h.Element:
    """What will be here, and the first step to it."""
    return h.div(".empty-state")[h.h2[title], h.p[text], step]


def message(title: str, text: str, step: h.Node = None) -> h.Element:
    """The content of a page that only says something."""
    return h.section(".message")[h.h1[title], h.p[text], step]


router = PageRouter()
_MAX_TOOLS = 8


@router.get("/live")
async def live_stream(ctx: PageContext) -> Response:
    """What has changed, as it changes."""
    return ctx.web.live.answer(ctx.request, ctx.who.tenant, ctx.query.getlist("on"), ctx.who)


@router.get("/palette")
async def palette(ctx: PageContext) -> Response:
    """Pages and tools that fit what was typed; all pages and some tools before anything is."""
    words = ctx.query.get("q", "").strip()[:200]
    pages = [item for item in nav_items_for(ctx) if words.casefold() in item.label.casefold()]
    if words:
        matches = await ctx.hr.search(words, ctx.who, limit=_MAX_TOOLS, source="web")
        tools = [match.tool for match in matches]
    else:
        tools = await ctx.hr.tools(ctx.who, source="web", limit=_MAX_TOOLS)
    rows = [_palette_row(item.path, item.icon, item.label, "Page") for item in pages]
    rows += [
        _palette_row(f"/tools/{tool.slug}", tool.icon or "wrench", tool.name, tool.description)
        for tool in tools
    ]
    return html(h.fragment[rows or h.p(".palette-none")["Nothing fits. Try fewer letters."]])


def _palette_row(path: str, sign: str, label: str, about: str) -> h.Element:
    return h.a(".palette-row", href=path, role="option", tabindex="-1")[icon(sign), h.b[label], h.span[about]]
