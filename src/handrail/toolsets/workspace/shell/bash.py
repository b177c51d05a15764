"""bash: a shell command, judged before it runs and boxed while it does."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from handrail import Context, Result, Tool, tool
from handrail.ext import Judged, ToolError
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.shell.judgement import Judgement, dangerous, moderate, strictest
from handrail.toolsets.workspace.shell.repositories import is_ours, judge_folder, judge_settings
from handrail.toolsets.workspace.shell.running import Ran, no_network, no_sandbox, run_bare, run_sandboxed
from handrail.toolsets.workspace.shell.safety import ShellOptions, sandbox_problem
from handrail.toolsets.workspace.shell.sandbox import Shown
from handrail.toolsets.workspace.shell.showing import shown_of
from handrail.toolsets.workspace.shell.streaming import Streaming
from handrail.toolsets.workspace.shell.telling import ShellOutput, told
from handrail.toolsets.workspace.shell.walking import judge, speaks_of_git

LONGEST = 600.0
_GRACE = 30.0
_MOST_BYTES = 100_000
"""Of a command; the kernel takes no argument of more than 128 KB."""


def bash(workspace: Workspace, options: ShellOptions) -> Tool:
    @tool(
        "bash",
        level="destructive",
        danger=lambda args: judged(workspace, args),
        capabilities=["execute"],
        optional_capabilities=["network"],
        aliases={"shell_exec": {"cmd": "command"}},
        param_aliases={"command": ("cmd", "script"), "cwd": ("workdir", "directory")},
        concurrency="sequential",
        timeout=LONGEST + _GRACE,
        category="workspace",
        icon="terminal",
        form={
            "command": {"widget": "textarea", "rows": 3, "class": "form-code"},
            "cwd": {"label": "Folder"},
        },
        origin="system",
        output=ShellOutput,
    )
    async def bash(
        command: Annotated[str, Field(description="What to run, as bash reads it", min_length=1)],
        timeout: Annotated[
            float, Field(description="Seconds after which it is ended", gt=0, le=LONGEST)
        ] = 120,
        cwd: Annotated[str, Field(description="The folder to run it in, relative to the root")] = ".",
        network: Annotated[bool, Field(description="Whether it needs the network, which asks")] = False,
        description: Annotated[
            str | None, Field(description="What it is for, in a few words, for whoever approves it")
        ] = None,
        *,
        ctx: Context,
    ) -> Result:
        _check(command)
        folder = _folder(workspace, cwd)
        if network and not (options.network and "network" in ctx.capabilities):
            raise no_network()
        changes = not judge_in(workspace, command, cwd).is_safe
        shown = await asyncio.to_thread(shown_of, workspace, options, network=network, writable=changes)
        streaming = Streaming(ctx)
        try:
            ran = await _run(shown, options, command, folder, timeout, streaming)
        finally:
            streaming.close()
            if changes:
                workspace.tell(None)
        return told(command, ran, timeout)

    return bash


async def _run(
    shown: Shown, options: ShellOptions, command: str, folder: Path, timeout: float, streaming: Streaming
) -> Ran:
    problem = sandbox_problem()
    if problem is None:
        return await run_sandboxed(command, shown, folder, options.limits, timeout, streaming.hear)
    if not options.unsandboxed:
        raise no_sandbox(problem)
    return await run_bare(command, folder, options.limits, timeout, streaming.hear)


def judged(workspace: Workspace, args: Any) -> Judged:
    """The danger of a call, with the part of the command that decides."""
    said = [judge_in(workspace, args.command, args.cwd)]
    if args.network:
        said.append(dangerous("it asks for the network"))
    strict = strictest(said)
    return Judged(strict.danger, strict.sentence())


def judge_in(workspace: Workspace, command: str, cwd: str) -> Judgement:
    """The judgement of a command in a folder of this workspace, on this machine."""
    said = [judge(command, lambda folder: is_ours(workspace, str(Path(cwd) / folder)))]
    said.append(judge_folder(workspace, cwd))
    if speaks_of_git(command):
        said.append(judge_settings(workspace.root))
    if sandbox_problem() is not None:
        said.append(moderate("there is no sandbox that keeps it in"))
    return strictest(said)


def _check(command: str) -> None:
    """What no program can be given."""
    if "\0" in command:
        raise ToolError(
            "The command has a NUL in it, which no program can be given. Write `\\0` in a printf instead.",
            code="INVALID_COMMAND",
        )
    if len(command.encode()) > _MOST_BYTES:
        raise ToolError(
            f"The command is longer than {_MOST_BYTES:,} bytes: write a file with write_file and run it.",
            code="INVALID_COMMAND",
        )


def _folder(workspace: Workspace, cwd: str) -> Path:
    path = workspace.relative(cwd)
    folder = workspace.root / path
    if not folder.is_dir():
        raise ToolError(f"{cwd} is no folder of the workspace.", code="NOT_A_FOLDER")
    return folder
