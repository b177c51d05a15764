"""A workspace with its file tools, called as an agent calls them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from handrail import Handrail, Outcome, Policy, Principal
from handrail.ext import ApprovalRequest, Reply, approve
from handrail.toolsets.workspace import Keeping, Workspace
from handrail.toolsets.workspace.files import file_tools

ANA = Principal(tenant="acme", user="ana")


class Desk:
    """Calls tools by name."""

    def __init__(self, hr: Handrail, workspace: Workspace) -> None:
        self.hr = hr
        self.workspace = workspace
        self.root = workspace.root

    async def call(self, name: str, /, **args: Any) -> Outcome:
        return await self.hr.call(name, args, principal=ANA, source="agent")

    async def done(self, name: str, /, **args: Any) -> Any:
        """The data of a call that must succeed."""
        outcome = await self.call(name, **args)
        assert outcome.status == "completed", outcome.to_model()
        return outcome.result.data

    async def said(self, name: str, /, **args: Any) -> str:
        """What the model reads of a call that must succeed."""
        outcome = await self.call(name, **args)
        assert outcome.status == "completed", outcome.to_model()
        return outcome.to_model()

    async def refused(self, name: str, /, **args: Any) -> tuple[str, str]:
        """The code and the words of a call that must fail."""
        outcome = await self.call(name, **args)
        assert outcome.status in ("failed", "refused"), outcome.to_model()
        return str(outcome.code), str(outcome.result.error)


async def _yes(_: ApprovalRequest) -> Reply:
    return approve(by="bo")


@asynccontextmanager
async def at(root: Path, keeping: Keeping | None = None) -> AsyncIterator[Desk]:
    """A workspace in a folder, where every question is answered with yes."""
    workspace = Workspace(root, keeping)
    try:
        policy = Policy(approval_mode="danger", moderate="allow")
        async with Handrail(file_tools(workspace), policy=policy, approver=_yes) as hr:
            yield Desk(hr, workspace)
    finally:
        workspace.close()
