"""forbid: nothing that stands in the engine's tables is ever unpickled.

The engine unpickles every row that is marked so, whatever serializer it was given. A row is only text that
somebody wrote; unpickling it would run what that somebody wants.
"""

from __future__ import annotations

from typing import Any, NoReturn

from dbos import _serialization as engine


class Unpickling(Exception):
    """A row of the engine holds a pickled object, which Handrail never writes. It was not read."""


def _refuse(*given: Any) -> NoReturn:
    raise Unpickling(Unpickling.__doc__)


def forbid() -> None:
    """From here on the engine can neither read nor write a pickle in this process."""
    for name in ("serialize", "deserialize"):
        setattr(engine.DefaultSerializer, name, _refuse)
    vars(engine)["pickle"] = _Refusing()


class _Refusing:
    """Stands where the engine's module has `pickle`."""

    loads = dumps = load = dump = staticmethod(_refuse)
