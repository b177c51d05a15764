"""plain: any value as JSON data that every reader can take, whatever a tool handed over. Never raises."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from decimal import Decimal
from itertools import repeat
from typing import Any

from pydantic_core import to_jsonable_python

from handrail.core.define.jsonvalue import MAX_DEPTH, TOO_LARGE, TOO_SMALL

TOO_DEEP = f"(nested more than {MAX_DEPTH} levels deep)"


def plain(value: Any, depth: int = 0) -> Any:
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
        return TOO_DEEP
    if isinstance(value, Mapping):
        return _object(value, depth)
    if isinstance(value, (list, tuple, Set)):
        return [*map(plain, value, repeat(depth + 1))]
    return _foreign(value, depth)


def _finite(number: float) -> float | str:
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _object(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    copied: dict[str, Any] = {}
    for key, part in value.items():
        name = str.__str__(key) if isinstance(key, str) else str(plain(key, MAX_DEPTH))
        while name in copied:
            name += "′"
        copied[name] = plain(part, depth + 1)
    return copied


def _foreign(value: Any, depth: int) -> Any:
    """What is no JSON value: a model, a date, bytes, an object of anybody's."""
    try:
        told = to_jsonable_python(value, inf_nan_mode="constants", fallback=repr)
    except Exception:  # an object of a tool's own may fail in any way when it is read
        return f"({type(value).__name__})"
    if type(told) is type(value):
        return f"({type(value).__name__})"
    return plain(told, depth + 1)
