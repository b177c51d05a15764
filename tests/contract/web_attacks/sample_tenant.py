"""A tenant as the pages see it: everything they show, and a fresh one where it is used up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from handrail import Context, Handrail, Principal, tool
from handrail.core.define.result import Attachment, Result
from handrail.core.define.ui_specs import OutputSection
from handrail.doors.web.pages.approvals.approval_view import shown_digest
from handrail.identity.permissions import console_principal
from handrail.identity.services import Services
from handrail.identity.session_submissions import submit
from handrail.identity.tool_sessions import Participant
from handrail.store.tool_sessions import ToolSession
from tests.contract.http_attacks.attacked_server import TenantContents, say, share

_SECTIONS = (OutputSection("rows", "Rows", "table"), OutputSection("own", "Own", "custom"))


@tool("paint.all", level="read", sections=_SECTIONS)
async def paint(ctx: Context, text: str = "") -> Result:
    """Yield a bit of everything that a page can show."""
    ctx.append_output(text)
    data = {"rows": [{"a": text, "b": 1}], "own": {"html": f"<p>{text}</p>"}}
    return Result(
        data=data, summary=text, attachments=(Attachment("text/html", f"{text}.html", b"<b>x</b>"),)
    )


TOOLS = (paint,)
Samples = dict[str, str]
"""What stands in an address, by its name there."""


@dataclass(repr=False)
class SampleTenant(TenantContents):
    """A tenant with pages."""

    hr: Handrail | None = None
    services: Services | None = None
    things: dict[str, Samples] = field(default_factory=dict)
    """One of each kind, to look at."""
    users: dict[str, str] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=count)

    async def settle(self, hr: Handrail, services: Services) -> None:
        await super().settle(hr, services)
        self.hr, self.services = hr, services
        for role, token in self.cookies.items():
            self.users[role] = (await services.authenticator.principal_from_session(token)).user or ""
        for kind in MAKERS:
            self.things[kind] = await self.make(kind)

    async def sign_in(self, role: str) -> str:
        """A new session, in the place of one that may have ended."""
        _, services = self._open
        self.cookies[role] = await services.authenticator.sign_in(self.users[role], self.tenant)
        return self.cookies[role]

    async def make(self, kind: str) -> Samples:
        """A fresh one of a kind."""
        return await MAKERS[kind](self)

    @property
    def told(self) -> dict[str, Any]:
        return {"text": f"word {self.mark} {next(self._numbers)}"}

    @property
    def _open(self) -> tuple[Handrail, Services]:
        assert self.hr is not None and self.services is not None
        return self.hr, self.services

    async def _call(self, name: str, **more: Any) -> str:
        hr, _ = self._open
        who = Principal(self.tenant, "ana", agent="bot")
        made = await hr.call(name, self.told, principal=who, source="api", **more)
        return made.call_id

    async def approval(self) -> Samples:
        hr, _ = self._open
        call = await self._call("echo.send")
        who = Principal(self.tenant, permissions=["*"])
        found = next(one for one in await hr.approvals.list(who, limit=500) if one.call.id == call)
        return {"id": found.id, "shown": shown_digest(found)}

    async def run(self) -> Samples:
        return {"id": await self._call("paint.all"), "seq": "1", "section": "own", "number": "0"}

    async def done(self) -> Samples:
        return {"slug": "paint-all", "call": await self._call("paint.all")}

    async def waiting(self) -> Samples:
        call = await self._call("echo.send")
        return {"slug": "echo-send", "call": call, "id": call}

    async def letter(self) -> Samples:
        hr, _ = self._open
        call = await self._call("echo.fail")
        found = await hr.dead_letters.list(Principal(self.tenant, permissions=["*"]))
        return {"id": next(one.id for one in found if one.call.id == call)}

    async def key(self) -> Samples:
        _, services = self._open
        _, made = await services.keys.make(console_principal(self.tenant), f"key {self.mark}", agent="a")
        return {"id": made.id}

    async def member(self) -> Samples:
        _, services = self._open
        email = f"m{next(self._numbers)}-{self.mark}@example.com"
        made = await services.people.add_member(
            console_principal(self.tenant), email, ["viewer"], f"Spare {self.mark}"
        )
        return {"id": made.id}

    async def role(self) -> Samples:
        _, services = self._open
        name = f"role-{self.label}-{next(self._numbers)}"
        await services.people.save_role(console_principal(self.tenant), name, ["runs.read"])
        return {"name": name}

    async def embed(self) -> Samples:
        _, services = self._open
        by = console_principal(self.tenant)
        text, made = await services.embeds.publish(by, f"Embed {self.mark}", [say], ["https://a.example"])
        return {"id": made.id, "token": text.reveal(), "slug": "echo-say"}

    async def session(self) -> Samples:
        """A session that is shared, with one answer."""
        hr, services = self._open
        by, tool_sessions = console_principal(self.tenant), services.tool_sessions
        made: ToolSession = await tool_sessions.create(by, share, f"Session {self.mark}")
        text, made = await tool_sessions.share(by, made, share)
        who = Participant("guest", f"Guest {self.mark}", Principal(self.tenant, "guest"), guest=False)
        given = await submit(hr, tool_sessions, made, who, self.told)
        assert given.submission is not None
        return {
            "id": made.id,
            "slug": made.tool_slug,
            "token": text.reveal(),
            "submission": given.submission.id,
        }

    async def together(self) -> Samples:
        """Calls that belong together."""
        name = f"session-{self.label}-{next(self._numbers)}"
        await self._call("echo.say", session=name)
        return {"id": name}

    async def tool(self) -> Samples:
        return {"slug": "echo-say"}

    async def shared_tool(self) -> Samples:
        return {"slug": "echo-share"}


MAKERS: dict[str, Callable[[SampleTenant], Awaitable[Samples]]] = {
    "approval": SampleTenant.approval,
    "run": SampleTenant.run,
    "done": SampleTenant.done,
    "waiting": SampleTenant.waiting,
    "letter": SampleTenant.letter,
    "key": SampleTenant.key,
    "member": SampleTenant.member,
    "role": SampleTenant.role,
    "embed": SampleTenant.embed,
    "session": SampleTenant.session,
    "together": SampleTenant.together,
    "tool": SampleTenant.tool,
    "shared_tool": SampleTenant.shared_tool,
}
