"""How DBOS is held in check: it never unpickles a row, and writes to no screen."""

from __future__ import annotations

import logging
from typing import Any, NoReturn

from dbos import _serialization as engine


class PickleRefused(Exception):
    """A row of the engine holds a pickled object, which Handrail never writes. It was not read."""


def _refuse(*args: Any) -> NoReturn:
    raise PickleRefused(PickleRefused.__doc__)


def forbid_pickle() -> None:
    """From here on the engine can neither read nor write a pickle in this process."""
    for name in ("serialize", "deserialize"):
        setattr(engine.DefaultSerializer, name, _refuse)
    vars(engine)["pickle"] = _NoPickle()


class _NoPickle:
    """Replaces `pickle` in the engine's module."""

    loads = dumps = load = dump = staticmethod(_refuse)


def silence_dbos_log() -> None:
    """Take away the engine's own handler, which would keep hold of a stream that others close."""
    log = logging.getLogger("dbos")
    log.setLevel(logging.ERROR)
    log.propagate = True
    for handler in list(log.handlers):
        if not isinstance(handler, logging.NullHandler):
            log.removeHandler(handler)
    if not log.handlers:
        log.addHandler(logging.NullHandler())
