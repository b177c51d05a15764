"""SettingsSection: the pattern of the settings pages: tab, routes, page, confirmation, what was done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import htpy as h
from starlette.responses import Response

from handrail.doors.web import controls as c
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import Crumb, page
from handrail.doors.web.router import Handler, PageContext, PageRouter, redirect

T = TypeVar("T")


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


class Question(NamedTuple):
    """What is asked once more before something is gone for good."""

    title: str
    text: str
    label: str
    """Of the button that does it."""
    back: str = ""
    """Where to go instead, below the path of the section."""


@dataclass(frozen=True)
class SettingsSection:
    """The pages behind one tab."""

    tab: SettingsTab
    done: Mapping[str, str]
    """What was just done, by the word for it in the address; no other word is shown."""
    router: PageRouter = field(default_factory=PageRouter)

    @property
    def path(self) -> str:
        return self.tab.path

    def get(self, below: str = "", need: str | None = None) -> Callable[[Handler], Handler]:
        return self.router.get(self.path + below, need=need or self.tab.need)

    def post(self, below: str = "", need: str | None = None) -> Callable[[Handler], Handler]:
        return self.router.post(self.path + below, need=need or self.tab.need)

    def page(self, ctx: PageContext, title: str, *content: h.Node, status: int = 200) -> Response:
        """A page of the section; where something went wrong, nothing is said to be done."""
        done = self.done.get(ctx.query.get("done", "")) if status == 200 else None
        crumbs: list[Crumb] = [("Settings", "/settings")]
        if title != self.tab.label:
            crumbs.append((self.tab.label, self.path))
        tabs = [tab for tab in SETTINGS_TABS if tab.need is None or ctx.may(tab.need)]
        return page(
            ctx,
            title,
            h.nav(".set-nav", aria_label="Settings")[h.ul[(h.li[self._tab_link(tab)] for tab in tabs)]],
            h.div(".set-done", role="status")[done] if done else None,
            content,
            active="settings",
            crumbs=crumbs,
            status=status,
        )

    def _tab_link(self, tab: SettingsTab) -> h.Element:
        current = {"aria-current": "page"} if tab == self.tab else {}
        return h.a(".set-link", current, href=tab.path)[tab.label]

    def head(self, new: str) -> h.Element:
        """The heading of a list, and the way to a new item."""
        button = c.link_button(f"{self.path}/new", [icon("plus"), new])
        return h.header(".head")[h.h1[self.tab.label], button]

    def redirect(self, done: str, below: str = "") -> Response:
        """Back to the section, or to a page of it, which says what was done."""
        return redirect(f"{self.path}{below}?done={done}")

    def confirmed(
        self,
        below: str,
        ask: Callable[[PageContext], Awaitable[Question]],
        *,
        done: str,
        need: str | None = None,
    ) -> Callable[[Callable[[PageContext], Awaitable[None]]], None]:
        """Two routes for one step that cannot be undone: a page that asks, and the form that does it."""

        def register(perform: Callable[[PageContext], Awaitable[None]]) -> None:
            @self.get(below, need)
            async def show_question(ctx: PageContext) -> Response:
                question = await ask(ctx)
                title, text, label, back = question
                action = ctx.request.url.path
                panel = c.confirm_panel(title, text, action, label, self.path + back, "set-narrow")
                return self.page(ctx, title, panel)

            @self.post(below, need)
            async def perform_and_return(ctx: PageContext) -> Response:
                await perform(ctx)
                return self.redirect(done)

        return register


def settings_section(label: str, **done: str) -> SettingsSection:
    """The section behind a tab, with what can be said to be done there."""
    return SettingsSection(next(tab for tab in SETTINGS_TABS if tab.label == label), done)


def current_and_past(
    items: Sequence[T],
    is_current: Callable[[T], bool],
    table: Callable[[list[T]], h.Element],
    empty: h.Element,
    past_label: str,
) -> h.Node:
    """The items that still hold, and in a fold those that do not."""
    current = [item for item in items if is_current(item)]
    past = [item for item in items if not is_current(item)]
    return [
        table(current) if current else empty,
        h.details[h.summary[f"{len(past)} {past_label}"], table(past)] if past else None,
    ]
