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
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from handrail.ext import Signal, ToolError

SECONDS = 30.0
_MEMORY = 4 * 1024**3
_PIECE = 1_048_576
_ERRORS = 4_194_304


class Ran(NamedTuple):
    """What a program did."""

    code: int
    output: bytes
    errors: bytes
    whole: bool
    """Whether its output was taken to the end."""


def run(
    command: Sequence[str],
    folder: Path,
    signal: Signal,
    *,
    given: bytes = b"",
    most: int,
    keep_open: Sequence[int] = (),
    seconds: float = SECONDS,
) -> Ran:
    """Run a program and take its output, up to so many bytes."""
    signal.throw_if_aborted()
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complained:
        said.write(given)
        said.seek(0)
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=said,
            stdout=subprocess.PIPE,
            stderr=complained,
            pass_fds=tuple(keep_open),
            start_new_session=True,
            env=_environment(),
        )
        _bound(process)
        heed = signal.on_abort(lambda: _kill(process))
        try:
            output, whole = _take(process, most, time.monotonic() + seconds)
            if not whole:
                _kill(process)
            code = process.wait()
        except BaseException:
            _kill(process)
            process.wait()
            raise
        finally:
            heed()
            if process.stdout is not None:
                process.stdout.close()
        signal.throw_if_aborted()
        complained.seek(0)
        return Ran(code, output, complained.read(_ERRORS), whole)


def _environment() -> dict[str, str]:
    """No settings of whoever started us: they would change what is found."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"}


def _bound(process: subprocess.Popen[bytes]) -> None:
    """A file of one endless line must not take the memory of the machine."""
    if sys.platform == "linux":
        with suppress(OSError):
            resource.prlimit(process.pid, resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def _take(process: subprocess.Popen[bytes], most: int, deadline: float) -> tuple[bytes, bool]:
    assert process.stdout is not None
    taken = bytearray()
    fd = process.stdout.fileno()
    with selectors.DefaultSelector() as selector:
        selector.register(fd, selectors.EVENT_READ)
        while len(taken) <= most:
            left = deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                raise ToolError(
                    "The search took too long and was stopped. Name a folder in `path`, narrow the files "
                    "with `glob`, or write a simpler pattern: nested repetitions such as (a+)+ are slow.",
                    code="SEARCH_TOO_SLOW",
                )
            piece = os.read(fd, _PIECE)
            if not piece:
                return bytes(taken), True
            taken += piece
    return bytes(taken), False


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the program and all that it started. It leads a group of its own until it is waited for."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signals.SIGKILL)
