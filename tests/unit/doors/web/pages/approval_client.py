"""A desk in memory or on SQLite, with pages before it, for tests of approval cards without a browser."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from html import unescape
from typing import Annotated, Any

import httpx
from pydantic import Field

from handrail import Handrail, Principal, Result, tool
from handrail.doors.web.app import build_web
from handrail.platform import FixedKeys, Platform, platform_of
from handrail.platform.middleware import RequestLimits, SecurityMiddleware

ANA = Principal("acme", "ana", permissions=["*"], key="person")
BEA = Principal("acme", "bea", permissions=["approvals.read", "approvals.decide"], key="person")
CY = Principal("acme", "cy", permissions=["approvals.read", "approvals.decide"], key="person")
DAN = Principal("acme", "dan", permissions=["tools:run"], key="person")
BOT = Principal("acme", "ana", agent="ops", permissions=["*"])
EVE = Principal("other", "eve", permissions=["*"], key="person")
KEYS = {"ana": ANA, "bea": BEA, "cy": CY, "dan": DAN, "bot": BOT, "eve": EVE}
Secret = Annotated[str, Field(json_schema_extra={"x-secret": True})]


_DIFF = "--- a/out.txt\n+++ b/out.txt\n@@ -1 +1 @@\n-nothing\n"


def tools(ran: list[Any]) -> list[Any]:
    @tool("data.update", name="Update a record", level="write")
    async def update(
        id: Annotated[str, Field(title="Record")], status: str = "active", count: int = 0, token: Secret = ""
    ) -> dict[str, str]:
        """Change a record."""
        ran.append(("update", id, status, count, token))
        return {"id": id, "status": status}

    @tool("data.purge", name="Purge", level="destructive", danger="dangerous")
    async def purge(before: str) -> str:
        """Delete for good."""
        ran.append(("purge", before))
        return "gone"

    @tool("money.pay", name="Pay", level="write", approvals=2)
    async def pay(amount: int) -> int:
        """Pay; two must agree."""
        ran.append(("pay", amount))
        return amount

    @tool("posts.publish", name="Publish", level="write", four_eyes=True)
    async def publish(title: str) -> str:
        """Publish; somebody else must agree."""
        ran.append(("publish", title))
        return title

    @tool("mail.send", name="Send", level="write", preview=lambda args, ctx: f"{_DIFF}+{args.summary}")
    async def send(error: str = "", summary: str = "") -> Result:
        """Send a letter, or say why not."""
        return Result.fail(error) if error else Result(summary=summary)

    return [update, purge, pay, publish, send]


class ApprovalClient(httpx.AsyncClient):
    """Pages, as somebody who shows their key."""

    platform: Platform
    ran: list[Any]

    @property
    def hr(self) -> Handrail:
        return self.platform.hr

    async def ask(self, name: str, /, who: Any = BOT, session: Any = None, **args: Any) -> str:
        """Call a tool that asks; the id of the question."""
        out = await self.hr.call(name, args, principal=who, source="mcp", session=session)
        assert out.status == "pending" and out.approval_id is not None, out
        return out.approval_id

    async def see(self, path: str, who: str = "bea", status: int = 200, **more: str) -> str:
        answer = await self.get(path, headers={"authorization": f"Bearer {who}", **more})
        assert answer.status_code == status, (answer.status_code, answer.text)
        return answer.text

    async def post_form(self, path: str, who: str = "bea", **fields: str) -> httpx.Response:
        return await self.post(path, data=fields, headers={"authorization": f"Bearer {who}"})

    async def mark(self, approval: str, who: str = "bea") -> str:
        """What the forms of a card say was shown."""
        return shown_in(await self.see(f"/approvals/{approval}", who))

    async def decide(self, approval: str, act: str, who: str = "bea", **fields: str) -> httpx.Response:
        """Look at a card, then press one of its buttons."""
        mark = await self.mark(approval, who)
        return await self.post_form(f"/approvals/{approval}/{act}", who, **{"shown": mark, **fields})

    async def ended(self, approval: str) -> Any:
        """How the call of a question ended."""
        request = await self.hr.approvals.get(approval, ANA)
        assert request is not None and request.call.id is not None
        return await self.hr.wait(request.call.id, 20, principal=ANA)


def shown_in(page: str) -> str:
    found = re.search(r'name="shown" value="([0-9a-f]{64})"', page)
    assert found is not None, page
    return found[1]


def words(page: str) -> str:
    """What a page says, without its marks."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", page)).split())


@asynccontextmanager
async def approval_client(**options: Any) -> AsyncIterator[ApprovalClient]:
    ran: list[Any] = []
    async with Handrail(tools(ran), **options) as hr:
        platform = replace(platform_of(hr), auth=FixedKeys(KEYS))
        if clock := options.get("clock"):
            platform = replace(platform, clock=clock)
        web = build_web(platform)
        app = SecurityMiddleware(web, platform, RequestLimits(rate=None))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with ApprovalClient(transport=transport, base_url="http://127.0.0.1") as pages:
            pages.platform, pages.ran = platform, ran
            yield pages
