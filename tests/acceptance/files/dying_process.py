"""A process that changes a file and is killed at a line of its code, and one that comes after it."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

from handrail import ApprovalRequest, Handrail, Policy, Principal
from handrail.ext.guard import Reply, approve
from handrail.toolsets.workspace import Workspace
from handrail.toolsets.workspace.changes.journal import ChangeJournal
from handrail.toolsets.workspace.changes.undo import undo_file
from handrail.toolsets.workspace.files import file_tools
from tests.harness.kill_points import KillPoint, arm, die_at, modules_of, points_of, trace_lines

ANA = Principal(tenant="acme", user="ana")
OLD = "".join(f"old line {number}\n" for number in range(3_000))
NEW = "".join(f"new line {number}\n" for number in range(3_000))
EDITED = OLD.replace("old line 1000\n", "edited\nline\n")
CHANGES: dict[str, tuple[str, dict[str, Any], str, tuple[str | None, ...]]] = {
    "write": ("write_file", {"path": "a.txt", "content": NEW}, "a.txt", (OLD, NEW)),
    "edit": (
        "edit_file",
        {"path": "a.txt", "search": "old line 1000\n", "replace": "edited\nline\n"},
        "a.txt",
        (OLD, EDITED),
    ),
    "create": ("write_file", {"path": "new/b.txt", "content": NEW}, "new/b.txt", (None, NEW)),
    "delete": ("file_delete", {"path": "a.txt"}, "a.txt", (OLD, None)),
}
"""By name: the call, the file, and what it may be found as."""


def change(root: str, name: str, at: list[Any] | None, told: str) -> None:
    """Make a change and die at a point, or tell which points were passed."""
    passed: Counter[KillPoint] = Counter()
    if at is None:
        trace_lines(frozenset(one.file for one in _points()), lambda point: passed.update((point,)))
    else:
        file, function, line, time = at
        die_at(KillPoint(file, function, line), time)
    tool, args, _, _ = CHANGES[name]
    arm()
    asyncio.run(_call(root, (tool, args)))
    if at is None:
        points = [[one.file, one.function, one.line, times] for one, times in sorted(passed.items())]
        Path(told).write_text(json.dumps(points))


def go_on(root: str, name: str, told: str) -> None:
    """Work on in the same workspace, and take back what the killed process did."""
    _, _, path, _ = CHANGES[name]
    outcomes = asyncio.run(
        _call(root, ("write_file", {"path": "c.txt", "content": "c\n"}), ("undo_file", {"path": path}))
    )
    Path(told).write_text(json.dumps(outcomes))


def _points() -> list[KillPoint]:
    return points_of(modules_of("handrail.toolsets.workspace"))


async def _call(root: str, *calls: tuple[str, dict[str, Any]]) -> list[str | None]:
    """The codes of the calls; None where all went well."""
    workspace = Workspace(root)
    workspace.journal = changes = ChangeJournal(workspace)
    policy = Policy(approval_mode="danger", moderate="allow")
    tools = [*file_tools(workspace), undo_file(changes)]
    async with Handrail(tools, policy=policy, approver=_yes) as hr:
        codes = [(await hr.call(tool, args, principal=ANA)).code for tool, args in calls]
    changes.close()
    workspace.close()
    return codes


async def _yes(_: ApprovalRequest) -> Reply:
    return approve(by="bo")
