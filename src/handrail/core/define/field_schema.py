"""Field definitions and JSON Schema: each says what the other says, there and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from handrail.core.define.fields import NO_DEFAULT, FieldDefinition, FieldOption, StorageType, _twice
from handrail.core.define.schema import JsonSchema
from handrail.core.define.sections import FormSpec
from handrail.core.define.validation import Validator, schema_validator
from handrail.core.errors import DefinitionError

PHONE = r"^\+?[0-9][0-9 ()./-]{2,30}$"
MEDIA = r"^(data:[^,]*,|https?://)"
_FORMATS: dict[str, tuple[StorageType, str | None]] = {
    "date": ("date", None),
    "date-time": ("date", "moment"),
    "time": ("date", "time"),
    "uri": ("url", None),
    "email": ("email", None),
    "phone": ("phone", None),
    "file": ("media", None),
    "image": ("media", "image"),
}
_WORDS = {found: form for form, found in _FORMATS.items()}
_BOUNDS = {"number": ("minimum", "maximum"), "array": ("minItems", "maxItems")}
_LENGTHS = ("minLength", "maxLength")
_PATTERNS = {"phone": PHONE, "media": MEDIA}
_SHOWN = "x-variant"
_HINTS: Mapping[str, Mapping[str, Any]] = {
    "lines": {"widget": "textarea"},
    "markdown": {"widget": "textarea"},
    "slider": {"widget": "slider"},
    "percent": {"unit": "%"},
    "buttons": {"widget": "radio"},
    "json": {"widget": "json"},
    "ticks": {"widget": "checkboxes"},
}


def fields_schema(fields: Iterable[FieldDefinition]) -> JsonSchema:
    """The JSON Schema of an object with these fields."""
    listed = tuple(fields)
    twice = _twice(one.name for one in listed)
    if twice is not None:
        raise DefinitionError(f"the field {twice!r} is defined twice", remedy="keep one of them")
    schema: JsonSchema = {"type": "object", "properties": {one.name: field_schema(one) for one in listed}}
    required = [one.name for one in listed if one.required]
    if required:
        schema["required"] = required
    return {**schema, "additionalProperties": False}


def field_schema(one: FieldDefinition) -> JsonSchema:
    """The JSON Schema of one field."""
    schema: JsonSchema = {**one.more, **_KINDS[one.type](one)}
    if one.label:
        schema["title"] = one.label
    if one.description:
        schema["description"] = one.description
    if one.default is not NO_DEFAULT:
        schema["default"] = one.default
    least, most = _BOUNDS.get(one.type, _LENGTHS)
    if one.min is not None:
        schema[least] = one.min
    if one.max is not None:
        schema[most] = one.max
    if one.pattern is not None:
        schema["pattern"] = one.pattern
    if (
        one.variant is not None
        and (one.type, one.variant) not in _WORDS
        and one.variant not in ("integer", "secret")
    ):
        schema[_SHOWN] = one.variant
    return schema


def _text(one: FieldDefinition) -> JsonSchema:
    return {"type": "string", "format": "password"} if one.variant == "secret" else {"type": "string"}


def _formatted(one: FieldDefinition) -> JsonSchema:
    form = _WORDS.get((one.type, one.variant)) or _WORDS[(one.type, None)]
    schema: JsonSchema = {"type": "string", "format": form}
    return {**schema, "pattern": _PATTERNS[one.type]} if one.type in _PATTERNS else schema


def _enum(one: FieldDefinition) -> JsonSchema:
    if not any(option.label for option in one.options):
        return {"enum": [option.value for option in one.options]}
    return {"oneOf": [_constant(option) for option in one.options]}


def _constant(option: FieldOption) -> JsonSchema:
    return {"const": option.value, "title": option.label} if option.label else {"const": option.value}


def _object(one: FieldDefinition) -> JsonSchema:
    return fields_schema(one.fields) if one.fields else {"type": "object"}


def _array(one: FieldDefinition) -> JsonSchema:
    assert one.items is not None
    return {"type": "array", "items": field_schema(one.items)}


_KINDS: Mapping[StorageType, Callable[[FieldDefinition], JsonSchema]] = {
    "text": _text,
    "number": lambda one: {"type": "integer" if one.variant == "integer" else "number"},
    "boolean": lambda one: {"type": "boolean"},
    "date": _formatted,
    "enum": _enum,
    "url": _formatted,
    "email": _formatted,
    "phone": _formatted,
    "media": _formatted,
    "relation": lambda one: {"type": "string", "x-entity-type": one.target},
    "object": _object,
    "array": _array,
}


def fields_of(schema: Mapping[str, Any]) -> tuple[FieldDefinition, ...]:
    """The fields of an object's schema, the way back; a shape that no field has is refused by its name."""
    required = schema.get("required") or ()
    properties = schema.get("properties") or {}
    return tuple(field_of(name, part, name in required) for name, part in properties.items())


