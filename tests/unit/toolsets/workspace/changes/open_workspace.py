"""A workspace with its journal and the tools that undo, and writers of any bytes as the tools do it."""

from __future__ import annotations

import stat
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from handrail import ApprovalRequest, Handrail, Outcome, Policy, Principal
from handrail.ext.guard import Reply, approve
from handrail.toolsets.workspace import Workspace
from handrail.toolsets.workspace.changes.database import RetentionLimits
from handrail.toolsets.workspace.changes.journal import ChangeJournal
from handrail.toolsets.workspace.changes.undo import undo_file, undo_turn
from handrail.toolsets.workspace.files import file_tools
from handrail.toolsets.workspace.workspace import JournalEntry, Operation

ANA = Principal(tenant="acme", user="ana")
BO = Principal(tenant="other", user="bo")
ALLOW_MODERATE = Policy(approval_mode="danger")
_calls = count()


async def _yes(request: ApprovalRequest) -> Reply:
    return approve()


class OpenWorkspace:
    """One opening of a workspace; opening it again is a restart."""

    def __init__(self, root: Path, bounds: RetentionLimits | None = None) -> None:
        self.root = root
        self.workspace = Workspace(root)
        self.changes = ChangeJournal(self.workspace, bounds)
        self.workspace.journal = self.changes
        tools = [*file_tools(self.workspace), undo_file(self.changes), undo_turn(self.changes)]
        self.handrail = Handrail(tools, policy=ALLOW_MODERATE, approver=_yes)

    def close(self) -> None:
        self.changes.close()
        self.workspace.close()

    def change(self, path: str, data: bytes | None, **who: Any) -> JournalEntry:
        """What is about to happen to a file; None takes it away."""
        found = self.workspace.stat(path)
        before = None if found is None else self.workspace.read(path)
        operation: Operation = "delete" if data is None else "create" if before is None else "write"
        mode = None if found is None else stat.S_IMODE(found.st_mode)
        created = JournalEntry(path, operation, before, data, mode, "acme", "s", f"c{next(_calls)}", 1)
        return replace(created, **who)

    def apply(self, change: JournalEntry) -> None:
        if change.after is None:
            self.workspace.remove(change.path)
        else:
            self.workspace.write(change.path, change.after)

    def put(self, path: str, data: bytes | None, **who: Any) -> int:
        """Do it as the tools do: kept, done, told."""
        change = self.change(path, data, **who)
        number = self.changes.record(change)
        self.apply(change)
        self.changes.done(number)
        return number

    async def call(self, tool: str, args: dict[str, Any], **how: Any) -> Outcome:
        how = dict[str, Any]({"principal": ANA, "session": "s", "turn": 1, "source": "web"} | how)
        return await self.handrail.call(tool, args, **how)

    async def undo(self, path: str, **args: Any) -> Outcome:
        return await self.call("undo_file", {"path": path, **args})

    async def undo_turn(self, turn: int | None = None, **args: Any) -> Outcome:
        return await self.call("undo_turn", {"turn": turn, **args})

    def read(self, path: str) -> bytes | None:
        file = self.root / path
        return file.read_bytes() if file.exists() else None
