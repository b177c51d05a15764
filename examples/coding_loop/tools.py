"""What the agent can do in the project's folder, which is in `ctx.extra`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from pydantic import BaseModel

from examples.coding_loop.project import EVERYTHING, inside, key
from handrail import Context, Result, ToolError, tool


@tool("file_list", level="read", reads=lambda args: EVERYTHING)
def file_list(suffix: str = "", *, ctx: Context) -> list[str] | Result:
    """List the files of the project by their names.

    Args:
        suffix: Only names that end in this, such as .py.
    """
    folder: Path = ctx.extra["folder"]
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(suffix))
    return Result(data=names, summary=f"{len(names)} files")


@tool("file_read", level="read", reads=key)
def file_read(path: str, *, ctx: Context) -> str | Result:
    """Read one file of the project from its beginning to its end.

    Args:
        path: The file, relative to the project.
    """
    text = inside(ctx.extra["folder"], path).read_text(encoding="utf-8")
    return Result(data=text, output=text, summary=f"{path} has {len(text.splitlines())} lines")


@tool("file_edit", level="write", writes=key)
def file_edit(path: str, old: str, new: str, *, ctx: Context) -> str | Result:
    """Replace a piece of text in one file of the project, where it stands exactly once.

    Use it for a change that you can name. Not to create files. Call file_read first.

    Args:
        path: The file, relative to the project.
        old: The text that is there.
        new: The text to put in its place.
    """
    file = inside(ctx.extra["folder"], path)
    text = file.read_text(encoding="utf-8")
    if (count := text.count(old)) != 1:
        problem = f"The old text stands {count} times in {path}. Give a piece that stands there once."
        raise ToolError(problem, code="NOT_ONCE")
    file.write_text(text.replace(old, new), encoding="utf-8")
    return Result(data=f"{path} is changed.", summary=f"{path} is changed")


class Tested(BaseModel):
    passed: bool
    report: str


@tool("tests_run", level="read", concurrency="sequential", timeout=60)
async def run_tests(verbose: bool = False, *, ctx: Context) -> Tested | Result:
    """Run the tests of the project in a process of their own.

    Args:
        verbose: Name every test, not only those that fail.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-B", "-m", "unittest", "--verbose" if verbose else "--quiet"),
        cwd=ctx.extra["folder"],
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        said, _ = await process.communicate()
    finally:
        if process.returncode is None:  # the call was cancelled or is out of time
            process.kill()
            await process.wait()
    report = said.decode(errors="replace")
    passed = process.returncode == 0
    why = [line for line in report.splitlines() if "Error: " in line]
    summary = "they pass" if passed else " ".join(["they fail:", *why])
    return Result(data=Tested(passed=passed, report=report), summary=summary)
