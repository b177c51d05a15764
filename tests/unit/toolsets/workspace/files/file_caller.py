"""A workspace with its file tools, called as an agent calls them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from handrail import ApprovalRequest, Handrail, Policy
from handrail.ext.guard import Reply, approve
from handrail.toolsets.workspace import PathRules, Workspace
from handrail.toolsets.workspace.files import file_tools
from tests.unit.toolsets.workspace.caller import ANA, Caller

__all__ = ["ANA", "FileCaller", "open_files"]


class FileCaller(Caller):
    """The caller, and the workspace it works in."""

    def __init__(self, hr: Handrail, workspace: Workspace) -> None:
        super().__init__(hr)
        self.workspace = workspace
        self.root = workspace.root


async def _yes(_: ApprovalRequest) -> Reply:
    return approve(by="bo")


@asynccontextmanager
async def open_files(root: Path, path_rules: PathRules | None = None) -> AsyncIterator[FileCaller]:
    """A workspace in a folder, where every question is answered with yes."""
    workspace = Workspace(root, path_rules)
    try:
        policy = Policy(approval_mode="danger", moderate="allow")
        async with Handrail(file_tools(workspace), policy=policy, approver=_yes) as hr:
            yield FileCaller(hr, workspace)
    finally:
        workspace.close()
