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
from handrail.doors.cli.exits import Exit, Stop
from handrail.doors.visible import exact, visible

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


class Side:
    """One of the two streams."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.for_people = stream.isatty()
        self.streamed = ""
        """What a body said here while it ran; the start of it, if that is much."""

    @cached_property
    def console(self) -> Console:
        """The terminal, for what is laid out. Loaded on first use: a pipe needs none of it."""
        from rich.console import Console

        people = self.for_people
        return Console(file=self.stream, force_terminal=people, markup=False, highlight=False, emoji=False)

    @property
    def width(self) -> int:
        return self.console.width

    def draw(self, what: RenderableType) -> None:
        """Something laid out; its texts must be `visible` already."""
        self.console.print(what)

    def say(self, text: str = "", style: str = "") -> None:
        """A sentence, or several lines; broken between words where the screen ends."""
        if self.for_people:
            from rich.text import Text

            self.console.print(Text(visible(text), style))
        else:
            self.line(text)

    def line(self, text: str, style: str = "") -> None:
        """Text of which no space may be lost; a terminal breaks it wherever it ends."""
        if style and self.for_people:
            from rich.text import Text

            self.console.print(Text(visible(text), style), soft_wrap=True)
        else:
            self.stream.write(visible(text) + "\n")

    def json(self, value: object) -> None:
        """One JSON document."""
        self.stream.write(exact(value, indent=2 if self.for_people else None) + "\n")

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
        self.out = Side(out)
        self.err = Side(err)

    @property
    def is_one(self) -> bool:
        """Whether both lead to the same place, so that whoever reads one reads the other."""
        try:
            return os.path.sameopenfile(self.out.stream.fileno(), self.err.stream.fileno())
        except (OSError, ValueError):
            return False

    def complain(self, stop: Stop) -> None:
        """Say what is wrong and what to do."""
        self.err.say(f"error: {stop.problem}", "red")
        if stop.remedy:
            self.err.say(f"  {stop.remedy}")


@contextmanager
def screen(debug: bool = False) -> Iterator[Screen]:
    """The screen of one command. What goes wrong inside is told there and becomes an exit code."""
    here = Screen(_kept_output(), sys.stderr or _nowhere())
    _log_to(here.err, debug)
    try:
        with _flushed(here.out):
            yield here
    except BrokenPipeError:
        here.out.mute()
        here.err.mute()
        raise typer.Exit(Exit.UNREAD) from None
    except OSError as error:
        if debug:
            here.err.line(traceback.format_exc())
        here.out.mute()
        here.complain(Stop(f"it cannot be written or read: {error}", "look at the disk and the folder"))
        raise typer.Exit(Exit.FAILED) from None
    except KeyboardInterrupt:
        here.err.say("Cancelled.")
        raise typer.Exit(Exit.CANCELLED) from None
    except (Stop, HandrailError) as error:
        if debug:
            here.err.line(traceback.format_exc())
        stop = error if isinstance(error, Stop) else Stop.of(error)
        here.complain(stop)
        raise typer.Exit(stop.code) from None
    except Exception as error:
        trouble = database_trouble(error)
        if trouble is None:
            raise
        if debug:
            here.err.line(traceback.format_exc())
        here.complain(trouble)
        raise typer.Exit(trouble.code) from None


@contextmanager
def _flushed(out: Side) -> Iterator[None]:
    """Whatever a command says is out when it ends, whatever its exit code."""
    try:
        yield
    except typer.Exit:
        out.flush()
        raise
    out.flush()


def database_trouble(error: Exception) -> Stop | None:
    """What a database says is wrong, if it is one that says it; its library is loaded then."""
    known = sys.modules.get("sqlalchemy.exc")
    if known is None or not isinstance(error, known.DBAPIError):
        return None
    said = " ".join(str(error.orig).split())
    return Stop(f"the database says: {said}", "look at its address and at who it lets in", Exit.FAILED)


def _kept_output() -> TextIO:
    """Standard output for the answer alone; what anybody else writes there goes to standard error."""
    if sys.stdout is None:
        return _nowhere()
    kept = os.dup(sys.stdout.fileno())
    encoding = sys.stdout.encoding
    if sys.stderr is not None:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return os.fdopen(kept, "w", encoding=encoding, errors="backslashreplace")


def _nowhere() -> TextIO:
    """For a stream that was closed from the start."""
    return open(os.devnull, "w", encoding="utf-8")


class _OneLine(logging.Formatter):
    """What happened, without the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        said = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            said += f" ({type(record.exc_info[1]).__name__}: {record.exc_info[1]})"
        return said


class _ToSide(logging.Handler):
    def __init__(self, side: Side) -> None:
        super().__init__()
        self._side = side

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError, ValueError):
            self._side.say(self.format(record), "dim")


def _log_to(side: Side, debug: bool) -> None:
    """What the library logs: warnings in a line each, and with `--debug` everything with its traceback."""
    log = logging.getLogger("handrail")
    handler = _ToSide(side)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s") if debug else _OneLine("%(message)s"))
    log.handlers[:] = [handler]
    log.propagate = False
    log.setLevel(logging.DEBUG if debug else logging.WARNING)
