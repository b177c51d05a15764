"""Validators: the strict check of arguments and outputs against a pydantic model or a JSON Schema."""

from __future__ import annotations

import difflib
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, Protocol, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError
from pydantic_core import to_json as to_json_bytes

from handrail.core.define.call import FieldError
from handrail.core.define.jsonvalue import copy_object
from handrail.core.define.schema import JsonSchema, resolve
from handrail.core.errors import DefinitionError

_PLAIN = frozenset({str, int, float, bool, type(None)})
_SHOWN = 80


class Invalid(Exception):
    """The value does not fit its schema."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__("; ".join(map(str, errors)))
        self.errors = tuple(errors)


class Validator(Protocol):
    """Checks a JSON value strictly and gives it back typed, defaults filled; raises `Invalid` otherwise."""

    def __call__(self, value: Any, /) -> Any: ...


class Args(dict[str, Any]):
    """Validated arguments of a tool with a raw schema: a dict whose names are also attributes."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def model_validator(model: type[BaseModel]) -> Validator:
    """Strict validation by a pydantic model, with JSON's reading of types (a date is text, a set a list).

    Pydantic is strict in that sense only for JSON text. A model of plain types reads the same either way,
    so it skips the detour over text.
    """
    validator = model.__pydantic_validator__
    if all(_is_plain(field.annotation) for field in model.model_fields.values()):
        validate_python = validator.validate_python

        def validate(value: Any, /) -> Any:
            try:
                return validate_python(value, strict=True)
            except ValidationError as error:
                raise Invalid(_from_pydantic(error, value, model)) from None
    else:
        validate_json = validator.validate_json

        def validate(value: Any, /) -> Any:
            try:
                return validate_json(to_json_bytes(value), strict=True)
            except ValidationError as error:
                raise Invalid(_from_pydantic(error, value, model)) from None
            except (PydanticSerializationError, ValueError) as error:
                raise Invalid([FieldError("", f"is not valid JSON: {error}")]) from None

    return validate


def _is_plain(annotation: Any) -> bool:
    if annotation in _PLAIN:
        return True
    origin = get_origin(annotation)
    arguments = get_args(annotation)
    if origin is Literal:
        return all(type(choice) in _PLAIN for choice in arguments)
    if origin is Annotated:
        return _is_plain(arguments[0])
    if origin in (Union, types.UnionType, list):
        return all(map(_is_plain, arguments))
    return origin is dict and arguments[0] is str and _is_plain(arguments[1])


def _from_pydantic(error: ValidationError, value: Any, model: type[BaseModel]) -> list[FieldError]:
    known = [field.alias or name for name, field in model.model_fields.items()]
    found: dict[str, FieldError] = {}
    for detail in error.errors(include_url=False, include_context=True):
        location = _real_path(detail["loc"], value, detail["type"])
        path = ".".join(map(str, location))
        if detail["type"] == "missing":
            found.setdefault(path, FieldError(path, "is required", missing=len(location) == 1))
        elif detail["type"] == "extra_forbidden":
            names = known if len(location) == 1 else ()
            found.setdefault(path, FieldError(path, unknown_name(str(location[-1]), names)))
        else:
            reason = f"{_sentence(detail['msg'])}, got {shown(detail['input'])}"
            earlier = found.get(path)
            if earlier is not None and reason not in earlier.reason:
                reason = f"{earlier.reason}; or {reason}"
            found[path] = FieldError(path, reason)
    return list(found.values())


def _real_path(location: tuple[int | str, ...], value: Any, kind: str) -> tuple[int | str, ...]:
    """The location without the tags pydantic adds for members of a union."""
    path: list[int | str] = []
    here = value
    for index, part in enumerate(location):
        last = index == len(location) - 1
        if isinstance(here, Mapping) and (part in here or (last and kind == "missing")):
            path.append(part)
            here = here.get(part)
        elif isinstance(here, list) and isinstance(part, int) and part < len(here):
            path.append(part)
            here = here[part]
    return tuple(path)


def _sentence(message: str) -> str:
    message = message.removeprefix("Value error, ").removeprefix("Input ")
    return message[:1].lower() + message[1:]


def unknown_name(name: str, known: Sequence[str]) -> str:
    """Why a name is refused, with the nearest known one."""
    if not known:
        return "is not known here; leave it out"
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"is not a parameter of this tool; {hint}Known: {', '.join(known)}"


