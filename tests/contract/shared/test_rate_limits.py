"""People without an account ask only so fast: guests, whoever joins, and visitors of embeds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from starlette.types import Message

from handrail.doors.web import guest_limits
from handrail.doors.web.app import build_web
from handrail.doors.web.pages.tool_sessions.access import GUEST_COOKIE, session_url
from handrail.platform import platform_of
from handrail.platform.middleware import SecurityMiddleware
from tests.contract.shared.two_tenants import TwoTenants, two_tenants


@asynccontextmanager
async def doors(url: str) -> AsyncIterator[tuple[TwoTenants, SecurityMiddleware]]:
    async with two_tenants(url) as tenants:
        platform = platform_of(tenants.hr)
        web = build_web(platform)
        yield tenants, SecurityMiddleware(web, platform)
        platform.closing.set()
        web.live.close()


async def asked(
    door: SecurityMiddleware, path: str, note: str = "", address: str = "10.0.0.1", **more: object
) -> httpx.Response:
    transport = httpx.ASGITransport(door, client=(address, 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        headers = {"cookie": f"{GUEST_COOKIE}={note}"} if note else {}
        return await http.request("POST" if more else "GET", path, headers=headers, data=more or None)


def is_told_to_wait(answer: httpx.Response) -> bool:
    return (
        answer.status_code == 429 and int(answer.headers["retry-after"]) > 0 and "Try again in" in answer.text
    )


def only_one_of(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setitem(guest_limits.PER_SECOND, kind, 0.001)


@pytest.mark.req("CS-04")
async def test_a_guest_asks_only_so_fast_and_others_do_not_wait_for_it(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_one_of(monkeypatch, "guest")
    async with doors(sqlite_url) as (tenants, door):
        ana = await tenants.person("owner")
        session = await tenants.session(ana)
        link = await tenants.link(ana, session)
        notes = [(await tenants.join(link, name))[1] for name in ("Bo", "Cy")]
        for note in notes:
            assert (await asked(door, session_url(session), note)).status_code == 200
            for place in ("part", "live", "answers.csv", "answers.json"):
                assert is_told_to_wait(await asked(door, session_url(session, place), note)), place
            assert is_told_to_wait(await asked(door, session_url(session), note, score="1"))


@pytest.mark.req("CS-04")
async def test_all_guests_of_a_link_together_ask_only_so_fast(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_one_of(monkeypatch, "link")
    async with doors(sqlite_url) as (tenants, door):
        ana = await tenants.person("owner")
        for _ in range(2):  # each link by itself
            session = await tenants.session(ana)
            link = await tenants.link(ana, session)
            notes = [(await tenants.join(link, name))[1] for name in ("Bo", "Cy")]
            assert (await asked(door, session_url(session), notes[0])).status_code == 200
            assert is_told_to_wait(await asked(door, session_url(session), notes[1]))


@pytest.mark.req("CS-04")
async def test_one_address_joins_only_so_fast(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    only_one_of(monkeypatch, "join")
    async with doors(sqlite_url) as (tenants, door):
        ana = await tenants.person("owner")
        there = f"/join/{await tenants.link(ana, await tenants.session(ana))}"
        assert (await asked(door, there)).status_code == 200
        assert is_told_to_wait(await asked(door, there))
        assert is_told_to_wait(await asked(door, there, name="Bo"))
        assert (await asked(door, there, address="10.0.0.2", name="Bo")).status_code == 303


@pytest.mark.req("RA-13")
async def test_one_address_reads_an_embed_only_so_fast(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_one_of(monkeypatch, "embed")
    async with doors(sqlite_url) as (tenants, door):
        ana = await tenants.person("owner")
        tool = await tenants.tool("image.paint", ana)
        text, _ = await tenants.services.embeds.publish(ana, "Paint", [tool], ["https://a.example"])
        there = f"/embed/{text.reveal()}"
        assert (await asked(door, there)).status_code == 200
        assert is_told_to_wait(await asked(door, there))
        assert is_told_to_wait(await asked(door, f"{there}/image-paint"))
        assert (await asked(door, there, address="10.0.0.2")).status_code == 200


@asynccontextmanager
async def listening(door: SecurityMiddleware, path: str, note: str) -> AsyncIterator[int]:
    """A page that listens, and the status that it got."""
    begun: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    status = 0

    async def send(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)
        if message["type"] == "http.response.body" and not begun.done():
            begun.set_result(status)

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    headers = [(b"host", b"localhost"), (b"cookie", f"{GUEST_COOKIE}={note}".encode())]
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": headers}
    task = asyncio.create_task(door({**scope, "scheme": "http", "client": ("10.0.0.1", 1)}, receive, send))
    try:
        async with asyncio.timeout(20):
            yield await begun
    finally:
        task.cancel()
        await asyncio.wait([task])


@pytest.mark.req("CS-04")
@pytest.mark.parametrize(("bound", "other"), [("PAGES_PER_GUEST", 200), ("PAGES_PER_SESSION", 429)])
async def test_only_so_many_pages_of_guests_listen_at_once(
    bound: str, other: int, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest_limits, bound, 1)
    async with doors(sqlite_url) as (tenants, door):
        ana = await tenants.person("owner")
        session = await tenants.session(ana)
        link, there = await tenants.link(ana, session), session_url(session, "live")
        bo, cy = (await tenants.join(link, "Bo"))[1], (await tenants.join(link, "Cy"))[1]
        async with listening(door, there, bo) as status:
            assert status == 200
            assert is_told_to_wait(await asked(door, there, bo))
            async with listening(door, there, cy) as status:
                assert status == other
        async with listening(door, there, bo) as status:
            assert status == 200
