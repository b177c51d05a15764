"""Logs of a server: a line of JSON each for programs, a short line for a person at the terminal."""

from __future__ import annotations

import json
import logging
import time
from typing import TextIO

from handrail.doors.entrance import request_id


class _Lines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        told = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{record.msecs:03.0f}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        told |= record.__dict__.get("told") or {"request": request_id.get()}
        if record.exc_info:
            told["error"] = self.formatException(record.exc_info)
        return json.dumps(told, default=str)


class _Short(logging.Formatter):
    """What a person wants to see pass by."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s", "%H:%M:%S")


def log_to(stream: TextIO) -> None:
    """Write what Handrail and the server log to a stream: JSON unless a person reads it."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_Short() if stream.isatty() else _Lines())
    for name, level in (("handrail", logging.INFO), ("uvicorn", logging.WARNING), ("mcp", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False
