"""Workspaces with a shell, for tests with real sandboxes and real processes."""

from __future__ import annotations

import itertools
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil

from handrail import Handrail, Outcome, Principal
from handrail.ext.guard import approve
from handrail.testing import ScriptedApprover
from handrail.toolsets.workspace import PathRules, Workspace
from handrail.toolsets.workspace.shell import SandboxCheck, ShellOptions, shell_tools

ANN = Principal("local", "ann")
_numbers = itertools.count(os.getpid() * 1000)


def a_mark() -> str:
    """A number of seconds that no other process sleeps, so that who does can be found."""
    return f"9{next(_numbers)}"


def alive(mark: str) -> list[int]:
    """The processes that have the mark among their arguments."""
    every = psutil.process_iter(["cmdline"])
    return [one.pid for one in every if mark in (one.info["cmdline"] or ())]


class Shell:
    """Runs commands as an agent whose every question is answered with yes."""

    def __init__(self, handrail: Handrail, workspace: Workspace) -> None:
        self.handrail = handrail
        self.workspace = workspace

    async def run(self, command: str, tool: str = "bash", **more: Any) -> Outcome:
        return await self.handrail.call(tool, {"command": command, **more}, principal=ANN)

    async def out(self, command: str, **more: Any) -> str:
        """What a command printed that ended well or badly."""
        outcome = await self.run(command, **more)
        assert outcome.status == "completed", outcome.result
        return str(outcome.result.data["stdout"])


@asynccontextmanager
async def a_shell(
    root: Path, options: ShellOptions | None = None, path_rules: PathRules | None = None
) -> AsyncIterator[Shell]:
    options = options or ShellOptions()
    workspace = Workspace(root, path_rules)
    tools = shell_tools(workspace, options)
    yes = ScriptedApprover(always=approve())
    async with Handrail(tools, safety=[SandboxCheck(options)], approver=yes) as handrail:
        yield Shell(handrail, workspace)
    workspace.close()
