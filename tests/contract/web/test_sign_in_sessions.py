"""Who is signed in on the pages, on SQLite and PostgreSQL: cookies, keys that are no session, two servers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import quote

import httpx
import pytest

from handrail import Handrail, ToolError, tool
from handrail.doors.web.app import build_web
from handrail.identity.permissions import console_principal
from handrail.identity.services import Services
from handrail.platform import Platform, platform_of
from handrail.platform.middleware import SESSION_COOKIE, RequestLimits, SecurityMiddleware

pytestmark = pytest.mark.long

PASSWORD = "three calm blue herons"
ANA = "ana@example.com"
HERE = {"sec-fetch-site": "same-origin"}


@tool("stock.break", level="read")
async def broken() -> str:
    """Break."""
    raise ToolError("it broke")


def browser(platform: Platform, address: str = "http://127.0.0.1") -> httpx.AsyncClient:
    app = SecurityMiddleware(build_web(platform), platform, RequestLimits(rate=None))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url=address, headers=HERE)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Platform]:
    async with Handrail(database=url, worker=False) as hr:
        yield platform_of(hr)


async def settle(services: Services, *roles: str) -> str:
    """A tenant, and somebody with a password in it; their id."""
    await services.people.create_tenant("acme", "Acme")
    user = await services.people.add_member(console_principal("acme"), ANA, roles)
    await services.passwords.choose(await services.authenticator.sign_in(user.id, "acme"), PASSWORD)
    return user.id


def of(platform: Platform) -> Services:
    assert platform.services is not None
    return platform.services


@pytest.mark.parametrize(("address", "secure"), [("http://127.0.0.1", False), ("https://127.0.0.1", True)])
async def test_a_session_goes_over_https_alone_where_it_came_by_it(
    sqlite_url: str, address: str, secure: bool
) -> None:
    async with opened(sqlite_url) as platform, browser(platform, address) as http:
        await settle(of(platform), "viewer")
        answer = await http.post("/sign-in", data={"email": ANA, "password": PASSWORD, "next": "/runs?a=1"})
        cookie = next(one for one in answer.headers.get_list("set-cookie") if one.startswith(SESSION_COOKIE))
        assert answer.status_code == 303 and answer.headers["location"] == "/runs?a=1"
        assert ("Secure" in cookie) is secure and "HttpOnly" in cookie and "SameSite=lax" in cookie
        out = await http.post("/sign-out")
        assert "Max-Age=0" in out.headers["set-cookie"] and out.headers["location"] == "/sign-in"


async def test_a_cross_site_form_signs_nobody_in_or_out(sqlite_url: str) -> None:
    async with opened(sqlite_url) as platform, browser(platform) as http:
        await settle(of(platform), "viewer")
        for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
            for path in ("/sign-in", "/sign-out", "/switch", "/settings/profile/password"):
                answer = await http.post(path, data={"email": ANA, "password": PASSWORD}, headers=headers)
                assert answer.status_code == 403 and "set-cookie" not in answer.headers, path


@pytest.mark.fault("F28")
async def test_a_key_is_no_session(database_url: str) -> None:
    """Whoever it stands for: it signs nobody out, changes no password and goes to no other tenant."""
    async with opened(database_url) as platform, browser(platform) as http:
        services = of(platform)
        user = await settle(services, "owner")
        session = await services.authenticator.sign_in(user, "acme")
        boss = await services.authenticator.principal_from_session(session)
        key, _ = await services.keys.make(boss, "mine", "person", user=user)
        shown = {"authorization": f"Bearer {key.reveal()}"}
        both = {**shown, "cookie": f"{SESSION_COOKIE}={session}"}
        new = {"new": "another good one", "again": "another good one", "present": PASSWORD}
        for headers in (shown, both):
            assert (await http.get("/settings/profile", headers=headers)).status_code == 404
            changed = await http.post("/settings/profile/password", data=new, headers=headers)
            assert changed.status_code == 404
            assert (await http.get("/switch", headers=headers)).status_code == 404
            assert (await http.post("/switch", data={"tenant": "acme"}, headers=headers)).status_code == 404
            await http.post("/sign-out", data={"everywhere": "yes"}, headers=headers)
        assert await services.authenticator.principal_from_session(session) == boss
        assert await services.passwords.sign_in(ANA, PASSWORD)


async def test_two_servers_know_the_same_people(postgres_url: str) -> None:
    async with AsyncExitStack() as stack:
        platforms = [await stack.enter_async_context(opened(postgres_url)) for _ in range(2)]
        one, two = [await stack.enter_async_context(browser(each)) for each in platforms]
        await settle(of(platforms[0]), "owner")
        answer = await one.post("/sign-in", data={"email": ANA, "password": PASSWORD})
        two.cookies.update(one.cookies)
        assert "ana@example.com" in (await two.get("/settings/profile")).text
        made = await two.post("/settings/keys", data={"name": "made at the other", "days": "30"})
        assert made.status_code == 200
        assert "made at the other" in (await one.get("/settings/keys")).text
        for at, server in enumerate((one, two, one, two, one)):
            wrong = await server.post("/sign-in", data={"email": ANA, "password": f"guess {at}"})
            assert wrong.status_code == 400
        late = await two.post("/sign-in", data={"email": ANA, "password": PASSWORD})
        assert late.status_code == 429 and "Try again in 15 minutes" in late.text
        assert answer.status_code == 303


async def test_somebody_whose_session_is_over_signs_in_and_comes_back(sqlite_url: str) -> None:
    async with opened(sqlite_url) as platform, browser(platform) as http:
        await settle(of(platform), "viewer")
        http.cookies.set(SESSION_COOKIE, "hs1.over.over")
        answer = await http.get("/settings/profile?part=1")
        assert answer.headers["location"] == "/sign-in?next=%2Fsettings%2Fprofile%3Fpart%3D1"
        part = await http.get("/home/part", headers={"hx-request": "true"})
        assert part.headers["hx-redirect"].startswith("/sign-in")


async def test_without_a_database_nobody_signs_in_and_that_is_said() -> None:
    async with Handrail() as hr, browser(platform_of(hr)) as http:
        for answer in (await http.get("/sign-in"), await http.post("/sign-in", data={"link": "x"})):
            assert answer.status_code == 404 and "there is nobody to be" in answer.text


@pytest.mark.req("UI-17")
async def test_what_was_typed_comes_back_as_text(sqlite_url: str) -> None:
    """Reflected and stored markup: addresses, names of people, keys and roles."""
    mark = '"><img src=x onerror=alert(1)>'
    async with opened(sqlite_url) as platform, browser(platform) as http:
        user = await settle(of(platform), "owner")
        wrong = await http.post("/sign-in", data={"email": mark, "password": "x", "next": mark})
        assert "<img" not in wrong.text and "&lt;img" in wrong.text
        linked = await http.get("/sign-in", params={"link": mark, "next": mark})
        assert "<img" not in linked.text
        http.cookies.set(SESSION_COOKIE, await of(platform).authenticator.sign_in(user, "acme"))
        await http.post("/settings/profile/name", data={"name": mark})
        assert (await http.post("/settings/keys", data={"name": mark, "tools": mark})).status_code in (
            200,
            400,
        )
        tries = (
            ("/settings/keys", {"name": mark, "agent": mark, "tools": mark, "days": "x"}),
            ("/settings/members", {"email": mark, "name": mark, "roles": "viewer"}),
            ("/settings/roles", {"name": mark, "permissions": mark, "others": mark}),
        )
        for path, typed in tries:
            answer = await http.post(path, data=typed)
            assert answer.status_code == 400 and "<img" not in answer.text and "&lt;img" in answer.text, path
        for path in ("/", "/settings/profile", "/settings/keys", "/settings/members", "/switch"):
            assert "<img" not in (await http.get(path)).text, path


ODD = ("a\x00b", "\ud800", "\u202e'; --", "x" * 5_000)


@pytest.mark.fault("F30")
async def test_odd_text_breaks_no_page(database_url: str) -> None:
    async with opened(database_url) as platform, browser(platform) as http:
        user = await settle(of(platform), "owner")
        http.cookies.set(SESSION_COOKIE, await of(platform).authenticator.sign_in(user, "acme"))
        settings = "/settings"
        for odd in ODD:
            sent = quote(odd, safe="", errors="surrogatepass")
            looked = [
                await http.get(f"{settings}/dead-letters/{sent}"),
                await http.get(f"{settings}/dead-letters?after={sent}"),
                await http.get(f"{settings}/dead-letters?after=1.0:{sent}"),
                await http.get(f"{settings}/members/{sent}"),
                await http.get(f"{settings}/keys/{sent}/revoke"),
                await http.get(f"{settings}/roles/edit/{sent}"),
                await http.get(f"{settings}/usage?days={sent}"),
                await http.get(f"/sign-in?next={sent}&link={sent}"),
            ]
            fields = ("email", "password", "name", "tenant", "theme", "tools", "agent", "user", "ceiling")
            body = "&".join(f"{name}={sent}" for name in (*fields, "roles", "permissions", "others", "days"))
            as_form = {"content-type": "application/x-www-form-urlencoded"}
            parts = ("keys", "members", "roles", "profile/name", "profile/theme", "profile/password")
            goals = [*(f"{settings}/{part}" for part in parts), "/switch", "/sign-in"]
            looked += [await http.post(path, content=body, headers=as_form) for path in goals]
            body = f"name=ok&days=30&kind=agent&agent={sent}&tools={sent}"
            looked.append(await http.post(f"{settings}/keys", content=body, headers=as_form))
            body = f"email=bo@example.com&roles=viewer&name={sent}"
            looked.append(await http.post(f"{settings}/members", content=body, headers=as_form))
            for answer in looked:
                assert answer.status_code < 500, (odd, answer.url, answer.status_code)


@pytest.mark.fault("F26")
async def test_what_another_tenant_has_is_nothing_here(database_url: str) -> None:
    """For an owner: the same page for an id of another tenant as for one that nobody has."""
    async with Handrail([broken], database=database_url, worker=False) as hr:
        platform = platform_of(hr)
        services = of(platform)
        user = await settle(services, "owner")
        await services.people.create_tenant("other", "Other")
        there = console_principal("other")
        stranger = await services.people.add_member(there, "eve@example.com", ["owner"])
        _, key = await services.keys.make(there, "theirs")
        await services.people.save_role(there, "night-shift", ["usage.read"])
        await hr.call("stock.break", principal=there)
        [letter] = await hr.dead_letters.list(there)
        async with browser(platform) as http:
            http.cookies.set(SESSION_COOKIE, await services.authenticator.sign_in(user, "acme"))
            for path, id in (
                ("/settings/members/{}", stranger.id),
                ("/settings/members/{}/remove", stranger.id),
                ("/settings/keys/{}/revoke", key.id),
                ("/settings/roles/edit/{}", "night-shift"),
                ("/settings/roles/delete/{}", "night-shift"),
                ("/settings/dead-letters/{}", letter.id),
                ("/settings/dead-letters/{}/purge", letter.id),
            ):
                theirs, nobodys = [await http.get(path.format(one)) for one in (id, "nobody")]
                assert theirs.status_code == nobodys.status_code == 404, path
                assert theirs.text.replace(id, "nobody") == nobodys.text, path
                posted = await http.post(path.format(id), data={"roles": "viewer"})
                assert posted.status_code in (404, 405), path
            replayed = await http.post(f"/settings/dead-letters/{letter.id}/replay")
            assert replayed.status_code == 404
            for path in ("members", "keys", "roles", "dead-letters", "usage"):
                shown = (await http.get(f"/settings/{path}")).text
                assert not any(word in shown for word in ("eve@", "theirs", "night-shift", "stock.break"))
        assert await hr.dead_letters.list(there) and (await services.keys.list(there))[0].revoked_at is None
