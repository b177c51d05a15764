"""Starting a command: as a bare process, in the sandbox, and through the tool with its judgement."""

import asyncio
import tempfile
from asyncio.subprocess import DEVNULL, PIPE
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from benchmarks.subject_process import main
from benchmarks.timing import Subject
from handrail import Handrail, Principal
from handrail.toolsets.workspace import Workspace
from handrail.toolsets.workspace.shell import CommandLimits, SandboxCheck, ShellOptions, classify, shell_tools
from handrail.toolsets.workspace.shell.run import run_bare, run_sandboxed
from handrail.toolsets.workspace.shell.sandbox import SandboxSpec

SOMEBODY = Principal(tenant="local", user="u1")
COMMAND = "echo hi"
LINE = "git status --short && find . -name '*.py' | xargs grep -n TODO | sort | head -20"


async def subjects() -> Sequence[Subject]:
    folder = Path(tempfile.mkdtemp())
    heard: deque[bytes] = deque(maxlen=1)
    hr = Handrail(shell_tools(Workspace(folder)), safety=[SandboxCheck(ShellOptions())])

    async def bare(number: int) -> object:
        for _ in range(number):
            process = await asyncio.create_subprocess_exec(
                "/bin/bash", "-c", COMMAND, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, cwd=folder
            )
            printed, _ = await process.communicate()
        return printed.decode()

    async def boxed(number: int) -> object:
        for _ in range(number):
            ran = await run_sandboxed(COMMAND, SandboxSpec(folder), folder, CommandLimits(), 60, heard.append)
        return ran.stdout.text()

    async def unboxed(number: int) -> object:
        for _ in range(number):
            ran = await run_bare(COMMAND, folder, CommandLimits(), 60, heard.append)
        return ran.stdout.text()

    async def called(number: int) -> object:
        for _ in range(number):
            outcome = await hr.call("bash", {"command": COMMAND}, principal=SOMEBODY, session="s")
        return outcome.result.output

    async def judged(number: int) -> object:
        for _ in range(number):
            command_class = classify(LINE)
        return command_class.danger

    return (
        Subject("a bare subprocess", bare, lambda text: text == "hi\n"),
        Subject("in the sandbox", boxed, lambda text: text == "hi\n"),
        Subject("without a sandbox, below the keeper", unboxed, lambda text: text == "hi\n"),
        Subject("by the tool", called, lambda text: text == "hi\n"),
        Subject("the judgement of a line with six commands", judged, lambda danger: danger == "safe"),
    )


if __name__ == "__main__":
    main(subjects)
