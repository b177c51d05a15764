"""A few tools, a few people, and a client before the doors, for tests of REST in memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from handrail import Context, Handrail, Policy, Principal, ToolError, tool
from handrail.doors.http.api import build_api
from handrail.platform import Platform, platform_of
from handrail.platform.middleware import RequestLimits, SecurityMiddleware
from tests.harness.openapi import check_documented

ANA = Principal("acme", "ana", permissions=["*"], key="person")
BEA = Principal(
    "acme", "bea", roles=["approver"], permissions=["approvals.read", "approvals.decide"], key="person"
)
BOT = Principal("acme", "ana", agent="bot")
SERVICE = Principal("acme", key="service")
EVE = Principal("other", "eve", permissions=["*"], key="person")
KEYS = {"ana": ANA, "bea": BEA, "bot": BOT, "service": SERVICE, "eve": EVE}


@tool("sum.add", level="read", aliases=("plus",), category="sums")
async def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool("sum.fail", level="read")
async def fail() -> int:
    """Fail at once."""
    raise ToolError("It broke.", code="BROKEN")


@tool("sum.slow", level="read")
async def slow(*, ctx: Context) -> str:
    """Run until it is stopped."""
    ctx.append_output("begun")
    await asyncio.Event().wait()
    return "never"


@tool("sum.count", level="read")
async def count(to: int, *, ctx: Context) -> int:
    """Count aloud."""
    for number in range(to):
        ctx.metadata(title=f"{number} of {to}")
        ctx.append_output(f"{number} ")
        await asyncio.sleep(0)
    return to


@tool("mail.send", level="write")
async def send(to: str, text: str = "") -> str:
    """Send a letter."""
    return f"sent to {to}"


@tool("vault.open", level="read", requires="vault.enter")
async def vault() -> str:
    """Open the vault."""
    return "gold"


@tool("acme.only", level="read", tenants=("acme",))
async def only() -> str:
    """Serve one tenant alone."""
    return "acme"


TOOLS = (add, fail, slow, count, send, vault, only)


def key(name: str, **more: str) -> dict[str, str]:
    return {"authorization": f"Bearer {name}", **more}


class ApiClient(httpx.AsyncClient):
    """A client that calls for one of them unless it says for whom."""

    platform: Platform


@asynccontextmanager
async def door(
    *more: Any, policy: Policy | None = None, who: str = "ana", **options: Any
) -> AsyncIterator[ApiClient]:
    async with Handrail([*TOOLS, *more], policy=policy, **options) as hr:
        platform = platform_of(hr, KEYS)
        api = build_api(platform)
        app = SecurityMiddleware(api, platform, RequestLimits(rate=None))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with ApiClient(transport=transport, base_url="http://127.0.0.1", headers=key(who)) as http:
            http.platform = platform
            http.event_hooks["response"].append(check_documented(api))
            yield http


def events_of(text: str) -> list[dict[str, Any]]:
    """The messages of a stream."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if fields:
            found.append({**fields, "data": json.loads(fields["data"])})
    return found
