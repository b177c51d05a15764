"""A desk with tools that want a person's word, people who give it, and an agent that asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.acceptance.serving import Served, serving
from tests.acceptance.web.browser import Window, new_link, sign_in

TOOLS = '''
"""Tools of a desk; each leaves a line behind when it runs."""

import json
import os
from typing import Annotated, Literal

from pydantic import Field

from handrail import tool

LEDGER = os.path.join(os.path.dirname(__file__), "ledger")


def note(name: str, **args: object) -> None:
    with open(LEDGER, "a") as ledger:
        ledger.write(json.dumps([name, args], sort_keys=True) + "\\n")


@tool("data.updateRecord", name="Update a record", level="write")
async def update_record(
    id: Annotated[str, Field(title="Record")],
    status: Annotated[Literal["active", "inactive", "archived"], Field(title="Status")],
    remark: Annotated[str, Field(title="Note")] = "",
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


@tool("posts.publish", name="Publish", level="write", four_eyes=True)
async def publish(title: str) -> str:
    """Publish a post; whoever is behind it cannot agree to it."""
    note("publish", title=title)
    return f"{title} is out"
'''
DATABASE = "sqlite:///handrail.db"


@dataclass
class Desk:
    """A server with the desk's tools, and how to be somebody there."""

    served: Served
    agent: httpx.Client
    """Agent ops, for the owner."""
    owner: httpx.Client

    def ask(self, tool: str, arguments: Mapping[str, Any], session: str | None = None) -> str:
        """Call a tool that asks; the id of the question."""
        body: dict[str, Any] = {"arguments": arguments} | ({"session": session} if session else {})
        answer = self.agent.post(f"/api/tools/{tool}/call", json=body, headers={"prefer": "respond-async"})
        assert answer.status_code == 202, answer.text
        call = answer.json()["call_id"]
        [found] = [one for one in self.waiting() if one["call_id"] == call]
        return str(found["id"])

    def waiting(self) -> list[Any]:
        listed = self.owner.get("/api/approvals")
        assert listed.status_code == 200, listed.text
        return list(listed.json()["approvals"])

    def asked(self, approval: str) -> Any:
        return self.owner.get(f"/api/approvals/{approval}").json()

    def outcome(self, approval: str) -> Any:
        """How the call of a question ended, once it has."""
        call = self.asked(approval)["call_id"]
        return self.owner.get(f"/api/calls/{call}", params={"wait": "20"}).json()

    def ledger(self) -> list[str]:
        file = self.served.folder / "ledger"
        return file.read_text().splitlines() if file.exists() else []

    def reviewer(self, email: str, name: str, *roles: str) -> None:
        """One more person of the tenant."""
        added = self.owner.post("/api/members", json={"email": email, "name": name, "roles": list(roles)})
        assert added.status_code in (200, 201), added.text

    def enter(self, opened: Window, email: str | None = None) -> Window:
        """Sign somebody in: the owner, or whoever has the address."""
        return sign_in(opened, new_link(self.served, email))


@contextmanager
def desk(folder: Path) -> Iterator[Desk]:
    (folder / "desk_tools.py").write_text(TOOLS)
    with serving(folder, "--tools", "desk_tools.py", "--database", DATABASE) as served:
        owner = served.key("owner", "--for", served.owner(), "--kind", "person")
        agent = served.key("agent", "--for", served.owner(), "--agent", "ops")
        with served.http(owner) as person, served.http(agent) as ops:
            made = Desk(served, ops, person)
            made.reviewer("bea@acme.example", "Bea", "approver")
            yield made
