"""bash: a shell command, classified before it runs and in a sandbox while it does."""

from __future__ import annotations

import asyncio
import codecs
from pathlib import Path
from signal import Signals, strsignal
from typing import Annotated, Any

from pydantic import BaseModel, Field

from handrail import Context, Result, Tool, ToolError, tool
from handrail.ext.guard import RiskAssessment
from handrail.toolsets.workspace.shell.classify import classify, mentions_git
from handrail.toolsets.workspace.shell.git_repositories import (
    classify_folder,
    classify_settings,
    is_own_repository,
)
from handrail.toolsets.workspace.shell.rules import (
    Classification,
    dangerous,
    moderate,
    most_dangerous,
    shorten_part,
)
from handrail.toolsets.workspace.shell.run import (
    CommandResult,
    no_network,
    no_sandbox,
    run_bare,
    run_sandboxed,
)
from handrail.toolsets.workspace.shell.sandbox_policy import ShellOptions, sandbox_problem, sandbox_spec
from handrail.toolsets.workspace.workspace import Workspace

MAX_STREAMED = 100_000
"""Characters that are streamed; the result has more."""
_PAUSE = 0.1
_MAX_PIECE = 8_000


class LiveOutput:
    """Collects what arrives and hands it on a few times a second."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._waiting = ""
        self._sent = 0
        self._timer: asyncio.TimerHandle | None = None

    def on_output(self, data: bytes) -> None:
        if self._sent + len(self._waiting) >= MAX_STREAMED:
            return
        self._waiting += self._decoder.decode(data)
        if len(self._waiting) >= _MAX_PIECE:
            self._send()
        elif self._timer is None and self._waiting:
            self._timer = asyncio.get_running_loop().call_later(_PAUSE, self._send)

    def close(self) -> None:
        if self._sent < MAX_STREAMED:
            self._waiting += self._decoder.decode(b"", True)
        self._send()

    def _send(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        piece = self._waiting[: MAX_STREAMED - self._sent]
        cut = len(self._waiting) > len(piece)
        self._waiting = ""
        if not piece:
            return
        self._sent += len(piece)
        ending = "\n[no more is shown while it runs]\n" if cut or self._sent >= MAX_STREAMED else ""
        self._ctx.append_output(piece + ending)


_MAX_IN_DATA = 20_000
"""Characters of a stream in the data; the output has more."""

_LIMIT_MESSAGES = {
    "output": "it printed too much. Print less, or send it to a file and read a part of that",
    "processes": "it started too many processes",
    "memory": "it used too much memory",
}

_BY_SIGNAL = 128
"""What a shell adds to the number of the signal that ended a command."""
_SIGNAL_MEANINGS = {
    Signals.SIGXFSZ: "a file grew beyond its limit",
    Signals.SIGXCPU: "it took more time than its limit",
}


class ShellOutput(BaseModel):
    """What a command printed, and how it ended."""

    exit_code: int | None = Field(description="0 when it went well; none when it was ended")
    stdout: str
    stderr: str
    duration_seconds: float
    truncated: bool = Field(description="Whether a part of stdout or stderr is missing here")


def shell_result(command: str, result: CommandResult, timeout: float) -> Result:
    """The result. A command that ran and failed is no failure of the tool: its exit code is said first."""
    out, err = result.stdout.text(), result.stderr.text()
    text = out if not err else f"{_with_newline(out)}[stderr]\n{err}"
    took = round(result.seconds, 3)
    name = shorten_part(command)
    if result.ended == "exited":
        bad = f"[exit code {_meaning(result.exit_code)}]\n" if result.exit_code else ""
        how = f"ended with exit code {result.exit_code} after" if result.exit_code else "ran in"
        return Result(
            data=ShellOutput(
                exit_code=result.exit_code,
                stdout=_first_characters(out),
                stderr=_first_characters(err),
                duration_seconds=took,
                truncated=_is_truncated(result, out, err),
            ),
            summary=f"`{name}` {how} {took:g} s",
            output=f"{bad}{text}" or "[no output]",
        )
    if result.ended == "timeout":
        code, why = "TIMEOUT", f"it did not end within {timeout:g} s. Give it more time, or do less at once"
    else:
        code, why = "LIMIT_REACHED", _LIMIT_MESSAGES[result.ended]
    return Result.fail(
        f"The command was ended with all its processes: {why}.",
        code=code,
        summary=f"`{name}` was ended after {took:g} s",
        output=text or "[no output]",
        data={"exit_code": None, "duration_seconds": took, "truncated": _is_truncated(result, out, err)},
    )


def _meaning(code: int) -> str:
    """An exit code, with the signal that ended the command where the shell says so by it."""
    try:
        ended_by = Signals(code - _BY_SIGNAL)
    except ValueError:
        return str(code)
    meaning = _SIGNAL_MEANINGS.get(ended_by) or (strsignal(ended_by) or "a signal").lower()
    return f"{code}: {ended_by.name}, {meaning}"


def _with_newline(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _first_characters(text: str) -> str:
    if len(text) <= _MAX_IN_DATA:
        return text
    return (
        f"{text[:_MAX_IN_DATA]}\n[{len(text) - _MAX_IN_DATA:,} characters left out here; the output has them]"
    )


def _is_truncated(result: CommandResult, out: str, err: str) -> bool:
    return bool(result.stdout.missing or result.stderr.missing) or max(len(out), len(err)) > _MAX_IN_DATA


MAX_TIMEOUT = 600.0
_GRACE = 30.0

_MAX_BYTES = 100_000
"""Of a command; the kernel takes no argument of more than 128 KB."""


def bash(workspace: Workspace, options: ShellOptions) -> Tool:
    @tool(
        "bash",
        level="destructive",
        danger=lambda args: danger_of(workspace, args),
        capabilities=["execute"],
        optional_capabilities=["network"],
        aliases={"shell_exec": {"cmd": "command"}},
        param_aliases={"command": ("cmd", "script"), "cwd": ("workdir", "directory")},
        concurrency="sequential",
        timeout=MAX_TIMEOUT + _GRACE,
        category="workspace",
        icon="terminal",
        form={"command": {"widget": "textarea", "rows": 3, "class": "form-code"}, "cwd": {"label": "Folder"}},
        origin="system",
        output=ShellOutput,
    )
    async def bash(
        command: Annotated[str, Field(description="What to run, as bash reads it", min_length=1)],
        timeout: Annotated[
            float, Field(description="Seconds after which it is ended", gt=0, le=MAX_TIMEOUT)
        ] = 120,
        cwd: Annotated[str, Field(description="The folder to run it in, relative to the root")] = ".",
        network: Annotated[bool, Field(description="Whether it needs the network, which asks")] = False,
        description: Annotated[
            str | None, Field(description="What it is for, in a few words, for whoever approves it")
        ] = None,
        *,
        ctx: Context,
    ) -> Result:
        _check_command(command)
        folder = _folder(workspace, cwd)
        if network and not (options.network and "network" in ctx.capabilities):
            raise no_network()
        changes = not classify_in(workspace, command, cwd).is_safe
        spec = await asyncio.to_thread(sandbox_spec, workspace, options, network=network, writable=changes)
        streaming, limits = LiveOutput(ctx), options.limits
        try:
            if (problem := sandbox_problem()) is None:
                result = await run_sandboxed(command, spec, folder, limits, timeout, streaming.on_output)
            elif options.unsandboxed:
                result = await run_bare(command, folder, limits, timeout, streaming.on_output)
            else:
                raise no_sandbox(problem)
        finally:
            streaming.close()
            if changes:
                workspace.notify_changed(None)
        return shell_result(command, result, timeout)

    return bash


def danger_of(workspace: Workspace, args: Any) -> RiskAssessment:
    """The danger of a call, with the part of the command that decides."""
    judgements = [classify_in(workspace, args.command, args.cwd)]
    if args.network:
        judgements.append(dangerous("it asks for the network"))
    strict = most_dangerous(judgements)
    return RiskAssessment(strict.danger, strict.sentence())


def classify_in(workspace: Workspace, command: str, cwd: str) -> Classification:
    """The judgement of a command in a folder of this workspace, on this machine."""
    judgements = [classify(command, lambda folder: is_own_repository(workspace, str(Path(cwd) / folder)))]
    judgements.append(classify_folder(workspace, cwd))
    if mentions_git(command):
        judgements.append(classify_settings(workspace.root))
    if sandbox_problem() is not None:
        judgements.append(moderate("there is no sandbox that keeps it in"))
    return most_dangerous(judgements)


def _check_command(command: str) -> None:
    """What no program can be given."""
    if "\0" in command:
        raise ToolError(
            "The command has a NUL in it, which no program can be given. Write `\\0` in a printf instead.",
            code="INVALID_COMMAND",
        )
    if len(command.encode()) > _MAX_BYTES:
        raise ToolError(
            f"The command is longer than {_MAX_BYTES:,} bytes: write a file with write_file and run it.",
            code="INVALID_COMMAND",
        )


def _folder(workspace: Workspace, cwd: str) -> Path:
    folder = workspace.root / workspace.relative(cwd)
    if not folder.is_dir():
        raise ToolError(f"{cwd} is no folder of the workspace.", code="NOT_A_FOLDER")
    return folder
