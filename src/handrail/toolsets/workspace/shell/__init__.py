"""The shell: commands judged before they run, and run where they can do no harm."""

from handrail import Tool
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.shell.bash import bash
from handrail.toolsets.workspace.shell.judgement import Judgement
from handrail.toolsets.workspace.shell.safety import SandboxCheck, ShellOptions
from handrail.toolsets.workspace.shell.sandbox import Limits
from handrail.toolsets.workspace.shell.walking import judge

__all__ = ["Judgement", "Limits", "SandboxCheck", "ShellOptions", "bash", "judge", "shell_tools"]


def shell_tools(workspace: Workspace, options: ShellOptions | None = None) -> tuple[Tool, ...]:
    """The tools for commands in a workspace."""
    return (bash(workspace, options or ShellOptions()),)
