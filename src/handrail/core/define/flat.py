"""Flat arguments: the short way for functions that take only text, whole numbers, booleans and null.

Such arguments need no deep copy, and a validator can give them back as the very dict the function is called
with. Whatever does not pass here goes the long way, which finds out and says what is wrong.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import SchemaValidator, core_schema

from handrail.core.define.jsonvalue import TOO_LARGE, TOO_SMALL, all_json

FlatValidator = Callable[[dict[str, Any]], dict[str, Any] | None]

_FLAT = frozenset({str, int, bool, type(None)})


def flat_validator(model: type[BaseModel]) -> FlatValidator | None:
    """A function from raw to validated arguments, or to None when they must go the long way.

    None instead of a function when the model has fields that are not flat, or validators of its own.
    """
    if not all(_is_flat(field.annotation) for field in model.model_fields.values()):
        return None
    core: Any = model.__pydantic_core_schema__
    inner = core.get("schema", {})
    if core["type"] != "model" or inner.get("type") != "model-fields":
        return None
    fields = {name: _field(part) for name, part in inner["fields"].items()}
    strictly = core_schema.CoreConfig(strict=True)
    schema = core_schema.typed_dict_schema(fields, extra_behavior="forbid", config=strictly)
    validate = SchemaValidator(schema).validate_python

    texts = any(_takes_text(field.annotation) for field in model.model_fields.values())

    def flat(raw: dict[str, Any]) -> dict[str, Any] | None:
        try:
            valid: dict[str, Any] = validate(raw)
        except ValidationError:
            return None
        return None if texts and not all_json(valid.values()) else valid

    return flat


def _field(part: Any) -> core_schema.TypedDictField:
    schema = part["schema"]
    return core_schema.typed_dict_field(_bounded(schema), required=schema["type"] != "default")


def _bounded(schema: Any) -> Any:
    """The schema with whole numbers kept to those that can be written as JSON."""
    if schema["type"] == "int":
        return {"gt": TOO_SMALL, "lt": TOO_LARGE, **schema}
    if "schema" in schema:
        return {**schema, "schema": _bounded(schema["schema"])}
    if "choices" in schema:
        return {**schema, "choices": [_bounded(choice) for choice in schema["choices"]]}
    return schema


def _takes_text(annotation: Any) -> bool:
    return annotation is str or str in get_args(annotation)


def _is_flat(annotation: Any) -> bool:
    if get_origin(annotation) in (Union, types.UnionType):
        return all(map(_is_flat, get_args(annotation)))
    return isinstance(annotation, type) and annotation in _FLAT
