"""A tenant's house as the pages see it: all of which they tell, and a fresh one where it is used up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from handrail import Context, Handrail, Principal, tool
from handrail.core.define.result import Attachment, Result
from handrail.core.define.sections import OutputSection
from handrail.doors.web.pages.approvals.seen import seen_mark
from handrail.identity.granting import console
from handrail.identity.guests import Participant
from handrail.identity.offices import Offices
from handrail.identity.submitting import submit
from handrail.store.tool_sessions import ToolSession
from tests.contract.http_attacks.premises import Belonging, say, share

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
Things = dict[str, str]
"""What stands in an address, by its name there."""


@dataclass(repr=False)
class House(Belonging):
    """A tenant with pages."""

    hr: Handrail | None = None
    offices: Offices | None = None
    things: dict[str, Things] = field(default_factory=dict)
    """One of each kind, to look at."""
    users: dict[str, str] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=count)

    async def settle(self, hr: Handrail, offices: Offices) -> None:
        await super().settle(hr, offices)
        self.hr, self.offices = hr, offices
        for role, token in self.cookies.items():
            self.users[role] = (await offices.doorkeeper.principal_from_session(token)).user or ""
        for kind in MAKERS:
            self.things[kind] = await self.make(kind)

    async def sign_in(self, role: str) -> str:
        """A new session, in the place of one that may have ended."""
        _, offices = self._open
        self.cookies[role] = await offices.doorkeeper.sign_in(self.users[role], self.tenant)
        return self.cookies[role]

    async def make(self, kind: str) -> Things:
        """A fresh one of a kind."""
        return await MAKERS[kind](self)

    @property
    def told(self) -> dict[str, Any]:
        return {"text": f"word {self.mark} {next(self._numbers)}"}

    @property
    def _open(self) -> tuple[Handrail, Offices]:
        assert self.hr is not None and self.offices is not None
        return self.hr, self.offices

    async def _call(self, name: str, **more: Any) -> str:
        hr, _ = self._open
        who = Principal(self.tenant, "ana", agent="bot")
        made = await hr.call(name, self.told, principal=who, source="api", **more)
        return made.call_id

    async def approval(self) -> Things:
        hr, _ = self._open
        call = await self._call("echo.send")
        who = Principal(self.tenant, permissions=["*"])
        found = next(one for one in await hr.approvals.list(who, limit=500) if one.call.id == call)
        return {"id": found.id, "shown": seen_mark(found)}

    async def run(self) -> Things:
        return {"id": await self._call("paint.all"), "seq": "1", "section": "own", "number": "0"}

    async def done(self) -> Things:
        return {"slug": "paint-all", "call": await self._call("paint.all")}

    async def waiting(self) -> Things:
        call = await self._call("echo.send")
        return {"slug": "echo-send", "call": call, "id": call}

    async def letter(self) -> Things:
        hr, _ = self._open
        call = await self._call("echo.fail")
        found = await hr.dead_letters.list(Principal(self.tenant, permissions=["*"]))
        return {"id": next(one.id for one in found if one.call.id == call)}

    async def key(self) -> Things:
        _, offices = self._open
        _, made = await offices.keys.make(console(self.tenant), f"key {self.mark}", agent="a")
        return {"id": made.id}

    async def member(self) -> Things:
        _, offices = self._open
        email = f"m{next(self._numbers)}-{self.mark}@example.com"
        made = await offices.people.add_member(console(self.tenant), email, ["viewer"], f"Spare {self.mark}")
        return {"id": made.id}

    async def role(self) -> Things:
        _, offices = self._open
        name = f"role-{self.label}-{next(self._numbers)}"
        await offices.people.save_role(console(self.tenant), name, ["runs.read"])
        return {"name": name}

    async def embed(self) -> Things:
        _, offices = self._open
        by = console(self.tenant)
        text, made = await offices.embeds.publish(by, f"Embed {self.mark}", [say], ["https://a.example"])
        return {"id": made.id, "token": text.reveal(), "slug": "echo-say"}

    async def session(self) -> Things:
        """A session that is shared, with one answer."""
        hr, offices = self._open
        by, rooms = console(self.tenant), offices.tool_sessions
        made: ToolSession = await rooms.create(by, share, f"Session {self.mark}")
        text, made = await rooms.share(by, made, share)
        who = Participant("guest", f"Guest {self.mark}", Principal(self.tenant, "guest"), guest=False)
        given = await submit(hr, rooms, made, who, self.told)
        assert given.submission is not None
        return {
            "id": made.id,
            "slug": made.tool_slug,
            "token": text.reveal(),
            "submission": given.submission.id,
        }

    async def together(self) -> Things:
        """Calls that belong together."""
        name = f"session-{self.label}-{next(self._numbers)}"
        await self._call("echo.say", session=name)
        return {"id": name}

    async def tool(self) -> Things:
        return {"slug": "echo-say"}

    async def shared_tool(self) -> Things:
        return {"slug": "echo-share"}


MAKERS: dict[str, Callable[[House], Awaitable[Things]]] = {
    "approval": House.approval,
    "run": House.run,
    "done": House.done,
    "waiting": House.waiting,
    "letter": House.letter,
    "key": House.key,
    "member": House.member,
    "role": House.role,
    "embed": House.embed,
    "session": House.session,
    "together": House.together,
    "tool": House.tool,
    "shared_tool": House.shared_tool,
}
