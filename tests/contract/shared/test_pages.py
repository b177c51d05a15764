"""The pages of shared sessions and embeds, as members, guests and visitors ask for them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from handrail import Principal
from handrail.core.define.sections import FormSpec
from handrail.core.find.visibility import ToolRow
from handrail.doors.entrance import COOKIE, Entrance
from handrail.doors.http.api import build_api
from handrail.doors.web.app import build_web
from handrail.doors.web.pages.shared.seat import GUEST, url_of
from handrail.identity.guests import Participant
from handrail.platform import platform_of
from handrail.store.tools import save_row
from tests.contract.shared.rooms import ACME, Rooms, rating, rooms


async def _judge(score: int, note: str = "") -> dict[str, int]:
    """Judge something."""
    return {"score": score}


JUDGE = rating("team.judge", _judge, form=FormSpec({"note": {"operator_only": True}}))


@asynccontextmanager
async def pages(url: str, *tools: Any, api: bool = False) -> AsyncIterator[tuple[Rooms, httpx.AsyncClient]]:
    async with rooms(url, *tools) as house:
        platform = platform_of(house.hr)
        web = build_web(platform)
        door = Entrance(build_api(platform) if api else web, platform)
        transport = httpx.ASGITransport(door)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            yield house, http
        platform.closing.set()
        web.live.close()


async def signed_in(house: Rooms, who: Principal) -> dict[str, str]:
    token = await house.offices.doorkeeper.sign_in(str(who.user), who.tenant)
    return {"cookie": f"{COOKIE}={token}"}


def as_guest(note: str) -> dict[str, str]:
    return {"cookie": f"{GUEST}={note}"}


async def always_ask(house: Rooms, slug: str) -> None:
    row = ToolRow(ACME, slug, "system_override", enabled=True, permission_policy="always_ask")
    await house.offices.db.write(ACME, lambda conn: save_row(conn, ACME, row, at=1.0, by="ana"))
    house.offices.tools.forget(ACME)


@pytest.mark.req("CS-05", "UI-16")
async def test_a_guest_reads_nothing_that_is_for_operators_only(sqlite_url: str) -> None:
    async with pages(sqlite_url, JUDGE) as (house, http):
        ana = await house.person("owner")
        session = await house.session(ana, "team.judge")
        _, note = await house.join(await house.link(ana, session), "Bo")
        done = await house.submit(
            session, Participant(str(ana.user), "Ana", ana), score=4, note="for us alone"
        )
        assert done.submission is not None
        places = ["", "/part", "/answers.csv", "/answers.json", f"/answer/{done.submission.id}"]
        for place in places:
            theirs = await http.get(f"{url_of(session)}{place}", headers=as_guest(note))
            ours = await http.get(f"{url_of(session)}{place}", headers=await signed_in(house, ana))
            assert (theirs.status_code, ours.status_code) == (200, 200)
            assert "for us alone" in ours.text, place
            assert "for us alone" not in theirs.text, place
