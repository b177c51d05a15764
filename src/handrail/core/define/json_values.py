"""JSON values: a private copy of a caller's arguments, and any value made into JSON data."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Set
from decimal import Decimal
from itertools import repeat
from typing import Any

from pydantic_core import to_jsonable_python

MAX_DEPTH = 200

TOO_LARGE = int(sys.float_info.max) + 1
"""Beyond every float: readers of JSON do not agree on such a number, and printing it can fail."""
TOO_SMALL = -TOO_LARGE
_COPY_FREE = frozenset({bool, type(None)})


class NotJson(ValueError):
    """The value is not JSON."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason


def copy_object(mapping: Mapping[Any, Any]) -> dict[str, Any]:
    """A private copy of a JSON object; nobody's later change reaches it."""
    try:
        copied = dict(mapping)
        if is_flat_object(copied):
            return copied
        return {(name := _key(key, "")): copy_value(value, name, 1) for key, value in copied.items()}
    except NotJson:
        raise
    except Exception as error:  # an object of the caller's own does not let itself be read
        raise NotJson("", f"the arguments cannot be read ({type(error).__name__})") from error


def is_flat_object(value: dict[Any, Any]) -> bool:
    """Whether a dict is JSON as it stands and holds nothing that is nested."""
    for key in value:
        if key.__class__ is not str or not (key.isascii() or _is_text(key)):
            return False
    return are_json_scalars(value.values())


def are_json_scalars(values: Iterable[Any]) -> bool:
    """Whether each value is a scalar that JSON can carry as it stands."""
    for value in values:
        kind = value.__class__
        if kind is str:
            if not (value.isascii() or _is_text(value)):
                return False
        elif kind is int:
            if not TOO_SMALL < value < TOO_LARGE:
                return False
        elif kind is float:
            if not math.isfinite(value):
                return False
        elif kind not in _COPY_FREE:
            return False
    return True


def is_too_deep(value: Any) -> bool:
    """Whether a value is nested further than arguments may be."""
    level = [value] if isinstance(value, (Mapping, list, tuple)) else []
    for _ in range(MAX_DEPTH + 1):
        if not level:
            return False
        inside = (value.values() if isinstance(value, Mapping) else value for value in level)
        level = [part for parts in inside for part in parts if isinstance(part, (Mapping, list, tuple))]
    return True


def private_copy(raw: Any) -> Any:
    """Arguments that nobody else can change any more."""
    return copy_object(raw) if isinstance(raw, Mapping) else raw


def copy_value(value: Any, path: str = "", depth: int = 0) -> Any:
    """A private copy of a JSON value."""
    kind = value.__class__
    if kind in _COPY_FREE:
        return value
    if kind is str:
        return _text(value, path)
    if kind is int:
        if TOO_SMALL < value < TOO_LARGE:
            return value
        raise NotJson(path, "is too large a number; send it as text")
    if kind is float:
        if math.isfinite(value):
            return value
        raise NotJson(path, f"{value} is not a JSON number; leave it out or send null")
    if depth > MAX_DEPTH:
        raise NotJson(path[:80], f"is nested more than {MAX_DEPTH} levels deep; send a flatter value")
    if isinstance(value, Mapping):
        return {
            (name := _key(key, path)): copy_value(part, f"{path}.{name}", depth + 1)
            for key, part in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [copy_value(item, f"{path}.{index}", depth + 1) for index, item in enumerate(value)]
    if isinstance(value, str):
        return _text(value, path)
    if isinstance(value, (int, float)):
        return copy_value(int(value) if isinstance(value, int) else float(value), path, depth)
    raise NotJson(path, f"a {kind.__name__} is not a JSON value; send text, a number, a list or an object")


def _key(key: Any, path: str) -> str:
    if isinstance(key, str):
        return _text(key, path)
    raise NotJson(path, f"names must be text, got {type(key).__name__}")


def _text(value: str, path: str) -> str:
    """The text itself, also of an enumeration member, whose own `str` would be its name."""
    text = str.__str__(value)
    if text.isascii() or _is_text(text):
        return text
    raise NotJson(path, "holds half of a surrogate pair, which is not text; send whole characters")


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


TOO_DEEP_TEXT = f"(nested more than {MAX_DEPTH} levels deep)"


def jsonable(value: Any, depth: int = 0) -> Any:
    """A copy in objects, lists, texts, numbers, booleans and null; numbers that JSON has not become text."""
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        number = int(value)
        return number if TOO_SMALL < number < TOO_LARGE else str(Decimal(number))
    if isinstance(value, float):
        return _finite(float(value))
    if depth > MAX_DEPTH:
        return TOO_DEEP_TEXT
    if isinstance(value, Mapping):
        return _object(value, depth)
    if isinstance(value, (list, tuple, Set)):
        return [*map(jsonable, value, repeat(depth + 1))]
    return _foreign(value, depth)


def _finite(number: float) -> float | str:
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _object(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    copied: dict[str, Any] = {}
    for key, part in value.items():
        name = str.__str__(key) if isinstance(key, str) else str(jsonable(key, MAX_DEPTH))
        while name in copied:
            name += "′"
        copied[name] = jsonable(part, depth + 1)
    return copied


def _foreign(value: Any, depth: int) -> Any:
    """What is no JSON value: a model, a date, bytes, an object of anybody's."""
    try:
        converted = to_jsonable_python(value, inf_nan_mode="constants", fallback=repr)
    except Exception:  # an object of a tool's own may fail in any way when it is read
        return f"({type(value).__name__})"
    if type(converted) is type(value):
        return f"({type(value).__name__})"
    return jsonable(converted, depth + 1)
