"""Two tenants over one database, with people of every role, and REST before them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from handrail import Context, Handrail, Principal, tool
from handrail.doors.entrance import COOKIE, Bounds, Entrance
from handrail.doors.http.api import build_api
from handrail.ext import ToolError
from handrail.identity.granting import console
from handrail.identity.offices import Offices
from handrail.identity.roles import BUILT_IN
from handrail.platform import Platform, platform_of

ACME, OTHER = "acme", "other"
MARK = "olive-secret"
"""Stands in everything that the other tenant has."""


@tool("sum.add", level="read")
async def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool("who.asks", level="read")
async def asks(*, ctx: Context) -> str:
    """Say for whom it runs, and how they came."""
    return f"{ctx.source} {ctx.tenant_id} {ctx.user_id}"


@tool("note.fail", level="read")
async def fail(text: str) -> str:
    """Fail with the text."""
    raise ToolError(text, code="BROKEN")


@tool("mail.send", level="write", policy="always_ask")
async def send(to: str) -> str:
    """Send a letter."""
    return f"sent to {to}"


@tool("other.only", level="read", tenants=(OTHER,))
async def only() -> str:
    """Serve one tenant alone."""
    return OTHER


@tool("sing.together", level="read", collaborative=True, aggregate=len)
async def chorus(line: str = "la") -> str:
    """Sing a line."""
    return line


TOOLS = (add, asks, fail, send, only, chorus)


@dataclass
class Building:
    """One open database with REST before it."""

    platform: Platform
    http: httpx.AsyncClient
    people: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """The headers of somebody of a tenant and a role, who is signed in."""

    @property
    def hr(self) -> Handrail:
        return self.platform.hr

    @property
    def offices(self) -> Offices:
        assert self.platform.offices is not None
        return self.platform.offices

    async def person(self, role: str, tenant: str = ACME) -> dict[str, str]:
        """The headers of somebody with that role."""
        known = self.people.get((tenant, role))
        if known is None:
            email = f"{role}-{MARK if tenant == OTHER else 'plain'}@{tenant}.example"
            user = await self.offices.people.add_member(console(tenant), email, [role])
            token = await self.offices.doorkeeper.sign_in(user.id, tenant)
            known = self.people[tenant, role] = {"cookie": f"{COOKIE}={token}"}
        return known

    async def principal(self, role: str, tenant: str = ACME) -> Principal:
        token = (await self.person(role, tenant))["cookie"].partition("=")[2]
        return await self.offices.doorkeeper.principal_from_session(token)

    async def key(self, role: str, tenant: str = ACME, **options: Any) -> dict[str, str]:
        """The headers of a key that somebody with that role made for themselves."""
        by = await self.principal(role, tenant)
        text, _ = await self.offices.keys.make(
            by, "mine", options.pop("kind", "person"), user=by.user, **options
        )
        return {"authorization": f"Bearer {text.reveal()}"}

    async def ask(self, method: str, path: str, headers: dict[str, str], **more: Any) -> httpx.Response:
        return await self.http.request(method, path, headers=headers, **more)


@asynccontextmanager
async def building(url: str, *more: Any, **options: Any) -> AsyncIterator[Building]:
    async with Handrail([*TOOLS, *more], database=url, **options) as hr:
        platform = platform_of(hr)
        assert platform.offices is not None
        for tenant in (ACME, OTHER):
            await platform.offices.people.create_tenant(tenant, tenant.title())
        app = Entrance(build_api(platform), platform, Bounds(rate=None))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as http:
            yield Building(platform, http)


ROLES = tuple(BUILT_IN)
