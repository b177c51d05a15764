"""A desk with tools that want a person's word, people who give it, and an agent that asks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from handrail.platform.middleware import SESSION_COOKIE
from tests.acceptance.server_process import ServerProcess, running_server
from tests.acceptance.web.browser import Window, new_link
from tests.harness.poll import poll_until

TOOLS = '''
"""Tools of a desk; each leaves a line behind when it runs."""

import asyncio
import json
import os
from typing import Annotated, Literal

from pydantic import Field

from handrail import Result, tool

LEDGER = os.path.join(os.path.dirname(__file__), "ledger")


def note(name: str, **args: object) -> None:
    with open(LEDGER, "a") as ledger:
        ledger.write(json.dumps([name, args], sort_keys=True) + "\\n")


@tool("data.updateRecord", name="Update a record", level="write")
async def update_record(
    id: Annotated[str, Field(title="Record")],
    status: Annotated[Literal["active", "inactive", "archived"], Field(title="Status")],
    remark: Annotated[str, Field(title="Note", json_schema_extra={"format": "textarea"})] = "",
    token: Annotated[str, Field(json_schema_extra={"x-secret": True})] = "",
) -> dict[str, object]:
    """Change the status of a record."""
    note("update", id=id, status=status, remark=remark, token=token)
    return {"id": id, "status": status}


@tool("data.purge", name="Purge records", level="destructive", danger="dangerous")
async def purge(before: str) -> str:
    """Delete old records for good."""
    note("purge", before=before)
    return "gone"


@tool("money.pay", name="Pay", level="write", approvals=2)
async def pay(to: str, amount: int) -> dict[str, object]:
    """Pay somebody; two persons must agree."""
    note("pay", to=to, amount=amount)
    return {"paid": amount, "to": to}


@tool("mail.send", name="Send a letter", level="write")
async def send(gate: str, error: str = "") -> Result:
    """Send a letter, once a file is there."""
    while not os.path.exists(gate):
        await asyncio.sleep(0.02)
    return Result.fail(error) if error else Result(summary="Sent 1 letter")


@tool("posts.publish", name="Publish", level="write", four_eyes=True)
async def publish(title: str) -> str:
    """Publish a post; whoever is behind it cannot agree to it."""
    note("publish", title=title)
    return f"{title} is out"
'''
DATABASE = "sqlite:///handrail.db"
BEA = "bea@acme.example"


@dataclass
class ApprovalServer:
    """A server with the desk's tools, and how to be somebody there."""

    served: ServerProcess
    owner: httpx.Client
    """With the session of the owner's browser."""
    agent: httpx.Client
    """Agent ops, for the owner."""
    sessions: dict[str, str] = field(default_factory=dict)
    """The cookies of whoever has signed in, by address."""

    def ask(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Call a tool that asks; the id of the question."""
        body = {"arguments": arguments}
        answer = self.agent.post(f"/api/tools/{tool}/call", json=body, headers={"prefer": "respond-async"})
        assert answer.status_code == 202, answer.text
        call = answer.json()["call_id"]
        return poll_until(
            lambda: next((str(one["id"]) for one in self.waiting() if one["call_id"] == call), "")
        )

    def waiting(self) -> list[Any]:
        listed = self.owner.get("/api/approvals", params={"limit": "200"})
        assert listed.status_code == 200, listed.text
        return list(listed.json()["approvals"])

    def asked(self, approval: str) -> Any:
        return self.owner.get(f"/api/approvals/{approval}").json()

    def outcome(self, approval: str) -> Any:
        """How the call of a question ended, once it has."""
        call = self.asked(approval)["call_id"]
        return poll_until(lambda: over(self.owner.get(f"/api/calls/{call}", params={"wait": "20"}).json()))

    def ran(self, mark: str) -> list[Any]:
        """What tools were given that ran with this text among their arguments."""
        file = self.served.folder / "ledger"
        lines = file.read_text().splitlines() if file.exists() else []
        found = [json.loads(line)[1] for line in lines]
        return [one for one in found if mark in one.values()]

    def enter(self, opened: Window, email: str = "owner") -> Window:
        """Let somebody in who has signed in here: the owner, or whoever has the address."""
        if email not in self.sessions:
            self.sessions[email] = session(self.served, new_link(self.served, email))
        token, url = self.sessions[email], self.served.url
        opened.context.add_cookies([{"name": SESSION_COOKIE, "value": token, "url": url}])
        return opened


def over(told: Any) -> Any:
    return told if told.get("status") not in ("pending", "running", "queued", None) else None


def session(served: ServerProcess, link: str) -> str:
    """The cookie that a link gives."""
    with served.http() as http:
        done = http.post("/sign-in", data={"link": parse_qs(urlsplit(link).query)["link"][0]})
        assert done.status_code == 303, done.text
        return done.cookies[SESSION_COOKIE]


@contextmanager
def approval_server(folder: Path) -> Iterator[ApprovalServer]:
    (folder / "desk_tools.py").write_text(TOOLS)
    with running_server(folder, "--tools", "desk_tools.py", "--database", DATABASE) as served:
        assert served.link is not None
        cookie = session(served, served.link)
        with served.http() as owner:
            owner.cookies.set(SESSION_COOKIE, cookie)
            wanted = {"name": "claude-desk", "kind": "agent", "user": served.owner(), "agent": "ops"}
            made = owner.post("/api/keys", json=wanted)
            assert made.status_code == 201, made.text
            added = owner.post("/api/members", json={"email": BEA, "name": "Bea", "roles": ["approver"]})
            assert added.status_code in (200, 201), added.text
            with served.http(made.json()["key"]) as agent:
                yield ApprovalServer(served, owner, agent, {"owner": cookie})
