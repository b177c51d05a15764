"""One database with two tenants whose people fill in a tool together, and publish one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from handrail import Context, Handrail, Principal, Tool, tool
from handrail.core.define.ui_specs import FormSpec
from handrail.identity.permissions import console_principal
from handrail.identity.services import Services
from handrail.identity.session_submissions import SubmissionResult, guest_participant, submit
from handrail.identity.tool_sessions import Guest, Participant
from handrail.platform import platform_of
from handrail.store.tool_sessions import ToolSession
from tests.contract.tenant_database import FakeTime

ACME, OTHER = "acme", "other"


def _mean(outputs: list[Any]) -> dict[str, float]:
    return {"mean": sum(one["score"] for one in outputs) / len(outputs)}


async def _rate(score: int, note: str = "", *, ctx: Context) -> dict[str, Any]:
    """Rate something."""
    return {"score": score, "note": note, "by": ctx.user_id}


def rating(name: str = "team.rate", body: Any = _rate, **more: Any) -> Any:
    """A tool that several people fill in together."""
    options = {"level": "read", "collaborative": True, "aggregate": _mean, "requires": "rates.give"}
    return tool(name, **(options | more))(body)


@tool("image.draw", level="read", form=FormSpec({"model": {"operator_only": True}}), tenants=(ACME,))
async def draw(text: str, model: str = "small") -> dict[str, str]:
    """Draw something."""
    return {"text": text, "model": model}


@tool("image.paint", level="read")
async def paint(text: str) -> str:
    """Paint something."""
    return text


@tool("mail.send", level="write", collaborative=True)
async def send(to: str) -> str:
    """Send a letter."""
    return to


TOOLS = (rating(), draw, paint, send)


@dataclass
class TwoTenants:
    """Everything over one open database."""

    hr: Handrail
    services: Services
    time: FakeTime

    async def person(self, *roles: str, tenant: str = ACME, name: str = "Ana") -> Principal:
        email = f"{name.lower()}@{tenant}.example"
        user = await self.services.people.add_member(console_principal(tenant), email, roles, name)
        door = self.services.authenticator
        return await door.principal_from_session(await door.sign_in(user.id, tenant))

    async def tool(self, name: str, by: Principal) -> Tool:
        return (await self.hr.describe(name, by, source="web")).tool

    async def session(self, by: Principal, name: str = "team.rate", title: str = "") -> ToolSession:
        return await self.services.tool_sessions.create(by, await self.tool(name, by), title)

    async def link(self, by: Principal, session: ToolSession, lifetime: float = 3_600.0) -> str:
        tool = await self.tool(session.tool_slug, by)
        return (await self.services.tool_sessions.share(by, session, tool, lifetime))[0].reveal()

    async def join(self, link: str, name: str) -> tuple[Guest, str]:
        session = await self.services.tool_sessions.by_token(link)
        assert session is not None
        return self.services.tool_sessions.add_guest(session, name)

    async def now(self, session: ToolSession) -> ToolSession:
        found = await self.services.tool_sessions.find(session.tenant_id, session.id)
        assert found is not None
        return found

    async def submit(self, session: ToolSession, who: Guest | Participant, **args: Any) -> SubmissionResult:
        session = await self.now(session)
        somebody = await guest_participant(self.hr, who, session) if isinstance(who, Guest) else who
        return await submit(self.hr, self.services.tool_sessions, session, somebody, args)


@asynccontextmanager
async def two_tenants(url: str, *more: Any) -> AsyncIterator[TwoTenants]:
    time = FakeTime()
    async with Handrail([*TOOLS, *more], database=url, clock=time.clock) as hr:
        platform = platform_of(hr)
        assert platform.services is not None
        for tenant in (ACME, OTHER):
            await platform.services.people.create_tenant(tenant, tenant.title())
        yield TwoTenants(hr, platform.services, time)
