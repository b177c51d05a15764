"""The shell: commands judged before they run, and run where they can do no harm."""

from handrail import Tool
from handrail.toolsets.workspace.shell.bash import bash
from handrail.toolsets.workspace.shell.classify import classify
from handrail.toolsets.workspace.shell.rules import Classification
from handrail.toolsets.workspace.shell.sandbox import CommandLimits
from handrail.toolsets.workspace.shell.sandbox_policy import SandboxCheck, ShellOptions
from handrail.toolsets.workspace.workspace import Workspace

__all__ = [
    "Classification",
    "CommandLimits",
    "SandboxCheck",
    "ShellOptions",
    "bash",
    "classify",
    "shell_tools",
]


def shell_tools(workspace: Workspace, options: ShellOptions | None = None) -> tuple[Tool, ...]:
    """The tools for commands in a workspace."""
    return (bash(workspace, options or ShellOptions()),)
