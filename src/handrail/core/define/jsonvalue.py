"""JSON values: taking a private copy of what a caller handed over, or saying why it is none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 200

_SCALARS = frozenset({str, int, bool, type(None)})


class NotJson(ValueError):
    """The value is not JSON."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason


def copy_object(given: Mapping[Any, Any]) -> dict[str, Any]:
    """A private copy of a JSON object; nobody's later change reaches it."""
    copied: dict[str, Any] = {}
    for key, value in given.items():
        if value.__class__ in _SCALARS and key.__class__ is str:
            copied[key] = value
        else:
            copied[_key(key, "")] = copy_value(value, str(key), 1)
    return copied


def copy_value(value: Any, path: str = "", depth: int = 0) -> Any:
    """A private copy of a JSON value."""
    kind = value.__class__
    if kind in _SCALARS:
        return value
    if kind is float:
        if math.isfinite(value):
            return value
        raise NotJson(path, f"{value} is not a JSON number; leave it out or send null")
    if depth > MAX_DEPTH:
        raise NotJson(path[:80], f"is nested more than {MAX_DEPTH} levels deep; send a flatter value")
    if isinstance(value, Mapping):
        return {_key(k, path): copy_value(v, f"{path}.{k}", depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [copy_value(item, f"{path}.{index}", depth + 1) for index, item in enumerate(value)]
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (int, float)):
        return copy_value(int(value) if isinstance(value, int) else float(value), path, depth)
    raise NotJson(path, f"a {kind.__name__} is not a JSON value; send text, a number, a list or an object")


def _key(key: Any, path: str) -> str:
    if isinstance(key, str):
        return str(key)
    raise NotJson(path, f"names must be text, got {key!r}")
