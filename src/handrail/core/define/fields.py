"""Fields as data: twelve kinds that people and tenants describe their own tools and records with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

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
            told["options"] = [_option(one) for one in self.options]
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
            known["options"] = tuple(_read_option(one) for one in known["options"])
        if "fields" in known:
            known["fields"] = tuple(map(FieldDefinition.from_dict, known["fields"]))
        if "items" in known:
            known["items"] = FieldDefinition.from_dict(known["items"])
        return FieldDefinition(**known)


def _option(one: FieldOption) -> dict[str, Any]:
    return {"value": one.value, "label": one.label} if one.label else {"value": one.value}


def _read_option(told: Any) -> FieldOption:
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
    twice = _twice(inner.name for inner in one.fields)
    return f"holds {twice!r} twice" if twice is not None else None


def _twice(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
