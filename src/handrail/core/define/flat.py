"""Flat arguments: the short way for tools that take only text, whole numbers, booleans and null."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

_FLAT = frozenset({str, int, bool, type(None)})


def flat_validator(model: type[BaseModel]) -> Callable[[Any], Any] | None:
    """The bare validator of a model with flat fields only, or None.

    What passes it is flat JSON, so nobody need take a deep copy first. It raises pydantic's own error.
    """
    if not all(_is_flat(field.annotation) for field in model.model_fields.values()):
        return None
    validate_python = model.__pydantic_validator__.validate_python
    return lambda args: validate_python(args, strict=True)


def _is_flat(annotation: Any) -> bool:
    if get_origin(annotation) in (Union, types.UnionType):
        return all(map(_is_flat, get_args(annotation)))
    return annotation in _FLAT
