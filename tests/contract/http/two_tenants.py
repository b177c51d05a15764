"""Two tenants over one database, with people of every role, and REST before them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from handrail import Context, Handrail, Principal, ToolError, tool
from handrail.doors.http.api import build_api
from handrail.identity.permissions import BUILT_IN_ROLES, console_principal
from handrail.identity.services import Services
from handrail.platform import Platform, platform_of
from handrail.platform.middleware import SESSION_COOKIE, RequestLimits, SecurityMiddleware
from tests.harness.openapi import check_documented

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
class TwoTenantApi:
    """One open database with REST before it."""

    platform: Platform
    http: httpx.AsyncClient
    people: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """The headers of somebody of a tenant and a role, who is signed in."""

    @property
    def hr(self) -> Handrail:
        return self.platform.hr

    @property
    def services(self) -> Services:
        assert self.platform.services is not None
        return self.platform.services

    async def person(self, role: str, tenant: str = ACME) -> dict[str, str]:
        """The headers of somebody with that role."""
        known = self.people.get((tenant, role))
        if known is None:
            email = f"{role}-{MARK if tenant == OTHER else 'plain'}@{tenant}.example"
            user = await self.services.people.add_member(console_principal(tenant), email, [role])
            token = await self.services.authenticator.sign_in(user.id, tenant)
            known = self.people[tenant, role] = {"cookie": f"{SESSION_COOKIE}={token}"}
        return known

    async def principal(self, role: str, tenant: str = ACME) -> Principal:
        token = (await self.person(role, tenant))["cookie"].partition("=")[2]
        return await self.services.authenticator.principal_from_session(token)

    async def key(self, role: str, tenant: str = ACME, **options: Any) -> dict[str, str]:
        """The headers of a key that somebody with that role made for themselves."""
        by = await self.principal(role, tenant)
        text, _ = await self.services.keys.make(
            by, "mine", options.pop("kind", "person"), user=by.user, **options
        )
        return {"authorization": f"Bearer {text.reveal()}"}

    async def ask(self, method: str, path: str, headers: dict[str, str], **more: Any) -> httpx.Response:
        return await self.http.request(method, path, headers=headers, **more)


@asynccontextmanager
async def two_tenant_api(url: str, *more: Any, **options: Any) -> AsyncIterator[TwoTenantApi]:
    async with Handrail([*TOOLS, *more], database=url, **options) as hr:
        platform = platform_of(hr)
        assert platform.services is not None
        for tenant in (ACME, OTHER):
            await platform.services.people.create_tenant(tenant, tenant.title())
        api = build_api(platform)
        app = SecurityMiddleware(api, platform, RequestLimits(rate=None))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as http:
            http.event_hooks["response"].append(check_documented(api))
            yield TwoTenantApi(platform, http)


ROLES = tuple(BUILT_IN_ROLES)