def shown(value: Any) -> str:
    """A value as an error message may show it."""
    text = repr(value)
    kind = {"NoneType": "null", "str": "text", "dict": "object", "bool": "boolean"}.get(
        type(value).__name__, type(value).__name__
    )
    return f"{text[:_SHOWN]}{'…' if len(text) > _SHOWN else ''} ({kind})"


def schema_validator(
    schema: JsonSchema, resources: Mapping[str, JsonSchema] | None = None, formats: bool = False
) -> Validator:
    """Strict validation by a JSON Schema of any draft, 2020-12 where none is named.

    References reach only the given resources: nothing is ever fetched.
    """
    check = schema_checker(schema, resources, formats)
    properties = list(resolve(schema, schema).get("properties", {}))
    fill = _defaults(schema)

    def validate(value: Any, /) -> Any:
        errors = check(value)
        if errors:
            raise Invalid(_from_schema(errors, properties))
        return fill(value)

    return validate


def schema_checker(
    schema: JsonSchema, resources: Mapping[str, JsonSchema] | None = None, formats: bool = False
) -> Callable[[Any], list[Any]]:
    """A function that lists what is wrong with a value."""
    import jsonschema_rs  # heavy, and only tools with a raw schema need it

    known = dict(resources or {})

    def retrieve(uri: str) -> Any:
        try:
            return known[uri.partition("#")[0]]
        except KeyError:
            raise ValueError(f"no schema is known under {uri!r}") from None

    try:
        validator = jsonschema_rs.validator_for(schema, retriever=retrieve, validate_formats=formats)
    except ValueError as error:
        problem = str(error).partition("\n\n")[0]
        raise DefinitionError(
            f"its JSON Schema is not usable: {problem}",
            remedy="correct the schema; give outside references in `resources`",
        ) from None

    def check(value: Any) -> list[Any]:
        try:
            if validator.is_valid(value):
                return []
            return list(validator.iter_errors(value))
        except ValueError as error:  # text that is no unicode, such as a lone surrogate
            raise Invalid([FieldError("", f"cannot be read: {error}")]) from None

    return check


def _from_schema(errors: Sequence[Any], known: Sequence[str]) -> list[FieldError]:
    found: list[FieldError] = []
    for error in errors:
        parts = [str(part) for part in error.instance_path]
        path = ".".join(parts)
        kind = error.kind.name
        if kind == "required":
            name = str(error.kind.property)
            found.append(FieldError(".".join([*parts, name]), "is required", missing=not parts))
        elif kind in ("additionalProperties", "unevaluatedProperties"):
            for name in error.kind.unexpected:
                reason = unknown_name(str(name), known if not parts else ())
                found.append(FieldError(".".join([*parts, str(name)]), reason))
        elif kind in ("anyOf", "oneOf"):
            found.append(FieldError(path, _union_reason(error)))
        else:
            found.append(FieldError(path, _reason(error)))
    return found


def _reason(error: Any) -> str:
    kind = error.kind.name
    if kind == "type":
        return f"should be {' or '.join(error.kind.types)}, got {shown(error.instance)}"
    if kind == "enum":
        choices = ", ".join(map(repr, error.kind.options))
        return f"should be one of {choices}, got {shown(error.instance)}"
    return str(error.message)[:400]


def _union_reason(error: Any) -> str:
    reasons: list[str] = []
    for branch in getattr(error.kind, "context", None) or ():
        for inner in branch[:1]:
            reason = _reason(inner)
            if reason not in reasons:
                reasons.append(reason)
    return "; or ".join(reasons) or str(error.message)[:400]


def _defaults(schema: JsonSchema) -> Callable[[Any], Any]:
    """A function that gives arguments back with the schema's defaults filled in."""

    def fill(value: Any, node: Mapping[str, Any]) -> Any:
        node = resolve(node, schema)
        properties = node.get("properties")
        if not isinstance(value, dict) or not isinstance(properties, Mapping):
            return value
        filled = Args(value)
        for name, part in properties.items():
            if name in filled:
                filled[name] = fill(filled[name], part)
            elif isinstance(part, Mapping) and "default" in part:
                filled[name] = part["default"]
        return filled

    return lambda value: fill(Args(copy_object(value)) if isinstance(value, dict) else value, schema)
