"""The pattern of the settings pages: who has its routes, what is asked once more, what is said to be done."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import htpy as h
import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import Response

from handrail import Handrail, Principal
from handrail.doors.web.app import build_web
from handrail.doors.web.pages import settings
from handrail.doors.web.pages.settings.section import (
    SETTINGS_TABS,
    Question,
    SettingsSection,
    current_and_past,
    settings_section,
)
from handrail.doors.web.router import PageContext, PageNotFound, require
from handrail.platform import platform_of
from handrail.platform.middleware import SESSION_COOKIE, RequestLimits, SecurityMiddleware
from tests.unit.doors.web.pages.test_tools_pages import SignedIn

KEYS = {
    "ana": Principal("acme", "ana", permissions={"keys.manage"}),
    "bo": Principal("acme", "bo", permissions={"usage.read"}),
}


def example_section(revoked: list[str]) -> SettingsSection:
    section = settings_section("Keys", revoked="The key was revoked.")

    @section.get()
    async def show(ctx: PageContext) -> Response:
        return section.page(ctx, "Keys", status=400 if ctx.query.get("wrong") else 200)

    async def ask(ctx: PageContext) -> Question:
        return Question(f"Revoke {ctx.part('id')}?", "It opens nothing any more.", "Revoke", "/back")

    @section.confirmed("/{id}/revoke", ask, done="revoked")
    async def revoke(ctx: PageContext) -> None:
        revoked.append(ctx.part("id"))

    return section


@asynccontextmanager
async def opened(section: SettingsSection) -> AsyncIterator[dict[str, httpx.AsyncClient]]:
    """The routes of one section, with accounts and errors as in the app."""
    async with Handrail() as hr:
        platform = replace(platform_of(hr), auth=SignedIn(KEYS))
        web = build_web(platform)
        web._app = Starlette(
            routes=section.router.mounted(web.state), exception_handlers={PageNotFound: web._not_found}
        )
        transport = httpx.ASGITransport(SecurityMiddleware(web, platform, RequestLimits(rate=None)))
        clients = {
            name: httpx.AsyncClient(
                transport=transport, base_url="http://localhost", cookies={SESSION_COOKIE: name}
            )
            for name in KEYS
        }
        yield clients
        for client in clients.values():
            await client.aclose()
        platform.closing.set()
        web.live.close()


async def test_what_cannot_be_undone_is_asked_once_more_and_then_done() -> None:
    revoked: list[str] = []
    async with opened(example_section(revoked)) as people:
        question = await people["ana"].get("/settings/keys/k1/revoke")
        assert question.status_code == 200 and "Revoke k1?" in question.text and revoked == []
        assert 'method="post" action="/settings/keys/k1/revoke"' in question.text
        assert 'href="/settings/keys/back"' in question.text
        done = await people["ana"].post("/settings/keys/k1/revoke")
        assert (done.status_code, done.headers["location"]) == (303, "/settings/keys?done=revoked")
        assert revoked == ["k1"]


async def test_a_section_says_what_was_done_in_words_that_it_knows_and_never_beside_an_error() -> None:
    async with opened(example_section([])) as people:
        assert "The key was revoked." in (await people["ana"].get("/settings/keys?done=revoked")).text
        assert "set-done" not in (await people["ana"].get("/settings/keys?done=anything")).text
        wrong = await people["ana"].get("/settings/keys?done=revoked&wrong=1")
        assert wrong.status_code == 400 and "set-done" not in wrong.text


async def test_without_the_permission_of_its_tab_a_section_is_not_there() -> None:
    revoked: list[str] = []
    async with opened(example_section(revoked)) as people:
        for method, path in (("GET", ""), ("GET", "/k1/revoke"), ("POST", "/k1/revoke")):
            answer = await people["bo"].request(method, f"/settings/keys{path}")
            assert answer.status_code == 404, (method, path)
        assert revoked == []


async def test_the_tabs_are_those_that_the_reader_may_open() -> None:
    async with opened(example_section([])) as people:
        text = (await people["ana"].get("/settings/keys")).text
        assert '<a class="set-link" aria-current="page" href="/settings/keys">Keys</a>' in text
        assert 'href="/settings/profile"' in text and 'href="/settings/usage"' not in text


def test_every_tab_has_a_section_and_every_section_a_tab() -> None:
    paths = {path for router in settings.PAGES for _, path, _ in router.routes}
    assert {tab.path for tab in SETTINGS_TABS} <= paths
    assert all(
        path == "/settings" or path.startswith(tuple(tab.path for tab in SETTINGS_TABS)) for path in paths
    )


@pytest.mark.parametrize(
    ("items", "shown"),
    [
        ([], ["empty"]),
        ([1], ["table [1]"]),
        ([1, -1], ["table [1]", "1 over", "table [-1]"]),
        ([-1], ["empty"]),
    ],
)
def test_items_that_no_longer_hold_are_in_a_fold(items: list[int], shown: list[str]) -> None:
    content = current_and_past(
        items, lambda item: item > 0, lambda part: h.p[f"table {part}"], h.p["empty"], "over"
    )
    text = str(h.div[content])
    assert all(words in text for words in shown)
    assert ("<details>" in text) is (-1 in items)


def test_where_there_is_nothing_there_is_no_page() -> None:
    assert require(0) == 0 and require("") == ""
    with pytest.raises(PageNotFound):
        require(None)
