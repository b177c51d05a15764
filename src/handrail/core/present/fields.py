"""Field definitions: twelve kinds of fields as data, and their JSON Schema, there and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from handrail.core.define.schema import JsonSchema
from handrail.core.define.ui_specs import FormSpec
from handrail.core.define.validation import Validator, schema_validator
from handrail.core.errors import DefinitionError

StorageType = Literal[
    "text",
    "number",
    "boolean",
    "date",
    "enum",
    "url",
    "email",
    "phone",
    "media",
    "relation",
    "object",
    "array",
]
STORAGE_TYPES: Final[tuple[StorageType, ...]] = get_args(StorageType)

VARIANTS: Final[Mapping[StorageType, tuple[str, ...]]] = {
    "text": ("lines", "markdown", "secret"),
    "number": ("integer", "slider", "currency", "percent"),
    "boolean": ("choice",),
    "date": ("moment", "time"),
    "enum": ("buttons", "badge"),
    "url": ("button",),
    "email": (),
    "phone": (),
    "media": ("image",),
    "relation": (),
    "object": ("json",),
    "array": ("ticks", "tags"),
}
"""How each kind can be shown other than the usual way."""


class _NoDefault:
    def __repr__(self) -> str:
        return "NO_DEFAULT"


NO_DEFAULT: Final = _NoDefault()


@dataclass(frozen=True, slots=True)
class FieldOption:
    """One value of an enum, and what it is called."""

    value: Any
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDefinition:
    """One field: its name, its kind, and what it takes."""

    name: str
    type: StorageType
    label: str = ""
    description: str = ""
    required: bool = False
    default: Any = NO_DEFAULT
    variant: str | None = None
    min: int | float | None = None
    """The least number, the least length of text, the least count of items."""
    max: int | float | None = None
    pattern: str | None = None
    options: tuple[FieldOption, ...] = ()
    fields: tuple[FieldDefinition, ...] = ()
    """Of an object."""
    items: FieldDefinition | None = None
    """Of an array."""
    target: str | None = None
    """Of a relation: the type of what it points to."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further words of JSON Schema, kept as they are."""

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem:
            raise ValueError(f"The field {self.name!r} {problem}")

    def to_dict(self) -> dict[str, Any]:
        """The portable form: only what was said."""
        told: dict[str, Any] = {"name": self.name, "type": self.type}
        for key in ("label", "description", "variant", "min", "max", "pattern", "target"):
            if getattr(self, key) not in (None, ""):
                told[key] = getattr(self, key)
        if self.required:
            told["required"] = True
        if self.default is not NO_DEFAULT:
            told["default"] = self.default
        if self.options:
            told["options"] = [_option_to_dict(one) for one in self.options]
        if self.fields:
            told["fields"] = [one.to_dict() for one in self.fields]
        if self.items is not None:
            told["items"] = self.items.to_dict()
        if self.more:
            told["more"] = dict(self.more)
        return told

    @staticmethod
    def from_dict(told: Mapping[str, Any]) -> FieldDefinition:
        """A field from its portable form; a word that is not known is refused."""
        known = dict(told)
        strange = known.keys() - set(FieldDefinition.__slots__)
        if strange or "name" not in known or "type" not in known:
            what = f"does not know {sorted(strange)[0]!r}" if strange else "needs a name and a type"
            raise ValueError(f"The field {known.get('name')!r} {what}")
        if "options" in known:
            known["options"] = tuple(_option_from_dict(one) for one in known["options"])
        if "fields" in known:
            known["fields"] = tuple(map(FieldDefinition.from_dict, known["fields"]))
        if "items" in known:
            known["items"] = FieldDefinition.from_dict(known["items"])
        return FieldDefinition(**known)


def _option_to_dict(one: FieldOption) -> dict[str, Any]:
    return {"value": one.value, "label": one.label} if one.label else {"value": one.value}


def _option_from_dict(told: Any) -> FieldOption:
    return FieldOption(**told) if isinstance(told, Mapping) else FieldOption(told)


def _problem(one: FieldDefinition) -> str | None:
    """What is wrong with a definition, or nothing."""
    if one.type not in STORAGE_TYPES:
        return f"is of no kind that there is: {one.type!r}; there are {', '.join(STORAGE_TYPES)}"
    if one.variant is not None and one.variant not in VARIANTS[one.type]:
        known = ", ".join(VARIANTS[one.type]) or "none"
        return f"cannot be shown as {one.variant!r}; for {one.type} there is: {known}"
    needs = {
        "enum": ("options", one.options),
        "relation": ("target", one.target),
        "array": ("items", one.items),
    }
    key, given = needs.get(one.type, ("", True))
    if not given:
        return f"is of kind {one.type} and needs {key}"
    if one.min is not None and one.max is not None and one.min > one.max:
        return "has a least value that is more than its most"
    twice = _first_duplicate(inner.name for inner in one.fields)
    return f"holds {twice!r} twice" if twice is not None else None


def _first_duplicate(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


PHONE_PATTERN = r"^\+?[0-9][0-9 ()./-]{2,30}$"
MEDIA_PATTERN = r"^(data:[^,]*,|https?://)"

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
_FORMAT_NAMES = {found: form for form, found in _FORMATS.items()}
_BOUNDS = {"number": ("minimum", "maximum"), "array": ("minItems", "maxItems")}
_LENGTHS = ("minLength", "maxLength")
_PATTERNS = {"phone": PHONE_PATTERN, "media": MEDIA_PATTERN}
_VARIANT_KEYWORD = "x-variant"

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
    twice = _first_duplicate(one.name for one in listed)
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
        and (one.type, one.variant) not in _FORMAT_NAMES
        and one.variant not in ("integer", "secret")
    ):
        schema[_VARIANT_KEYWORD] = one.variant
    return schema


def _text(one: FieldDefinition) -> JsonSchema:
    return {"type": "string", "format": "password"} if one.variant == "secret" else {"type": "string"}


def _formatted(one: FieldDefinition) -> JsonSchema:
    form = _FORMAT_NAMES.get((one.type, one.variant)) or _FORMAT_NAMES[(one.type, None)]
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
        key: part
        for key, part in schema.items()
        if key not in ("title", "description", "default", _VARIANT_KEYWORD)
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
    if _VARIANT_KEYWORD in schema:
        return str(schema[_VARIANT_KEYWORD])
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
