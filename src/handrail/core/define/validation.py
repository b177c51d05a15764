"""Validators: the strict check of arguments against a pydantic model or a JSON Schema."""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Annotated, Any, Literal, Protocol, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, SchemaValidator, core_schema
from pydantic_core import to_json as to_json_bytes

from handrail.core.define.call import FieldError
from handrail.core.define.json_values import (
    TOO_LARGE,
    TOO_SMALL,
    are_json_scalars,
    copy_object,
    copy_value,
)
from handrail.core.define.redaction import mask_paths, secret_paths
from handrail.core.define.schema import JsonSchema, branches, objects_at
from handrail.core.errors import DefinitionError, UsageError

_PLAIN = frozenset({str, int, float, bool, type(None)})
_MAX_DISPLAYED = 80
_KINDS = {"NoneType": "null", "str": "text", "dict": "object", "bool": "boolean"}
_UNKNOWN = frozenset({"extra_forbidden", "unexpected_keyword_argument"})

Path = tuple[int | str, ...]
"""Where in a value: names and indices."""


class InvalidValue(Exception):
    """The value does not fit its schema."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__("; ".join(map(str, errors)))
        self.errors = tuple(errors)


class Validator(Protocol):
    """Checks a JSON value strictly and gives it back typed, defaults filled, or raises `InvalidValue`."""

    def __call__(self, value: Any, /) -> Any: ...


class Args(dict[str, Any]):
    """Validated arguments of a tool with a raw schema: a dict whose names are also attributes."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def model_validator(model: type[BaseModel], schema: JsonSchema) -> Validator:
    """Strict validation by a pydantic model, with JSON's reading of types (a date is text, a set a list).

    Pydantic is strict in that sense only for JSON text. A model of plain types reads the same either way,
    so it skips the detour over text. Names that no model of the tree knows are refused unless the model that
    is handed them says itself what happens to them.
    """
    validator = model.__pydantic_validator__
    # Whatever else stands in the schema belongs to models that may not mind unknown names.
    closed = model.model_config.get("extra") == "forbid" and "$defs" not in schema
    refuse = partial(_refuse, schema=schema, secrets=secret_paths(schema))
    if all(_is_plain(field.annotation) for field in model.model_fields.values()):
        validate_python = validator.validate_python
        check_python = validate_python if closed else partial(validate_python, extra="forbid")

        def validate(value: Any, /) -> Any:
            try:
                return check_python(value, strict=True)
            except ValidationError as error:
                return refuse(error, value, lambda: validate_python(value, strict=True))
    else:
        validate_json = validator.validate_json
        check_json = validate_json if closed else partial(validate_json, extra="forbid")

        def validate(value: Any, /) -> Any:
            try:
                text = to_json_bytes(value)
            except (PydanticSerializationError, ValueError) as error:
                raise InvalidValue([FieldError("", f"is not valid JSON: {error}")]) from None
            try:
                return check_json(text, strict=True)
            except ValidationError as error:
                return refuse(error, value, lambda: validate_json(text, strict=True))

    return validate


def _is_plain(annotation: Any) -> bool:
    if isinstance(annotation, type) and annotation in _PLAIN:
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


def _refuse(
    error: ValidationError,
    value: Any,
    validate_leniently: Callable[[], Any],
    schema: JsonSchema,
    secrets: frozenset[str],
) -> Any:
    """Raise `InvalidValue`, unless all that is wrong are names which the models that got them do not mind."""
    details = _details(error, value)
    unknown = {path for detail, path in details if detail["type"] in _UNKNOWN}
    welcome = {path for path in unknown if any(map(_is_open, objects_at(schema, path[:-1])))}
    if not welcome:
        raise InvalidValue(_from_pydantic(details, value, schema, secrets)) from None
    if unknown - welcome:
        refused = [(detail, path) for detail, path in details if path in unknown - welcome]
        raise InvalidValue(_from_pydantic(refused, value, schema, secrets)) from None
    try:
        return validate_leniently()
    except ValidationError as lenient_error:
        details = _details(lenient_error, value)
        raise InvalidValue(_from_pydantic(details, value, schema, secrets)) from None


def _details(error: ValidationError, value: Any) -> list[tuple[Any, Path]]:
    """What pydantic says, each with the path to the part of the value it is about."""
    details: list[Any] = error.errors(include_url=False)
    return [(detail, _real_path(detail["loc"], value, detail["type"])) for detail in details]


def _is_open(node: Mapping[str, Any]) -> bool:
    """Whether an object takes names it does not list."""
    return "properties" in node and node.get("additionalProperties") is not False


