"""Tools whose runs have something to tell: files, output, calls of others, an end that somebody decides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.acceptance.server_process import ServerProcess, running_server
from tests.acceptance.web.browser import Window, new_link, sign_in

TOOLS = r'''
import asyncio
from pathlib import Path

from handrail import Attachment, Context, Result, tool


@tool("work.report", level="read", name="Report")
def report(name: str = "report.csv") -> Result:
    """Make a file."""
    page = Attachment("text/html", name, b"<script>alert(1)</script>")
    files = (page, Attachment("text/csv", "b.csv", b"a,b"))
    return Result(data={"rows": [{"a": 1}]}, summary="Wrote two files", attachments=files)


@tool("work.slow", level="read", name="Slow work")
async def slow(gate: str, *, ctx: Context) -> dict:
    """Say something, then wait until a file is there."""
    ctx.metadata(title="Reading page 1 of 2")
    ctx.append_output("first words")
    while not Path(gate).exists():
        await asyncio.sleep(0.02)
    return {"done": True}


@tool("work.outer", level="read", name="Outer")
async def outer(*, ctx: Context) -> dict:
    """Call another tool."""
    inner = await ctx.call("work.odd", {"text": "inner"})
    return {"inner": inner.ok}


@tool("work.odd", level="read", name="Odd")
def odd(text: str = "") -> Result:
    """Say back what it was given."""
    return Result(data={"text": text}, summary=text)


@tool("work.chatty", level="read", name="Chatty")
async def chatty(*, ctx: Context) -> dict:
    """Write much."""
    for at in range(450):
        ctx.append_output(f"line {at}\n")
    return {"lines": 450}


@tool("work.broken", level="write", danger="safe", name="Broken")
def broken() -> dict:
    """Fail."""
    raise RuntimeError("the printer is on fire")


@tool("work.change", level="write", name="Change")
def change(id: str, status: str) -> Result:
    """Change a record."""
    return Result(data={"id": id}, summary="1 record changed")
'''
DATABASE = "sqlite:///handrail.db"


@dataclass
class TimelineServer:
    """A server with these tools, and how to be somebody there."""

    served: ServerProcess
    owner: httpx.Client
    agent: httpx.Client
    """Agent ops, for the owner."""

    def call(self, tool: str, by: httpx.Client | None = None, **arguments: Any) -> Any:
        slug = tool.replace(".", "-")
        answer = (by or self.owner).post(f"/api/tools/{slug}/call", json={"arguments": arguments})
        return answer.json() | {"http": answer.status_code, "id": answer.headers.get("x-call-id")}

    def begin(self, tool: str, **arguments: Any) -> str:
        """Begin a call that goes on by itself; its id."""
        slug = tool.replace(".", "-")
        with self.owner.stream("POST", f"/api/tools/{slug}/stream", json={"arguments": arguments}) as answer:
            return answer.headers["x-call-id"]

    def person(self, email: str, name: str, *permissions: str) -> None:
        """One more person, who holds exactly this."""
        role = name.lower()
        made = self.owner.put(f"/api/roles/{role}", json={"permissions": list(permissions)})
        assert made.status_code == 204, made.text
        added = self.owner.post("/api/members", json={"email": email, "name": name, "roles": [role]})
        assert added.status_code == 201, added.text

    def enter(self, opened: Window, email: str | None = None) -> Window:
        """Sign somebody in: the owner, by the link of the first start, or whoever has the address."""
        link = self.served.link if email is None else new_link(self.served, email)
        assert link is not None
        return sign_in(opened, link)


@contextmanager
def timeline_server(folder: Path) -> Iterator[TimelineServer]:
    (folder / "story_tools_here.py").write_text(TOOLS)
    with running_server(folder, "--tools", "story_tools_here.py", "--database", DATABASE) as served:
        owner = served.key("owner", "--for", served.owner(), "--kind", "person")
        with served.http(owner) as person:
            wanted = {"name": "agent", "agent": "ops", "user": served.owner(), "permissions": ["*"]}
            made = person.post("/api/keys", json=wanted)
            assert made.status_code == 201, made.text
            with served.http(made.json()["key"]) as ops:
                yield TimelineServer(served, person, ops)
