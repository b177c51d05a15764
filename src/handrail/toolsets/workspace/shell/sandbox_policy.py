"""Sandbox policy: what the shell allows, the check that denies bash, and what a command sees."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from handrail import Principal, Tool
from handrail.ext.guard import Step
from handrail.toolsets.workspace.shell.git_repositories import nested_repositories
from handrail.toolsets.workspace.shell.run import no_network, no_sandbox
from handrail.toolsets.workspace.shell.sandbox import (
    CommandLimits,
    SandboxSpec,
    bwrap_command,
    missing_sandbox,
)
from handrail.toolsets.workspace.shell.syntax import parser_problem
from handrail.toolsets.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ShellOptions:
    """What the shell of a workspace allows."""

    network: bool = False
    """Whether a call may ask for the network."""
    unsandboxed: bool = False
    """Whether commands run where there is no sandbox."""
    readable: tuple[Path, ...] = ()
    """Folders outside the workspace that commands may read, such as a toolchain."""
    limits: CommandLimits = field(default_factory=CommandLimits)


class SandboxCheck:
    """Denies `bash` where commands can be neither read nor kept in, and a network that nobody may have."""

    def __init__(self, options: ShellOptions) -> None:
        self._options = options

    def watches(self, tool: Tool) -> bool:
        return tool.id == "bash"

    def __call__(self, tool: Tool, args: Any, principal: Principal) -> Step | None:
        if unread := parser_problem():
            return Step("sandbox", "deny", unread, code="NOT_INSTALLED")
        if args is not None and args.network and not self._options.network:
            return Step("sandbox", "deny", str(no_network()), code="NO_NETWORK")
        problem = None if self._options.unsandboxed else sandbox_problem()
        if problem is None:
            return None
        return Step("sandbox", "deny", str(no_sandbox(problem)), code="NO_SANDBOX")


def sandbox_problem() -> str | None:
    """Why no sandbox can be had on this machine; None when one can. Tried once for each program found."""
    return missing_sandbox() or _bwrap_problem(shutil.which("bwrap") or "")


@cache
def _bwrap_problem(program: str) -> str | None:
    """What bubblewrap says when it cannot start here."""
    line = bwrap_command(SandboxSpec(Path("/usr")), Path("/usr"), ["/bin/true"], 1)
    try:
        tried = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not start ({type(error).__name__})"
    if tried.returncode == 0:
        return None
    lines = tried.stderr.decode(errors="replace").strip().splitlines()
    return f"bubblewrap does not start ({lines[-1] if lines else tried.returncode})"


_DATABASE_SIBLINGS = ("wal", "shm", "journal")


def sandbox_spec(
    workspace: Workspace, options: ShellOptions, *, network: bool, writable: bool
) -> SandboxSpec:
    """What a command of this workspace sees. What was let through as reading can do no more."""
    root, path_rules = workspace.root, workspace.path_rules
    inner = nested_repositories(root) if writable else ()
    if writable:
        with suppress(OSError):  # where we cannot write, no command can
            workspace.state_subfolder(
                "drafts"
            )  # what is not there cannot be hidden, and might be made by the command
        _create_database_siblings(root, path_rules.hidden)
    return SandboxSpec(
        root,
        protected=(root / ".git", *inner, *(root / name for name in path_rules.protected)),
        hidden=(workspace.state, *(root / name for name in path_rules.hidden)),
        readable=options.readable,
        network=network,
        writable=writable,
    )


def _create_database_siblings(root: Path, hidden: tuple[str, ...]) -> None:
    """A database reads what lies beside it under these names, so nobody else may make that."""
    for name in hidden:
        base, mark, ending = name.rpartition("-")
        if mark and ending in _DATABASE_SIBLINGS and base in hidden and (root / base).is_file():
            with suppress(OSError):
                os.close(os.open(root / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