def _from_pydantic(
    details: Sequence[tuple[Any, Path]], value: Any, schema: JsonSchema, secrets: frozenset[str]
) -> list[FieldError]:
    open_values = mask_paths(value, secrets) if secrets else None
    errors: dict[str, FieldError] = {}
    for detail, location in details:
        path = _dotted(location)
        if detail["type"] == "missing":
            errors.setdefault(path, FieldError(path, "is required", missing=len(location) == 1))
        elif detail["type"] in _UNKNOWN:
            errors.setdefault(path, FieldError(path, _unknown_name_reason(location, schema)))
        else:
            shown = detail["input"] if open_values is None else _value_at(open_values, location)
            reason = f"{_sentence(detail['msg'])}, got {display_value(shown)}"
            earlier = errors.get(path)
            if earlier is not None and reason not in earlier.reason:
                reason = f"{earlier.reason}; or {reason}"
            errors[path] = FieldError(path, reason)
    return list(errors.values())


def _value_at(value: Any, path: Path) -> Any:
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int):
            value = value[part]
    return value


def _real_path(location: Path, value: Any, kind: str) -> Path:
    """The location without the tags pydantic adds for members of a union."""
    path: list[int | str] = []
    inner = value
    for index, part in enumerate(location):
        last = index == len(location) - 1
        if isinstance(inner, Mapping) and (part in inner or (last and kind == "missing")):
            path.append(part)
            inner = inner.get(part)
        elif isinstance(inner, list) and isinstance(part, int) and part < len(inner):
            path.append(part)
            inner = inner[part]
    return tuple(path)


def _sentence(message: str) -> str:
    message = message.removeprefix("Value error, ").removeprefix("Input ")
    return message[:1].lower() + message[1:]


def _unknown_name_reason(path: Path, schema: JsonSchema) -> str:
    """Why the name at the end of a path is refused, with the nearest known one."""
    name, parent = str(path[-1]), path[:-1]
    properties = (node.get("properties") or () for node in objects_at(schema, parent))
    names = list(dict.fromkeys(itertools.chain.from_iterable(properties)))
    what = "is not known here" if parent else "is not a parameter of this tool"
    if not names:
        return f"{what}; leave it out"
    import difflib  # only for mistakes

    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{what}; {hint}Known: {', '.join(names)}"


