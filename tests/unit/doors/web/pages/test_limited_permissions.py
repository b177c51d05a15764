"""What pages offer to whoever may see a part of things only, and what they log when they break."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx
import pytest

from handrail import Handrail, Principal, tool
from handrail.doors.web.app import build_web
from handrail.platform import Platform, platform_of
from handrail.platform.middleware import SESSION_COOKIE, RequestLimits, SecurityMiddleware
from tests.unit.doors.web.pages.test_tools_pages import SignedIn

KEYS = {
    "all": Principal("acme", "ana", permissions={"dead_letters.read", "events.read"}),
    "few": Principal("acme", "bo", permissions={"dead_letters.read"}),
}


@tool("shop.fall", level="read")
async def fall() -> int:
    """Fail for good."""
    raise ValueError("it fell")


@asynccontextmanager
async def shop() -> AsyncIterator[tuple[Handrail, Platform, httpx.AsyncClient]]:
    async with Handrail(tools=[fall]) as hr:
        platform = replace(platform_of(hr), auth=SignedIn(KEYS))
        web = build_web(platform)
        door = httpx.ASGITransport(SecurityMiddleware(web, platform, RequestLimits(rate=None)))
        async with httpx.AsyncClient(transport=door, base_url="http://localhost") as http:
            yield hr, platform, http
        platform.closing.set()
        web.live.close()


def signed_in(name: str) -> dict[str, str]:
    return {"cookie": f"{SESSION_COOKIE}={name}"}


async def test_a_dead_letter_links_to_its_session_for_those_who_may_read_it() -> None:
    async with shop() as (hr, _, http):
        await hr.call("shop.fall", {}, principal=KEYS["few"], source="api", session="till 7")
        [letter] = await hr.dead_letters.list(KEYS["few"])
        for name, there in (("all", True), ("few", False)):
            shown = await http.get(f"/settings/dead-letters/{letter.id}", headers=signed_in(name))
            assert shown.status_code == 200 and "it fell" in shown.text
            links = re.findall(r'href="(/sessions/[^"]+)"', shown.text)
            assert links == (["/sessions/till%207"] if there else []), name
            assert ("Its session" in shown.text) is there
            answer = await http.get("/sessions/till%207", headers=signed_in(name))
            assert (answer.status_code == 200) is there, "the link leads where it says"


async def test_what_breaks_is_logged_once_under_the_number_that_the_page_names(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with shop() as (hr, _, http):
        monkeypatch.setattr(hr, "dead_letters", None)  # a fault of ours, as none is left to be found
        with caplog.at_level(logging.ERROR):
            shown = await http.get("/settings/dead-letters", headers=signed_in("all"))
        assert shown.status_code == 500 and "Something broke" in shown.text
        [number] = re.findall(r"logged as ([^<.]+)\.", shown.text)
        [record] = [one for one in caplog.records if one.exc_info]
        assert number in record.getMessage() and "AttributeError" in caplog.text
