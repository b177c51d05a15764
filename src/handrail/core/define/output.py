"""Output checking: what a body returns against the type it promised."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from handrail.core.define.call import FieldError
from handrail.core.define.validation import Invalid, Validator

_SELF_DUMPING = frozenset({str, int, bool, type(None)})


def output_checker(adapter: TypeAdapter[Any], declared: Any) -> Validator:
    """A function that turns a returned value into JSON data of the declared type, or raises `Invalid`."""
    plain = _plain_types(declared)
    dump = _dumper(adapter, declared)

    def check(value: Any, /) -> Any:
        if value.__class__ in plain:
            return value
        try:
            return dump(value)
        except ValidationError as error:
            details = error.errors(include_url=False, include_input=False)
            raise Invalid(
                [FieldError(".".join(map(str, detail["loc"])), detail["msg"]) for detail in details]
            ) from None
        except PydanticSerializationError as error:
            raise Invalid([FieldError("", str(error))]) from None

    return check


def data_checker(validate: Validator) -> Validator:
    """The same for an output described by a JSON Schema: the value as JSON data, checked and unchanged."""

    def check(value: Any, /) -> Any:
        try:
            data = to_jsonable_python(value, by_alias=True)
        except (PydanticSerializationError, RecursionError) as error:
            raise Invalid([FieldError("", f"cannot be written as JSON: {error}")]) from None
        validate(data)
        return data

    return check


def _plain_types(declared: Any) -> frozenset[type]:
    """Classes whose instances are valid JSON data for the declared type as they are."""
    if declared in _SELF_DUMPING:
        return frozenset({declared})
    if get_origin(declared) in (Union, types.UnionType):
        return frozenset(kind for kind in get_args(declared) if kind in _SELF_DUMPING)
    return frozenset()


def _dumper(adapter: TypeAdapter[Any], declared: Any) -> Callable[[Any], Any]:
    validate = adapter.validator.validate_python
    dump = adapter.serializer.to_python
    trusted = declared if isinstance(declared, type) and issubclass(declared, BaseModel) else None

    def checked(value: Any) -> Any:
        if value.__class__ is not trusted:
            value = validate(value)
        return dump(value, mode="json", by_alias=True)

    return checked
