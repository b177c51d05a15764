"""Log output of a server: a line of JSON each for programs, a short line for a person at the terminal."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from functools import lru_cache
from typing import Any, TextIO

from pydantic_core import PydanticSerializationError, to_json

from handrail.platform.middleware import request_id

_FLUSH_AFTER = 0.1
"""Seconds for which a line may wait for others, to be written with them."""
_MAX_LINES = 500


class _JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "at": f"{_second(int(record.created))}.{record.msecs:03.0f}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        fields |= record.__dict__.get("fields") or {"request": request_id.get()}
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        return _as_text(fields)


@lru_cache(maxsize=8)
def _second(at: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))


def _as_text(fields: dict[str, Any]) -> str:
    try:
        return to_json(fields, ensure_ascii=True, fallback=str).decode()
    except (PydanticSerializationError, ValueError):  # half of a surrogate pair
        return json.dumps(fields, default=str)


class _TerminalFormatter(logging.Formatter):
    """What a person wants to see pass by."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s", "%H:%M:%S")


class BufferedHandler(logging.StreamHandler[TextIO]):
    """Writes lines together that come within a moment.

    Writing each by itself lets go of the interpreter's lock, and a server that is busy waits longer to get it
    back than it works on a quick call. What is worse than information is written at once.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._lines: list[str] = []
        self._flushing: asyncio.AbstractEventLoop | None = None
        """The loop that will write what is gathered."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._lines.append(self.format(record) + self.terminator)
        except Exception:
            self.handleError(record)
        if record.levelno > logging.INFO or len(self._lines) >= _MAX_LINES or not self._will_flush():
            self.flush()

    def _will_flush(self) -> bool:
        """See to it that what is gathered is written soon; False where no loop runs."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return False
        if self._flushing is not loop:
            self._flushing = loop
            loop.call_later(_FLUSH_AFTER, self._flush_later)
        return True

    def _flush_later(self) -> None:
        self._flushing = None
        self.flush()

    def flush(self) -> None:
        self.acquire()
        try:
            lines, self._lines = self._lines, []
            if lines and not self.stream.closed:
                self.stream.write("".join(lines))
                self.stream.flush()
        finally:
            self.release()


def log_to(stream: TextIO) -> None:
    """Write what Handrail and the server log to a stream: JSON unless a person reads it."""
    handler = BufferedHandler(stream)
    handler.setFormatter(_TerminalFormatter() if stream.isatty() else _JsonFormatter())
    for name, level in (("handrail", logging.INFO), ("uvicorn", logging.WARNING), ("mcp", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False
