"""What a key or a session does once it ends, and what it cannot end: over a real server and a database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from handrail.app import build_doors
from handrail.identity.permissions import console_principal
from handrail.platform.middleware import RequestLimits, SecurityMiddleware
from handrail.platform.server import DoorRouter
from tests.contract.http.two_tenants import ACME, TwoTenantApi, two_tenant_api
from tests.harness.asgi_server import serve_app


@asynccontextmanager
async def front(rest_api: TwoTenantApi) -> AsyncIterator[httpx.AsyncClient]:
    """All doors of a building, on a port."""
    platform = rest_api.platform
    router = DoorRouter(platform, build_doors(platform, 0.1))
    app = SecurityMiddleware(router, platform, RequestLimits(rate=None))
    async with serve_app(app) as address, httpx.AsyncClient(base_url=address, timeout=30) as http:
        yield http
        platform.closing.set()


async def revoke(rest_api: TwoTenantApi, headers: dict[str, str], _: str) -> None:
    await rest_api.services.keys.revoke(console_principal(ACME), headers["authorization"].split("_")[2])


async def take_away(rest_api: TwoTenantApi, _: dict[str, str], user: str) -> None:
    await rest_api.services.people.add_member(
        console_principal(ACME), "builder-plain@acme.example", ["viewer"]
    )
    await rest_api.services.people.remove_member(console_principal(ACME), user, ["builder"])


@pytest.mark.req("RA-12")
@pytest.mark.fault("F28")
@pytest.mark.parametrize("ending", [revoke, take_away])
async def test_whoever_follows_events_hears_no_more_once_their_key_reads_them_no_more(
    sqlite_url: str, ending: Any
) -> None:
    async with two_tenant_api(sqlite_url) as rest_api, front(rest_api) as http:
        maker, key = await rest_api.principal("builder"), await rest_api.key("owner")
        text, _ = await rest_api.services.keys.make(
            console_principal(ACME), "spy", "service", user=maker.user, permissions=["events.read"]
        )
        spy = {"authorization": f"Bearer {text.reveal()}", "accept": "text/event-stream"}
        body = {"arguments": {"a": 1}}
        async with http.stream("GET", "/api/events", headers=spy) as stream:
            lines = aiter(stream.aiter_lines())
            await http.post("/api/tools/sum.add/call", headers=key, json=body)
            assert stream.status_code == 200
            await anext(lines)
            await ending(rest_api, spy, str(maker.user))
            secret = {"arguments": {"a": 70_007}}
            async with asyncio.timeout(20):
                await http.post("/api/tools/sum.add/call", headers=key, json=secret)
                rest = [line async for line in lines]
        assert not any("70007" in line or "70008" in line for line in rest)


@pytest.mark.req("RA-12")
async def test_a_key_of_an_agent_ends_no_session_of_the_person_for_whom_it_acts(sqlite_url: str) -> None:
    async with two_tenant_api(sqlite_url) as rest_api, front(rest_api) as http:
        person, key = await rest_api.person("owner"), await rest_api.key("owner", kind="agent")
        everywhere = {"everywhere": "yes"}
        await http.post("/sign-out", data=everywhere, headers=key)
        assert (await http.get("/api/me", headers=person)).status_code == 200
        await http.post("/sign-out", data=everywhere, headers=person)
        assert (await http.get("/api/me", headers=person)).status_code == 401
