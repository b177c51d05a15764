"""Output checking: what a body returns against the type it promised."""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Mapping
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from handrail.core.define.call import FieldError
from handrail.core.define.schema import JsonSchema, canonical_json
from handrail.core.define.validation import InvalidValue, Validator

_DIGITS = 320
"""Half of the least number of digits to which Python can be told to limit integers."""
_ALREADY_JSON: frozenset[type] = frozenset({int, bool, type(None)})


def output_checker(adapter: TypeAdapter[Any], declared: Any, schema: JsonSchema) -> Validator:
    """A function from a returned value to JSON data of the declared type; it may raise `InvalidValue`."""
    dump = _dumper(adapter, declared)
    if b'"number"' in canonical_json(schema):
        dump = _finite(dump)

    def check(value: Any, /) -> Any:
        try:
            return dump(value)
        except ValidationError as error:
            details = error.errors(include_url=False, include_input=False)
            raise InvalidValue(
                [FieldError(".".join(map(str, detail["loc"])), detail["msg"]) for detail in details]
            ) from None
        except PydanticSerializationError as error:
            raise InvalidValue([FieldError("", str(error))]) from None

    return check


def data_checker(validate: Validator) -> Validator:
    """The same for an output described by a JSON Schema: the value as JSON data, checked and unchanged."""

    def check(value: Any, /) -> Any:
        try:
            data = to_jsonable_python(value, by_alias=True)
            check_json_writable(data)
        except (PydanticSerializationError, RecursionError, ValueError) as error:
            raise InvalidValue([FieldError("", f"cannot be written as JSON: {error}")]) from None
        validate(data)
        return data

    return check


def plain_outputs(declared: Any) -> frozenset[type]:
    """Classes whose instances are valid JSON data for the declared type as they are; text has its own way."""
    if declared is None:
        return _ALREADY_JSON
    if isinstance(declared, Mapping):
        return frozenset()
    kinds = get_args(declared) if get_origin(declared) in (Union, types.UnionType) else (declared,)
    return frozenset(kind for kind in kinds if isinstance(kind, type) and kind in _ALREADY_JSON)


def takes_any_object(declared: Any) -> bool:
    """Whether every object that is JSON fits the declared type, or no type is declared."""
    return declared is None or declared is dict or declared == dict[str, Any]


def _finite(dump: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same, but a number that is none is not data: no reader of JSON would take it."""

    def checked(value: Any) -> Any:
        data = dump(value)
        try:
            check_json_writable(data)
        except ValueError as error:
            raise InvalidValue([FieldError("", f"cannot be written as JSON: {error}")]) from None
        return data

    return checked


def check_json_writable(data: Any) -> None:
    """Raise what `json.dumps` raises for data that every reader of JSON would refuse.

    A faster writer, which lets all pass, shows whether there can be anything of the kind.
    """
    try:
        text = to_json(data)
    except PydanticSerializationError:  # half a surrogate pair, or very deep
        json.dumps(data, allow_nan=False)
        return
    if b"NaN" in text or b"Infinity" in text or _may_hold_huge(text):
        json.dumps(data, allow_nan=False)


def _may_hold_huge(text: bytes) -> bool:
    """Whether there may be a number too long for Python to write: of that many digits, some fill a block."""
    return len(text) > _DIGITS and any(
        text[at : at + _DIGITS].isdigit() for at in range(0, len(text), _DIGITS)
    )


def _dumper(adapter: TypeAdapter[Any], declared: Any) -> Callable[[Any], Any]:
    validate = adapter.validator.validate_python
    dump = adapter.serializer.to_python
    trusted = declared if isinstance(declared, type) and issubclass(declared, BaseModel) else None

    def checked(value: Any) -> Any:
        if value.__class__ is not trusted:
            value = validate(value)
        return dump(value, mode="json", by_alias=True)

    return checked