def field_of(name: str, schema: Mapping[str, Any], required: bool = False) -> FieldDefinition:
    """The field of one schema."""
    kind = storage_type(schema)
    if kind is None:
        raise DefinitionError(
            f"{name}: its schema is none of a field",
            remedy="give it a type; choices between shapes are no fields",
        )
    left = {
        key: part for key, part in schema.items() if key not in ("title", "description", "default", _SHOWN)
    }
    given: dict[str, Any] = {"variant": _variant(kind, schema)}
    left.pop("type", None)
    if left.get("format") in _FORMATS or left.get("format") == "password":
        del left["format"]
    for key, word in zip(("min", "max"), _BOUNDS.get(kind, _LENGTHS), strict=True):
        given[key] = left.pop(word, None)
    if left.get("pattern") == _PATTERNS.get(kind):
        left.pop("pattern", None)
    given["pattern"] = left.pop("pattern", None)
    if kind == "enum":
        given["options"] = _options(left)
    elif kind == "relation":
        given["target"] = left.pop("x-entity-type")
    elif kind == "array":
        given["items"] = field_of("item", left.pop("items", {"type": "string"}))
    elif kind == "object":
        inner = {key: left.pop(key, None) for key in ("properties", "required", "additionalProperties")}
        given["fields"] = fields_of({key: part for key, part in inner.items() if part})
    if "default" in schema:
        given["default"] = schema["default"]
    return FieldDefinition(
        name=name,
        type=kind,
        label=str(schema.get("title", "")),
        description=str(schema.get("description", "")),
        required=required,
        more=left,
        **given,
    )


def storage_type(schema: Mapping[str, Any]) -> StorageType | None:
    """The kind of field that a schema describes, or None."""
    if isinstance(schema.get("enum"), list) or _is_titled(schema.get("oneOf")):
        return "enum"
    if any(key in schema for key in ("oneOf", "anyOf", "allOf", "$ref", "const")):
        return None
    said = schema.get("type")
    plain: dict[Any, StorageType] = {
        "number": "number",
        "integer": "number",
        "boolean": "boolean",
        "object": "object",
        "array": "array",
    }
    if said != "string":
        return plain.get(said) if isinstance(said, str) else None
    if schema.get("x-entity-type"):
        return "relation"
    return _FORMATS.get(str(schema.get("format")), ("text", None))[0]


def _is_titled(branches: Any) -> bool:
    return (
        isinstance(branches, list)
        and bool(branches)
        and all(isinstance(one, Mapping) and "const" in one for one in branches)
    )


def _variant(kind: StorageType, schema: Mapping[str, Any]) -> str | None:
    if schema.get("format") == "password":
        return "secret"
    if _SHOWN in schema:
        return str(schema[_SHOWN])
    if kind == "number":
        return "integer" if schema.get("type") == "integer" else None
    return _FORMATS.get(str(schema.get("format")), (kind, None))[1]


def _options(left: dict[str, Any]) -> tuple[FieldOption, ...]:
    titled = left.pop("oneOf", None)
    plain = left.pop("enum", None)
    if titled:
        return tuple(FieldOption(one["const"], str(one.get("title", ""))) for one in titled)
    return tuple(FieldOption(value) for value in plain or ())


def fields_validator(fields: Iterable[FieldDefinition]) -> Validator:
    """The check of a value against fields, formats included; defaults are filled in."""
    return schema_validator(fields_schema(fields), formats=True)


def fields_form(fields: Iterable[FieldDefinition]) -> FormSpec:
    """The hints that the variants of fields stand for."""
    return FormSpec(dict(_hints(fields, "")))


def _hints(fields: Iterable[FieldDefinition], above: str) -> Iterable[tuple[str, Mapping[str, Any]]]:
    for one in fields:
        path = above + one.name
        if one.variant is not None and one.variant in _HINTS:
            yield path, _HINTS[one.variant]
        if one.type == "object":
            yield from _hints(one.fields, f"{path}.")
        if one.items is not None:
            inner = one.items
            yield from _hints([inner] if inner.type != "object" else inner.fields, f"{path}.*.")
