"""A Handrail with the tools of a workspace, as agents have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from handrail import ApprovalRequest, Handrail, Outcome, Policy, Principal
from handrail.ext.guard import Reply, approve
from handrail.toolsets.workspace.toolset import WorkspaceToolset


async def _yes(request: ApprovalRequest) -> Reply:
    return approve()


class WorkspaceAgents:
    """Calls of several agents of one tenant on one workspace."""

    def __init__(self, root: Path, **options: Any) -> None:
        self.root = root
        self.turn = 0
        self.toolset = WorkspaceToolset(root, tenant="acme")
        self.handrail = Handrail(
            [self.toolset], policy=Policy(approval_mode="policy"), approver=_yes, **options
        )

    async def call(self, tool: str, *, agent: str = "ada", **args: Any) -> Outcome:
        self.turn += 1
        who = Principal(tenant="acme", user="ana", agent=agent)
        return await self.handrail.call(tool, args, principal=who, source="web", session="s", turn=self.turn)
