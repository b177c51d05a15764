"""Process: a program in a group of its own, which ends with its output, its time, or the call."""

from __future__ import annotations

import os
import resource
import selectors
import signal as signals
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple, cast

from handrail import ToolError
from handrail.ext.tools import Signal

SECONDS = 30.0
_MEMORY = 4 * 1024**3
_CHUNK = 1_048_576
_MAX_ERRORS = 4_194_304
_MAX_COLLECTED = 256 * 1_048_576


class OutputBuffer:
    """The output of a program as a whole: names and counts."""

    def __init__(self, most: int = _MAX_COLLECTED) -> None:
        self._most = most
        self.output = bytearray()

    def take(self, piece: bytes) -> None:
        self.output += piece
        if len(self.output) > self._most:
            raise ToolError("There are too many files to look at. Name a folder in `path`.", code="TOO_LARGE")


class ProcessResult(NamedTuple):
    """What a program did."""

    code: int
    errors: bytes


def run(
    command: Sequence[str],
    folder: Path,
    signal: Signal,
    *,
    take: Callable[[bytes], None],
    stdin: bytes = b"",
    keep_open: Sequence[int] = (),
    seconds: float = SECONDS,
) -> ProcessResult:
    """Run a program and hand on its output, piece by piece, as it comes."""
    signal.throw_if_aborted()
    with tempfile.TemporaryFile() as input_file, tempfile.TemporaryFile() as errors:
        input_file.write(stdin)
        input_file.seek(0)
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=input_file,
            stdout=subprocess.PIPE,
            stderr=errors,
            pass_fds=tuple(keep_open),
            start_new_session=True,
            env=_environment(),
        )
        output = cast(IO[bytes], process.stdout)
        _limit_memory(process)
        unsubscribe = signal.on_abort(lambda: _kill(process))
        try:
            _read_output(output.fileno(), take, time.monotonic() + seconds)
            code = process.wait()
        except BaseException:
            _kill(process)
            process.wait()
            raise
        finally:
            unsubscribe()
            output.close()
        signal.throw_if_aborted()
        errors.seek(0)
        return ProcessResult(code, errors.read(_MAX_ERRORS))


def _environment() -> dict[str, str]:
    """No settings of whoever started us: they would change what is found."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"}


def _limit_memory(process: subprocess.Popen[bytes]) -> None:
    """A file of one endless line must not take the memory of the machine."""
    if sys.platform == "linux":
        with suppress(OSError):
            resource.prlimit(process.pid, resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def _read_output(fd: int, take: Callable[[bytes], None], deadline: float) -> None:
    with selectors.DefaultSelector() as selector:
        selector.register(fd, selectors.EVENT_READ)
        while True:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not selector.select(remaining):
                raise ToolError(
                    "The search took too long and was stopped. Name a folder in `path`, narrow the files "
                    "with `glob`, or write a simpler pattern: nested repetitions such as (a+)+ are slow.",
                    code="SEARCH_TOO_SLOW",
                )
            piece = os.read(fd, _CHUNK)
            if not piece:
                return
            take(piece)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the program and all that it started. It leads a group of its own until it is waited for."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signals.SIGKILL)
