"""Field definitions: twelve kinds of fields as data, and their JSON Schema, there and back."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
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

    def to_dict(self, value_key: str = "value", label_key: str = "label") -> dict[str, Any]:
        """As JSON data under these keys; the label only where there is one."""
        return {value_key: self.value} | ({label_key: self.label} if self.label else {})


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
    more: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Further words of JSON Schema, kept as they are."""

    def __post_init__(self) -> None:
        if problem := _problem(self):
            raise ValueError(f"The field {self.name!r} {problem}")

    def to_dict(self) -> dict[str, Any]:
        """The portable form: only what was said."""
        data: dict[str, Any] = {"name": self.name, "type": self.type}
        for key in ("label", "description", "variant", "min", "max", "pattern", "target"):
            if getattr(self, key) not in (None, ""):
                data[key] = getattr(self, key)
        if self.required:
            data["required"] = True
        if self.default is not NO_DEFAULT:
            data["default"] = self.default
        if self.options:
            data["options"] = [option.to_dict() for option in self.options]
        if self.fields:
            data["fields"] = [inner.to_dict() for inner in self.fields]
        if self.items is not None:
            data["items"] = self.items.to_dict()
        if self.more:
            data["more"] = dict(self.more)
        return data

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> FieldDefinition:
        """A field from its portable form; a word that is not known is refused."""
        values = dict(data)
        unknown = values.keys() - set(FieldDefinition.__slots__)
        if unknown or "name" not in values or "type" not in values:
            problem = f"does not know {sorted(unknown)[0]!r}" if unknown else "needs a name and a type"
            raise ValueError(f"The field {values.get('name')!r} {problem}")
        if "options" in values:
            options = (data if isinstance(data, Mapping) else {"value": data} for data in values["options"])
            values["options"] = tuple(FieldOption(**option) for option in options)
        if "fields" in values:
            values["fields"] = tuple(map(FieldDefinition.from_dict, values["fields"]))
        if "items" in values:
            values["items"] = FieldDefinition.from_dict(values["items"])
        return FieldDefinition(**values)


_NEEDS = {"enum": "options", "relation": "target", "array": "items"}


def _problem(field: FieldDefinition) -> str | None:
    """What is wrong with a definition, or nothing."""
    if field.type not in STORAGE_TYPES:
        return f"is of no kind that there is: {field.type!r}; there are {', '.join(STORAGE_TYPES)}"
    if field.variant is not None and field.variant not in VARIANTS[field.type]:
        variants = ", ".join(VARIANTS[field.type]) or "none"
        return f"cannot be shown as {field.variant!r}; for {field.type} there is: {variants}"
    needed = _NEEDS.get(field.type)
    if needed is not None and not getattr(field, needed):
        return f"is of kind {field.type} and needs {needed}"
    if field.min is not None and field.max is not None and field.min > field.max:
        return "has a least value that is more than its most"
    twice = _first_duplicate(inner.name for inner in field.fields)
    return f"holds {twice!r} twice" if twice is not None else None


def _first_duplicate(names: Iterable[str]) -> str | None:
    return next((name for name, count in Counter(names).items() if count > 1), None)


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
_NAMED_KEYWORDS = frozenset({"title", "description", "default", "type", _VARIANT_KEYWORD})
"""What a field says in words of its own, not among the further words of its schema."""

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
    twice = _first_duplicate(field.name for field in listed)
    if twice is not None:
        raise DefinitionError(f"the field {twice!r} is defined twice", remedy="keep one of them")
    properties = {field.name: field_schema(field) for field in listed}
    schema: JsonSchema = {"type": "object", "properties": properties}
    required = [field.name for field in listed if field.required]
    if required:
        schema["required"] = required
    return {**schema, "additionalProperties": False}


def field_schema(field: FieldDefinition) -> JsonSchema:
    """The JSON Schema of one field."""
    schema: JsonSchema = {**field.more, **_KINDS.get(field.type, _formatted)(field)}
    if field.label:
        schema["title"] = field.label
    if field.description:
        schema["description"] = field.description
    if field.default is not NO_DEFAULT:
        schema["default"] = field.default
    least, most = _BOUNDS.get(field.type, _LENGTHS)
    for keyword, value in ((least, field.min), (most, field.max), ("pattern", field.pattern)):
        if value is not None:
            schema[keyword] = value
    is_said = (field.type, field.variant) in _FORMAT_NAMES or field.variant in ("integer", "secret")
    if field.variant is not None and not is_said:
        schema[_VARIANT_KEYWORD] = field.variant
    return schema


def _formatted(field: FieldDefinition) -> JsonSchema:
    form = _FORMAT_NAMES.get((field.type, field.variant)) or _FORMAT_NAMES[(field.type, None)]
    schema: JsonSchema = {"type": "string", "format": form}
    return {**schema, "pattern": _PATTERNS[field.type]} if field.type in _PATTERNS else schema