def display_value(value: Any) -> str:
    """A value as an error message may show it."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of more digits than Python prints, a list in itself
        text = "a value too large to show"
    kind = _KINDS.get(type(value).__name__, type(value).__name__)
    return f"{text[:_MAX_DISPLAYED]}{'…' if len(text) > _MAX_DISPLAYED else ''} ({kind})"


def schema_validator(
    schema: JsonSchema, resources: Mapping[str, JsonSchema] | None = None, formats: bool = False
) -> Validator:
    """Strict validation by a JSON Schema of any draft, 2020-12 where none is named.

    References reach only the given resources: nothing is ever fetched.
    """
    check = schema_checker(schema, resources, formats)
    fill = _defaults(schema)
    secrets = secret_paths(schema)

    def validate(value: Any, /) -> Any:
        errors = check(value)
        if errors:
            raise InvalidValue(_from_schema(errors, value, schema, secrets))
        return fill(value)

    return validate


def schema_checker(
    schema: JsonSchema, resources: Mapping[str, JsonSchema] | None = None, formats: bool = False
) -> Callable[[Any], list[Any]]:
    """A function that lists what is wrong with a value."""
    import jsonschema_rs  # heavy, and only tools with a raw schema need it

    schemas = dict(resources or {})

    def retrieve(uri: str) -> Any:
        try:
            return schemas[uri.partition("#")[0]]
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
            raise InvalidValue([FieldError("", f"cannot be read: {error}")]) from None

    return check


def _from_schema(
    errors: Sequence[Any], value: Any, schema: JsonSchema, secrets: frozenset[str]
) -> list[FieldError]:
    open_values = mask_paths(value, secrets) if secrets else None
    field_errors: list[FieldError] = []
    for error in errors:
        location: Path = tuple(error.instance_path)
        kind = error.kind.name
        if kind == "required":
            missing = (*location, str(error.kind.property))
            field_errors.append(FieldError(_dotted(missing), "is required", missing=not location))
        elif kind in ("additionalProperties", "unevaluatedProperties"):
            paths = [(*location, str(name)) for name in error.kind.unexpected]
            field_errors += [FieldError(_dotted(path), _unknown_name_reason(path, schema)) for path in paths]
        else:
            hidden = open_values is not None and _value_at(open_values, location) != error.instance
            reason = f"does not fit its schema ({kind})" if hidden else _reason(error)
            field_errors.append(FieldError(_dotted(location), reason))
    return field_errors


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))


def _reason(error: Any) -> str:
    kind = error.kind.name
    if kind == "type":
        return f"should be {' or '.join(error.kind.types)}, got {display_value(error.instance)}"
    if kind == "enum":
        choices = ", ".join(map(repr, error.kind.options))
        return f"should be one of {choices}, got {display_value(error.instance)}"
    if kind in ("anyOf", "oneOf"):
        return _union_reason(error)
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

    def fill(value: Any, node: Any) -> Any:
        if not isinstance(value, dict):
            return value
        filled = Args(value)
        for part in branches(node, schema, ("allOf",)):
            for name, inner in (part.get("properties") or {}).items():
                if name in filled:
                    filled[name] = fill(filled[name], inner)
                elif isinstance(inner, Mapping) and "default" in inner:
                    filled[name] = copy_value(inner["default"])
        return filled

    return lambda value: fill(copy_object(value), schema) if isinstance(value, dict) else value


FlatCheck = Callable[[dict[str, Any]], dict[str, Any] | None]
_FLAT = frozenset({str, int, bool, type(None)})


@dataclass(frozen=True, slots=True)
class FlatValidator:
    """The short way for arguments that are all plain scalars."""

    validate: FlatCheck
    """From raw to validated arguments, or to None when they must go the long way."""
    converts: bool
    """Whether a validated argument can be another object than the raw one: the member of an enumeration."""


def flat_validator(model: type[BaseModel]) -> FlatValidator | None:
    """The short way; None when the model has fields that are not flat, or validators of its own."""
    if not all(_is_flat(field.annotation) for field in model.model_fields.values()):
        return None
    core: Any = model.__pydantic_core_schema__
    inner = core.get("schema", {})
    if core["type"] != "model" or inner.get("type") != "model-fields":
        return None
    fields = {name: _typed_dict_field(part) for name, part in inner["fields"].items()}
    strictly = core_schema.CoreConfig(strict=True)
    schema = core_schema.typed_dict_schema(fields, extra_behavior="forbid", config=strictly)
    validate = SchemaValidator(schema).validate_python

    annotations = [field.annotation for field in model.model_fields.values()]
    converts = any(map(_has_enum, annotations))
    is_checked = converts or any(map(_takes_text, annotations))

    def flat(raw: dict[str, Any]) -> dict[str, Any] | None:
        try:
            valid: dict[str, Any] = validate(raw)
        except ValidationError:
            return None
        # Half a surrogate or a caller's own enum member is no JSON value: the long way says so.
        return None if is_checked and not are_json_scalars(raw.values()) else valid

    return FlatValidator(flat, converts)


def _typed_dict_field(part: Any) -> core_schema.TypedDictField:
    schema = part["schema"]
    return core_schema.typed_dict_field(_bounded(schema), required=schema["type"] != "default")


def _bounded(schema: Any) -> Any:
    """The schema with whole numbers kept to those that can be written as JSON, and members named by value."""
    if schema["type"] == "int":
        return {"gt": TOO_SMALL, "lt": TOO_LARGE, **schema}
    if schema["type"] == "enum":  # strict means something else for JSON than for Python's objects
        return {**schema, "strict": False}
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
    if get_origin(annotation) is Literal:
        return all(choice.__class__ is str for choice in get_args(annotation))
    return isinstance(annotation, type) and (annotation in _FLAT or _is_text_enum(annotation))


def _is_text_enum(annotation: type) -> bool:
    return issubclass(annotation, Enum) and all(member.value.__class__ is str for member in annotation)


def _has_enum(annotation: Any) -> bool:
    parts = get_args(annotation) or (annotation,)
    return any(isinstance(part, type) and issubclass(part, Enum) for part in parts)


def action_error(
    tool: str, action: str, args: Any, required: Mapping[str, Iterable[str]]
) -> dict[str, str] | None:
    """What is wrong when a field the action needs is not given, for a body to return as it is; else None.

    `if error := action_error("manageTools", args.action, args, NEEDS): return error` answers with
    `{"error": "manageTools.create requires 'slug'"}`.
    """
    for name in required.get(action, ()):
        value = args.get(name) if isinstance(args, Mapping) else getattr(args, name, None)
        if value is None:
            return {"error": f"{tool}.{action} requires {name!r}"}
    return None


def positive_int(what: str, number: object) -> int:
    """The number, if it is a whole one from 1 on; otherwise an error that says what it is for."""
    if type(number) is not int or number < 1:
        raise UsageError(f"{what} is a whole number from 1 on, not {number!r}.")
    return number
