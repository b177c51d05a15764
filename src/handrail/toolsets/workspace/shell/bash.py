"""bash: a shell command, judged before it runs and boxed while it does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from handrail import Context, Result, Tool, tool
from handrail.ext import Judged, ToolError
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.shell.judgement import SAFE, Judgement, dangerous, moderate, strictest
from handrail.toolsets.workspace.shell.running import Ran, no_network, no_sandbox, run_bare, run_sandboxed
from handrail.toolsets.workspace.shell.safety import ShellOptions, sandbox_problem
from handrail.toolsets.workspace.shell.sandbox import Shown
from handrail.toolsets.workspace.shell.streaming import Streaming
from handrail.toolsets.workspace.shell.telling import ShellOutput, told
from handrail.toolsets.workspace.shell.walking import judge

LONGEST = 600.0
_GRACE = 30.0


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
        origin="system",
        output=ShellOutput,
    )
    async def bash(
        command: Annotated[str, Field(description="What to run, as bash reads it", min_length=1)],
        timeout: Annotated[
            float, Field(description="Seconds after which it is ended", gt=0, le=LONGEST)
        ] = 120.0,
        cwd: Annotated[str, Field(description="The folder to run it in, relative to the root")] = ".",
        network: Annotated[bool, Field(description="Whether it needs the network, which asks")] = False,
        description: Annotated[
            str | None, Field(description="What it is for, in a few words, for whoever approves it")
        ] = None,
        *,
        ctx: Context,
    ) -> Result:
        folder = _folder(workspace, cwd)
        if network and not (options.network and "network" in ctx.capabilities):
            raise no_network()
        changes = not (judge(command).is_safe and _elsewhere(workspace, cwd).is_safe)
        shown = shown_of(workspace, options, network=network, writable=changes)
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
    said = [judge(args.command), _elsewhere(workspace, args.cwd)]
    if args.network:
        said.append(dangerous("it asks for the network"))
    strict = strictest(said)
    return Judged(strict.danger, strict.sentence())


def _elsewhere(workspace: Workspace, cwd: str) -> Judgement:
    """A repository inside of the workspace may be somebody else's, and its settings may name programs."""
    try:
        parts = Path(workspace.relative(cwd)).parts
    except ToolError:
        return SAFE  # the body says what is wrong with it
    for count in range(1, len(parts) + 1):
        if (workspace.root.joinpath(*parts[:count]) / ".git").exists():
            return moderate("this folder has a repository of its own, whose settings may name programs", cwd)
    return SAFE


def _folder(workspace: Workspace, cwd: str) -> Path:
    path = workspace.relative(cwd)
    folder = workspace.root / path
    if not folder.is_dir():
        raise ToolError(f"{cwd} is no folder of the workspace.", code="NOT_A_FOLDER")
    return folder


def shown_of(workspace: Workspace, options: ShellOptions, *, network: bool, writable: bool) -> Shown:
    """What a command of this workspace sees. What was let through as reading can do no more."""
    root, keeping = workspace.root, workspace.keeping
    return Shown(
        root,
        protected=(root / ".git", *(root / name for name in keeping.protected)),
        hidden=(workspace.state, *(root / name for name in keeping.hidden)),
        readable=options.readable,
        network=network,
        writable=writable,
    )
