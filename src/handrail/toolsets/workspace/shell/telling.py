"""Telling: what a command's end means to a model, to people and to programs."""

from __future__ import annotations

from signal import Signals, strsignal

from pydantic import BaseModel, Field

from handrail import Result
from handrail.toolsets.workspace.shell.judgement import shown
from handrail.toolsets.workspace.shell.running import Ran

_IN_DATA = 20_000
"""Characters of a stream in the data; the output has more."""
_LIMITS = {
    "output": "it printed too much. Print less, or send it to a file and read a part of that",
    "processes": "it started too many processes",
    "memory": "it used too much memory",
}


_BY_SIGNAL = 128
"""What a shell adds to the number of the signal that ended a command."""
_WHY = {Signals.SIGXFSZ: "a file grew beyond its limit", Signals.SIGXCPU: "it took more time than its limit"}


class ShellOutput(BaseModel):
    """What a command printed, and how it ended."""

    exit_code: int | None = Field(description="0 when it went well; none when it was ended")
    stdout: str
    stderr: str
    duration_seconds: float
    truncated: bool = Field(description="Whether a part of stdout or stderr is missing here")


def told(command: str, ran: Ran, timeout: float) -> Result:
    """The result. A command that ran and failed is no failure of the tool: its exit code is said first."""
    out, err = ran.stdout.text(), ran.stderr.text()
    text = out if not err else f"{_line(out)}[stderr]\n{err}"
    took = round(ran.seconds, 3)
    name = shown(command)
    if ran.ended == "exited":
        bad = f"[exit code {_meaning(ran.exit_code)}]\n" if ran.exit_code else ""
        how = f"ended with exit code {ran.exit_code} after" if ran.exit_code else "ran in"
        return Result(
            data=ShellOutput(
                exit_code=ran.exit_code,
                stdout=_start(out),
                stderr=_start(err),
                duration_seconds=took,
                truncated=_is_cut(ran, out, err),
            ),
            summary=f"`{name}` {how} {took:g} s",
            output=f"{bad}{text}" or "[no output]",
        )
    if ran.ended == "timeout":
        code, why = "TIMEOUT", f"it did not end within {timeout:g} s. Give it more time, or do less at once"
    else:
        code, why = "LIMIT_REACHED", _LIMITS[ran.ended]
    return Result.fail(
        f"The command was ended with all its processes: {why}.",
        code=code,
        summary=f"`{name}` was ended after {took:g} s",
        output=text or "[no output]",
        data={"exit_code": None, "duration_seconds": took, "truncated": _is_cut(ran, out, err)},
    )


def _meaning(code: int) -> str:
    """An exit code, with the signal that ended the command where the shell says so by it."""
    try:
        ended_by = Signals(code - _BY_SIGNAL)
    except ValueError:
        return str(code)
    return f"{code}: {ended_by.name}, {_WHY.get(ended_by) or (strsignal(ended_by) or 'a signal').lower()}"


def _line(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _start(text: str) -> str:
    if len(text) <= _IN_DATA:
        return text
    return f"{text[:_IN_DATA]}\n[{len(text) - _IN_DATA:,} characters left out here; the output has them]"


def _is_cut(ran: Ran, out: str, err: str) -> bool:
    return bool(ran.stdout.missing or ran.stderr.missing) or max(len(out), len(err)) > _IN_DATA
