"""quiet: the engine writes to no screen. What it has to say goes to the loggers of the program."""

from __future__ import annotations

import logging


def hush() -> None:
    """Take away the engine's own handler, which would keep hold of a stream that others close."""
    log = logging.getLogger("dbos")
    log.setLevel(logging.ERROR)
    log.propagate = True
    for handler in list(log.handlers):
        if not isinstance(handler, logging.NullHandler):
            log.removeHandler(handler)
    if not log.handlers:
        log.addHandler(logging.NullHandler())
