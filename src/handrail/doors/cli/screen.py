"""Screen: where a command writes. The answer goes to standard output, everything else to standard error.

Standard output is kept for the answer alone: whatever a module or a body prints lands on standard error. At a
terminal the answer is laid out for people, in a pipe it is plain text, and all of it goes through `visible`.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, TextIO

import typer

from handrail.core.errors import HandrailError
from handrail.doors.cli.exit_codes import CommandError, ExitCode
from handrail.platform.display_text import visible, visible_json

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


class OutputStream:
    """One of the two streams."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.is_terminal = stream.isatty()
        self.streamed = ""
        """What a body said here while it ran; the start of it, if that is much."""

    @cached_property
    def console(self) -> Console:
        """The terminal, for what is laid out. Loaded on first use: a pipe needs none of it."""
        from rich.console import Console

        people = self.is_terminal
        return Console(file=self.stream, force_terminal=people, markup=False, highlight=False, emoji=False)

    @property
    def width(self) -> int:
        return self.console.width

    def draw(self, what: RenderableType) -> None:
        """Something laid out; its texts must be `visible` already."""
        self.console.print(what)

    def say(self, text: str = "", style: str = "") -> None:
        """A sentence, or several lines; broken between words where the screen ends."""
        if self.is_terminal:
            from rich.text import Text

            self.console.print(Text(visible(text), style))
        else:
            self.line(text)

    def line(self, text: str, style: str = "") -> None:
        """Text of which no space may be lost; a terminal breaks it wherever it ends."""
        if style and self.is_terminal:
            from rich.text import Text

            self.console.print(Text(visible(text), style), soft_wrap=True)
        else:
            self.stream.write(visible(text) + "\n")

    def json(self, value: object) -> None:
        """One JSON document."""
        self.stream.write(visible_json(value, indent=2 if self.is_terminal else None) + "\n")

    def flush(self) -> None:
        self.stream.flush()

    def mute(self) -> None:
        """Nobody reads this any more: what is still written goes nowhere, quietly."""
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.stream.fileno())
            os.close(nowhere)


class Screen:
    """Both streams of a command."""

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self.out = OutputStream(out)
        self.err = OutputStream(err)

    @property
    def is_same_file(self) -> bool:
        """Whether both lead to the same place, so that whoever reads one reads the other."""
        try:
            return os.path.sameopenfile(self.out.stream.fileno(), self.err.stream.fileno())
        except (OSError, ValueError):
            return False

    def show_error(self, stop: CommandError) -> None:
        """Say what is wrong and what to do."""
        self.err.say(f"error: {stop.problem}", "red")
        if stop.remedy:
            self.err.say(f"  {stop.remedy}")


@contextmanager
def open_screen(debug: bool = False) -> Iterator[Screen]:
    """The screen of one command. What goes wrong inside is told there and becomes an exit code."""
    screen = Screen(_reserved_stdout(), sys.stderr or _null_stream())
    _log_to(screen.err, debug)
    try:
        with _flushed(screen.out):
            yield screen
    except BrokenPipeError:
        screen.out.mute()
        screen.err.mute()
        raise typer.Exit(ExitCode.UNREAD) from None
    except KeyboardInterrupt:
        screen.err.say("Cancelled.")
        raise typer.Exit(ExitCode.CANCELLED) from None
    except Exception as error:
        stop = command_error(error)
        if isinstance(error, OSError):
            screen.out.mute()
            remedy = "look at the disk and the folder"
            stop = CommandError(f"it cannot be written or read: {error}", remedy, ExitCode.FAILED)
        if stop is None:
            raise
        if debug:
            screen.err.line(traceback.format_exc())
        screen.show_error(stop)
        raise typer.Exit(stop.code) from None


@contextmanager
def _flushed(out: OutputStream) -> Iterator[None]:
    """Whatever a command says is out when it ends, whatever its exit code."""
    try:
        yield
    except typer.Exit:
        out.flush()
        raise
    out.flush()


def command_error(error: Exception) -> CommandError | None:
    """What a person is told of an error that they can do something about; None for any other."""
    if isinstance(error, CommandError):
        return error
    if isinstance(error, HandrailError):
        return CommandError.of(error)
    sqlalchemy = sys.modules.get("sqlalchemy.exc")  # loaded already, if it is an error of the database
    if sqlalchemy is None or not isinstance(error, sqlalchemy.DBAPIError):
        return None
    message = " ".join(str(error.orig).split())
    remedy = "look at its address and at who it lets in"
    return CommandError(f"the database says: {message}", remedy, ExitCode.FAILED)


def _reserved_stdout() -> TextIO:
    """Standard output for the answer alone; what anybody else writes there goes to standard error."""
    if sys.stdout is None:
        return _null_stream()
    descriptor = os.dup(sys.stdout.fileno())
    encoding = sys.stdout.encoding
    if sys.stderr is not None:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return os.fdopen(descriptor, "w", encoding=encoding, errors="backslashreplace")


def _null_stream() -> TextIO:
    """For a stream that was closed from the start."""
    return open(os.devnull, "w", encoding="utf-8")


class _OneLine(logging.Formatter):
    """What happened, without the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            message += f" ({type(record.exc_info[1]).__name__}: {record.exc_info[1]})"
        return message


class _ToSide(logging.Handler):
    def __init__(self, side: OutputStream) -> None:
        super().__init__()
        self._side = side

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError, ValueError):
            self._side.say(self.format(record), "dim")


def _log_to(side: OutputStream, debug: bool) -> None:
    """What the library logs: warnings in a line each, and with `--debug` everything with its traceback."""
    log = logging.getLogger("handrail")
    handler = _ToSide(side)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s") if debug else _OneLine("%(message)s"))
    log.handlers[:] = [handler]
    log.propagate = False
    log.setLevel(logging.DEBUG if debug else logging.WARNING)
