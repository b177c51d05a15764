"""The safety check of the shell: without a sandbox nothing runs, unless somebody said that it may."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from handrail import Principal, Tool
from handrail.ext import Step
from handrail.toolsets.workspace.shell.parsing import parser_problem
from handrail.toolsets.workspace.shell.running import no_network, no_sandbox
from handrail.toolsets.workspace.shell.sandbox import Limits, Shown, missing, sandboxed


@dataclass(frozen=True, slots=True)
class ShellOptions:
    """What the shell of a workspace allows."""

    network: bool = False
    """Whether a call may ask for the network."""
    unsandboxed: bool = False
    """Whether commands run where there is no sandbox."""
    readable: tuple[Path, ...] = ()
    """Folders outside the workspace that commands may read, such as a toolchain."""
    limits: Limits = field(default_factory=Limits)


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
    return missing() or _refusal(shutil.which("bwrap") or "")


@cache
def _refusal(program: str) -> str | None:
    """What bubblewrap says when it cannot start here."""
    line = sandboxed(Shown(Path("/usr")), Path("/usr"), ["/bin/true"], 1)
    try:
        tried = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not start ({type(error).__name__})"
    if tried.returncode == 0:
        return None
    said = tried.stderr.decode(errors="replace").strip().splitlines()
    return f"bubblewrap does not start ({said[-1] if said else tried.returncode})"