def _enum(field: FieldDefinition) -> JsonSchema:
    if not any(option.label for option in field.options):
        return {"enum": [option.value for option in field.options]}
    return {"oneOf": [option.to_dict("const", "title") for option in field.options]}


_KINDS: Mapping[StorageType, Callable[[FieldDefinition], JsonSchema]] = {
    "text": lambda field: {"type": "string"} | ({"format": "password"} if field.variant == "secret" else {}),
    "number": lambda field: {"type": "integer" if field.variant == "integer" else "number"},
    "boolean": lambda field: {"type": "boolean"},
    "enum": _enum,
    "relation": lambda field: {"type": "string", "x-entity-type": field.target},
    "object": lambda field: fields_schema(field.fields) if field.fields else {"type": "object"},
    "array": lambda field: {"type": "array", "items": field_schema(field.items) if field.items else {}},
}
"""The kinds that are no text of a format."""


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
    more = {key: part for key, part in schema.items() if key not in _NAMED_KEYWORDS}
    values: dict[str, Any] = {"variant": _variant(kind, schema)}
    if more.get("format") in _FORMATS or more.get("format") == "password":
        del more["format"]
    for key, word in zip(("min", "max"), _BOUNDS.get(kind, _LENGTHS), strict=True):
        values[key] = more.pop(word, None)
    pattern = more.pop("pattern", None)
    values["pattern"] = None if pattern == _PATTERNS.get(kind) else pattern
    if kind == "enum":
        values["options"] = _options(more)
    elif kind == "relation":
        values["target"] = more.pop("x-entity-type")
    elif kind == "array":
        values["items"] = field_of("item", more.pop("items", {"type": "string"}))
    elif kind == "object":
        inner = {key: more.pop(key, None) for key in ("properties", "required", "additionalProperties")}
        values["fields"] = fields_of({key: part for key, part in inner.items() if part})
    return FieldDefinition(
        name=name,
        type=kind,
        label=str(schema.get("title", "")),
        description=str(schema.get("description", "")),
        required=required,
        default=schema.get("default", NO_DEFAULT),
        more=more,
        **values,
    )


_KIND_OF_TYPE: Mapping[str, StorageType] = {
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "object": "object",
    "array": "array",
}


def storage_type(schema: Mapping[str, Any]) -> StorageType | None:
    """The kind of field that a schema describes, or None."""
    if isinstance(schema.get("enum"), list) or _is_titled(schema.get("oneOf")):
        return "enum"
    if any(key in schema for key in ("oneOf", "anyOf", "allOf", "$ref", "const")):
        return None
    type = schema.get("type")
    if type != "string":
        return _KIND_OF_TYPE.get(type) if isinstance(type, str) else None
    if schema.get("x-entity-type"):
        return "relation"
    return _FORMATS.get(str(schema.get("format")), ("text", None))[0]


def _is_titled(branches: Any) -> bool:
    if not isinstance(branches, list) or not branches:
        return False
    return all(isinstance(branch, Mapping) and "const" in branch for branch in branches)


def _variant(kind: StorageType, schema: Mapping[str, Any]) -> str | None:
    if schema.get("format") == "password":
        return "secret"
    if _VARIANT_KEYWORD in schema:
        return str(schema[_VARIANT_KEYWORD])
    if kind == "number":
        return "integer" if schema.get("type") == "integer" else None
    return _FORMATS.get(str(schema.get("format")), (kind, None))[1]


def _options(schema: dict[str, Any]) -> tuple[FieldOption, ...]:
    """The options of an enum, taken out of its schema."""
    titled, plain = schema.pop("oneOf", None), schema.pop("enum", None)
    if titled:
        return tuple(FieldOption(branch["const"], str(branch.get("title", ""))) for branch in titled)
    return tuple(FieldOption(value) for value in plain or ())


def fields_validator(fields: Iterable[FieldDefinition]) -> Validator:
    """The check of a value against fields, formats included; defaults are filled in."""
    return schema_validator(fields_schema(fields), formats=True)


def fields_form(fields: Iterable[FieldDefinition]) -> FormSpec:
    """The hints that the variants of fields stand for."""
    return FormSpec(dict(_hints(fields, "")))


def _hints(fields: Iterable[FieldDefinition], above: str) -> Iterable[tuple[str, Mapping[str, Any]]]:
    for field in fields:
        path = above + field.name
        if field.variant is not None and field.variant in _HINTS:
            yield path, _HINTS[field.variant]
        if field.type == "object":
            yield from _hints(field.fields, f"{path}.")
        if field.items is not None:
            inner = field.items
            yield from _hints([inner] if inner.type != "object" else inner.fields, f"{path}.*.")
