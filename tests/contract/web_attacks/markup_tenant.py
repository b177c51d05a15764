"""A tenant in which everything that can be named has the same name: markup, or words of its shape."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from handrail import Context, Handrail, Principal, ToolError, tool
from handrail.core.define.result import Attachment, Result
from handrail.core.define.tool import Tool
from handrail.core.define.ui_specs import OutputSection
from handrail.identity.permissions import console_principal
from handrail.identity.services import Services
from handrail.identity.session_submissions import submit
from handrail.identity.tool_sessions import Participant
from tests.contract.http_attacks.attacked_server import THERE
from tests.contract.web_attacks.sample_tenant import Samples, SampleTenant

MARKUP = "javascript:x//\"'></title></textarea><script>x</script><svg onload=x><a style=x hx-get=/x>{{7}}</p>"
"""An address that runs, and a way out of attributes, texts, titles and templates; short enough for a name."""
assert len(MARKUP) <= 100


def shaped(text: str) -> str:
    """Harmless words of the same shape."""
    return re.sub(r"[^A-Za-z0-9 ]", "x", text)


def markup_tools(tenant: str, paint: str) -> tuple[Tool, Tool, Tool, Tool]:
    """Tools of one tenant alone, in the texts of which the paint stands wherever a text may stand."""
    sections = (
        OutputSection("rows", paint, "table"),
        OutputSection("chart", paint, "chart", {"x": "a", "y": [{"key": "b", "label": paint}]}),
        OutputSection("best", paint, "ranking"),
        OutputSection("sum", paint, "summary"),
        OutputSection("own", paint, "custom"),
    )
    more: dict[str, Any] = {"tenants": (tenant,), "category": paint, "icon": paint, "description": paint}
    Text = Annotated[str, Field(title=paint, description=paint, examples=[paint])]
    Pick = Annotated[
        Literal["a", "b"], Field(title=paint, json_schema_extra={"x-enum-titles": {"a": paint, "b": paint}})
    ]

    @tool(f"paint_{tenant}.show", level="read", name=paint, sections=sections, guidance=paint, **more)
    async def show(
        ctx: Context,
        text: Text = paint,
        pick: Pick = "a",
        many: Annotated[list[str] | None, Field(title=paint)] = None,
    ) -> Result:
        ctx.append_output(text)
        ctx.metadata(title=text)
        rows = [{"a": text, "b": 1, text: text}, {"a": text, "b": 2, text: text}]
        data = {
            "rows": rows,
            "chart": rows,
            "best": rows,
            "sum": text,
            "own": {"html": text},
            text: {text: [text]},
        }
        files = (Attachment("text/html", text, b"x"), Attachment(text, f"{text}.svg", b"x"))
        return Result(data=data, summary=text, title=text, markdown=text, output=text, attachments=files)

    @tool(f"paint_{tenant}.fail", level="read", name=paint, **more)
    async def fail(text: Text = paint) -> str:
        raise ToolError(text, code="BROKEN")

    @tool(f"paint_{tenant}.send", level="destructive", name=paint, **more)
    async def send(text: Text = paint, pick: Pick = "a") -> str:
        return text

    @tool(f"paint_{tenant}.share", level="read", name=paint, collaborative=True, aggregate=list, **more)
    async def share(text: Text = paint) -> dict[str, str]:
        return {"said": text, text: text}

    return show, fail, send, share


@dataclass(repr=False)
class MarkupTenant(SampleTenant):
    """A tenant of one paint."""

    paint: str = ""
    tools: tuple[Tool, ...] = ()

    async def settle(self, hr: Handrail, services: Services) -> None:
        await super().settle(hr, services)
        paint, by = self.paint, console_principal(self.tenant)
        show, fail, send, share = self.tools
        agent, person = Principal(self.tenant, "ana", agent=paint), await self._owner()
        given = {"text": paint}
        at: dict[str, Any] = {"source": "api", "session": f"s {paint}"}
        run = await hr.call(show.id, given, principal=agent, **at)
        assert run.ok, run
        await hr.call(show.id, given, principal=person, source="web")
        await hr.call(fail.id, given, principal=agent, **at)
        asked = await hr.call(send.id, given, principal=agent, **at)
        own = await hr.call(send.id, given, principal=person, source="web")
        await services.people.rename_tenant(by, paint)
        await services.people.rename(person, paint)
        member = await services.people.add_member(by, f"p-{self.mark}@example.com", ["viewer"], paint)
        _, key = await services.keys.make(by, paint, agent=paint, tools=[paint])
        text, embed = await services.embeds.publish(by, paint, [show, share], ["https://a.example"])
        await services.preferences.save(person, show, paint, given)
        tool_sessions = services.tool_sessions
        shared = await tool_sessions.create(by, share, paint)
        link, shared = await tool_sessions.share(by, shared, share)
        done = await submit(
            hr, tool_sessions, shared, Participant("guest", paint, Principal(self.tenant, "guest")), given
        )
        assert done.submission is not None and asked.approval_id is not None
        letters = await hr.dead_letters.list(Principal(self.tenant, permissions=["*"]))
        letter = next(one for one in letters if one.tool == fail.id)
        slug, answer = show.slug, {"submission": done.submission.id}
        self.things |= {
            "run": {"id": run.call_id, "seq": "1", "section": "own", "number": "0"},
            "done": {"slug": slug, "call": run.call_id},
            "waiting": {"slug": send.slug, "call": own.call_id, "id": own.call_id},
            "approval": {"id": asked.approval_id, "shown": ""},
            "letter": {"id": letter.id},
            "key": {"id": key.id},
            "member": {"id": member.id},
            "embed": {"id": embed.id, "token": text.reveal(), "slug": slug},
            "session": {"id": shared.id, "slug": share.slug, "token": link.reveal(), **answer},
            "together": {"id": f"s {paint}"},
            "tool": {"slug": slug},
            "shared_tool": {"slug": share.slug},
        }

    async def _owner(self) -> Principal:
        assert self.services is not None
        return await self.services.authenticator.principal_from_session(self.cookies["owner"])

    async def make(self, kind: str) -> Samples:
        """Forms are posted to what is painted."""
        return self.things[kind] if kind in self.things and self.tools else await super().make(kind)


def markup_tenant(paint: str) -> tuple[Callable[[str], MarkupTenant], tuple[Tool, ...]]:
    """Two tenants, one with markup and one with harmless words, and the tools of both."""
    tenants: dict[str, MarkupTenant] = {}
    tools: list[Tool] = []

    def home(tenant: str) -> MarkupTenant:
        return tenants[tenant]

    for tenant in ("here", THERE):
        colour = paint if tenant == "here" else shaped(paint)
        made = markup_tools(tenant, colour)
        tenants[tenant] = MarkupTenant(tenant, paint=colour, tools=made)
        tools += made
    return home, tuple(tools)
