"""What pages offer to whoever may see a part of things only."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from handrail import Handrail, Principal, tool
from handrail.doors.entrance import COOKIE, Bounds, Entrance
from handrail.doors.web.app import build_web
from handrail.platform import Platform
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
        platform = Platform(hr, SignedIn(KEYS))
        web = build_web(platform)
        door = httpx.ASGITransport(Entrance(web, platform, Bounds(rate=None)))
        async with httpx.AsyncClient(transport=door, base_url="http://localhost") as http:
            yield hr, platform, http
        platform.closing.set()
        web.live.close()


def signed_in(name: str) -> dict[str, str]:
    return {"cookie": f"{COOKIE}={name}"}


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
