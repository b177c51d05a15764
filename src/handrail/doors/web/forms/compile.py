"""Compiling: from a schema and its hints to a tree of fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from handrail.core.define.names import words
from handrail.core.define.schema import JsonSchema
from handrail.core.define.sections import FormSpec
from handrail.doors.web.forms.compile_objects import object_field
from handrail.doors.web.forms.field import (
    MISSING,
    Branch,
    ChoiceField,
    Field,
    Later,
    ListField,
    ToolFormMode,
    UnionField,
)
from handrail.doors.web.forms.likeness import kinds_of, likeness
from handrail.doors.web.forms.shape import Shape, alternatives, is_null, merged_with, shape_of

_DEEPEST = 24
_NAMES = ("enumNames", "x-enumNames", "x-enum-names", "x-enum-titles", "x-enum-varnames")
_FILES = frozenset({"data-url", "file", "image"})
_MOMENTS = frozenset({"date", "time", "date-time"})
_TEXTS = frozenset({"textarea", "text"})
_ALL_KINDS = 6


@dataclass(frozen=True, slots=True)
class Spot:
    """Where in a schema a field is compiled, and what is known of it from outside."""

    name: str = ""
    path: tuple[str, ...] = ()
    required: bool = False
    row: bool = False
    top: bool = False
    refs: frozenset[str] = frozenset()
    depth: int = 0
    label: str | None = None

    def inner(self, name: str, refs: frozenset[str], **more: Any) -> Spot:
        return Spot(name=name, path=(*self.path, name), refs=refs, depth=self.depth + 1, **more)


class Compiler:
    """One compilation."""

    def __init__(self, root: JsonSchema, spec: FormSpec, secrets: frozenset[str], mode: ToolFormMode) -> None:
        self.root = root
        self.spec = spec
        self.secrets = secrets
        self.mode = mode

    def later(self, node: Any, spot: Spot) -> Later:
        return Later(partial(self.field, node, spot))

    def field(self, node: Any, spot: Spot) -> Field:
        """The field for a schema at a spot."""
        shape, met = shape_of(node, self.root)
        hints = self.hints(spot.path)
        given: dict[str, Any] = {"default": shape["default"]} if "default" in shape else {}
        shape, nullable, met = self._without_null(shape, met)
        base = Field(
            widget="json",
            label=_label(spot, shape, hints),
            help=str(hints.get("help") or shape.get("description") or ""),
            schema=shape,
            hints=hints,
            required=spot.required,
            nullable=nullable,
            row=spot.row,
            top=spot.top,
            demand=bool(met & spot.refs),
            operator_only=bool(hints.get("operator_only") or shape.get("x-operator-only")),
            readonly=shape.get("readOnly") is True,
            **given,
        )
        if spot.depth > _DEEPEST or hints.get("widget") == "json":
            return base
        return self._shaped(base, shape, replace(spot, refs=spot.refs | met))

    def hints(self, path: tuple[str, ...]) -> Mapping[str, Any]:
        return self.spec.hints.get(".".join(path), {}) if self.spec.hints else {}

    def is_secret(self, shape: Shape, spot: Spot, hints: Mapping[str, Any]) -> bool:
        marked = (
            shape.get("format") == "password"
            or shape.get("writeOnly") is True
            or shape.get("x-secret") is True
        )
        return marked or bool(hints.get("secret")) or ".".join(spot.path) in self.secrets

    def _without_null(self, shape: Shape, met: frozenset[str]) -> tuple[Shape, bool, frozenset[str]]:
        """A shape without null among what it takes, and whether it takes null."""
        nullable = shape.get("nullable") is True
        kinds = shape.get("type")
        if isinstance(kinds, list) and "null" in kinds and len(kinds) > 1:
            left = [kind for kind in kinds if kind != "null"]
            shape, nullable = {**shape, "type": left[0] if len(left) == 1 else left}, True
        for key in ("anyOf", "oneOf"):
            written = shape.get(key)
            if not isinstance(written, list):
                continue
            left = [one for one in written if not is_null(shape_of(one, self.root)[0])]
            if len(left) < len(written):
                shape, nullable = {**shape, key: left}, True
            if len(left) == 1:
                inner, more = shape_of(left[0], self.root)
                words_of_own: Shape = {
                    name: shape[name] for name in ("title", "description") if name in shape
                }
                shape = {**merged_with(shape, inner), **words_of_own}
                deeper, also, all_met = self._without_null(shape, met | more)
                return deeper, nullable or also, all_met
        return shape, nullable, met

    def _shaped(self, base: Field, shape: Shape, spot: Spot) -> Field:
        hints = base.hints
        if self.is_secret(shape, spot, hints) and "object" not in kinds_of(shape):
            return replace(base, widget="secret")
        if "const" in shape:
            return _choice(base, [(shape["const"], _title(shape["const"]))], "constant")
        if isinstance(shape.get("enum"), list) and shape["enum"]:
            return _choice(base, _enumerated(shape), _picking(hints))
        branches = alternatives(shape, self.root)
        if branches:
            return self._union(base, shape, spot, branches)
        kinds = kinds_of(shape)
        if len(kinds) > 1:
            return self._kinds(base, shape, spot, kinds)
        return self._plain(base, shape, spot, kinds[0] if kinds else "")

    def _plain(self, base: Field, shape: Shape, spot: Spot, kind: str) -> Field:
        hints = base.hints
        wanted = str(hints.get("widget", ""))
        form = str(shape.get("format", ""))
        picks = hints.get("entity") or hints.get("options") or shape.get("x-entity-type")
        if kind == "object":
            return object_field(self, base, shape, spot)
        if kind == "array":
            return self._list(base, shape, spot)
        if kind == "boolean":
            return replace(base, widget="boolean")
        if kind in ("integer", "number"):
            return replace(base, widget="slider" if wanted == "slider" else "number")
        if kind == "null":
            return _choice(base, [(None, "No value")], "choice")
        if kind != "string":
            return base
        if picks or wanted == "picker":
            return replace(base, widget="picker")
        if wanted in ("file", "image") or form in _FILES:
            return replace(base, widget="image" if "image" in (wanted, form) else "file")
        if wanted in _TEXTS:
            return replace(base, widget=wanted)
        return replace(base, widget=form if form in _MOMENTS else "text")

    def _list(self, base: Field, shape: Shape, spot: Spot) -> Field:
        items, first = shape.get("items", True), shape.get("prefixItems")
        if isinstance(items, list):
            first, items = items, shape.get("additionalItems", True)
        fixed = first if isinstance(first, list) else []
        least = shape.get("minItems", 0)
        needed = least if isinstance(least, int) else 0
        inner = partial(spot.inner, refs=spot.refs)
        most = shape.get("maxItems")
        made = ListField(
            **_as_given(base),
            first=tuple(
                self.later(one, inner(str(at), required=at < needed, label=_item_label(one, at)))
                for at, one in enumerate(fixed)
            ),
            item=None if items is False else self.later(items, inner("*", row=True, label="")),
            least=needed if not fixed else 0,
            most=most if isinstance(most, int) else None,
        )
        return replace(made, widget=self._list_widget(made, shape))

    def _list_widget(self, made: ListField, shape: Shape) -> str:
        hints = made.hints
        inner = shape_of(shape.get("items"), self.root)[0]
        picks = (
            hints.get("entity")
            or hints.get("options")
            or shape.get("x-entity-type")
            or inner.get("x-entity-type")
        )
        several = hints.get("multiple") or "multiple" in (
            shape.get("x-entity-select"),
            inner.get("x-entity-select"),
        )
        if made.first or not made.item:
            return "rows"
        if picks and several:
            return "pickers"
        if hints.get("widget") in ("file", "image") or inner.get("format") in _FILES:
            return "images" if "image" in (hints.get("widget"), inner.get("format")) else "files"
        if shape.get("uniqueItems") is True or hints.get("widget") == "checkboxes":
            return "checkboxes" if isinstance(made.item(), ChoiceField) else "rows"
        return "rows"

    def _union(self, base: Field, shape: Shape, spot: Spot, branches: list[tuple[Any, Shape]]) -> Field:
        options = _constants(branches)
        if options is not None:
            return _choice(base, options, _picking(base.hints))
        if _is_decimal([one for _, one in branches]):
            return replace(base, widget="exact")
        if isinstance(shape.get("properties"), Mapping) or "type" in shape:
            branches = [(written, merged_with(shape, one)) for written, one in branches]
        made = [self._branch(written, one, spot, at) for at, (written, one) in enumerate(branches)]
        return UnionField(**_as_given(base, "union"), branches=tuple(made))

    def _kinds(self, base: Field, shape: Shape, spot: Spot, kinds: list[str]) -> Field:
        if len(kinds) >= _ALL_KINDS:
            return base
        bare = {key: value for key, value in shape.items() if key not in ("title", "description", "default")}
        made = [self._branch({}, {**bare, "type": kind}, spot, at) for at, kind in enumerate(kinds)]
        return UnionField(**_as_given(base, "union"), branches=tuple(made))

    def _branch(self, written: Any, shape: Shape, spot: Spot, at: int) -> Branch:
        label = _branch_label(written, shape, at)
        own = replace(spot, label=label, depth=spot.depth + 1, top=False)
        met = shape_of(written, self.root)[1]
        compiled = Later(lambda: self._branch_field(shape, replace(own, refs=spot.refs | met)))
        return Branch(label, compiled, lambda value: likeness(shape, self.root, value))

    def _branch_field(self, shape: Shape, spot: Spot) -> Field:
        """A branch stands where its union stands: what is a hint of the union is none of its own."""
        made = self.field(shape, spot)
        return replace(made, nullable=False, demand=False, operator_only=False)


def _as_given(base: Field, widget: str | None = None) -> dict[str, Any]:
    given = {name: getattr(base, name) for name in Field.__slots__}
    return given if widget is None else {**given, "widget": widget}


def _choice(base: Field, options: list[tuple[Any, str]], widget: str) -> Field:
    return ChoiceField(**_as_given(base, widget), options=tuple(options))


def _picking(hints: Mapping[str, Any]) -> str:
    return "radio" if hints.get("widget") == "radio" else "choice"


def _enumerated(shape: Shape) -> list[tuple[Any, str]]:
    values = shape["enum"]
    titles = next((shape[name] for name in _NAMES if name in shape), None)
    if isinstance(titles, Mapping):
        return [(value, str(titles.get(str(value), _title(value)))) for value in values]
    if isinstance(titles, list) and len(titles) == len(values):
        return [(value, str(title)) for value, title in zip(values, titles, strict=True)]
    return [(value, _title(value)) for value in values]


def _title(value: Any) -> str:
    if isinstance(value, dict):
        named = value.get("title") or value.get("name") or value.get("label")
        return str(named) if named else str(value)
    spoken = {True: "Yes", False: "No", None: "No value"}
    return spoken[value] if value is None or isinstance(value, bool) else str(value) or "(empty)"


def _constants(branches: list[tuple[Any, Shape]]) -> list[tuple[Any, str]] | None:
    """The options of a choice whose every branch is one value or a list of them."""
    options: list[tuple[Any, str]] = []
    for _, shape in branches:
        if "const" in shape:
            options.append((shape["const"], str(shape.get("title") or _title(shape["const"]))))
        elif isinstance(shape.get("enum"), list) and len(shape["enum"]) == 1:
            options.append((shape["enum"][0], str(shape.get("title") or _title(shape["enum"][0]))))
        elif isinstance(shape.get("enum"), list):
            options += _enumerated(shape)
        else:
            return None
    return options


def _is_decimal(shapes: list[Shape]) -> bool:
    """Whether a number may also come as the text of one, as pydantic writes a Decimal."""
    kinds = [shape.get("type") for shape in shapes]
    texts = [shape for shape in shapes if shape.get("type") == "string"]
    numeric = [kind for kind in kinds if kind in ("number", "integer")]
    return bool(
        len(texts) == 1
        and len(numeric) == len(kinds) - 1 == 1
        and r"\d" in str(texts[0].get("pattern", ""))
        and str(texts[0].get("pattern", "")).startswith("^")
    )


def _label(spot: Spot, shape: Shape, hints: Mapping[str, Any]) -> str:
    said = hints.get("label") or (None if spot.label and not spot.row else shape.get("title"))
    if said:
        return str(said)
    return spot.label if spot.label is not None else sentence(spot.name)


def sentence(name: str) -> str:
    """A name as the words of a label: `yearlyBenefit` is Yearly benefit; an abbreviation stays one."""
    parts = [word if word.isupper() and len(word) > 1 else word.lower() for word in words(name)]
    text = " ".join(parts)
    return text[:1].upper() + text[1:] if text else name


def _item_label(node: Any, at: int) -> str:
    title = node.get("title") if isinstance(node, Mapping) else None
    return str(title) if title else f"Entry {at + 1}"


_KIND_WORDS = {
    "string": "Text",
    "integer": "Whole number",
    "number": "Number",
    "boolean": "Yes or no",
    "array": "List",
    "object": "Object",
    "null": "No value",
}


def _branch_label(written: Any, shape: Shape, at: int) -> str:
    if shape.get("title"):
        return str(shape["title"])
    for part in (shape.get("properties") or {}).values():
        if isinstance(part, Mapping) and isinstance(part.get("const"), str):
            return sentence(part["const"]) or str(part["const"])
    ref = written.get("$ref") if isinstance(written, Mapping) else None
    if isinstance(ref, str) and ref != "#":
        return sentence(ref.rsplit("/", 1)[-1])
    kinds = kinds_of(shape)
    if len(kinds) == 1 and kinds[0] != "object":
        return _KIND_WORDS.get(kinds[0], f"Kind {at + 1}")
    names = list(shape.get("properties") or {})
    return ", ".join(map(sentence, names[:3])) or f"Kind {at + 1}"


__all__ = ["MISSING", "Compiler", "Spot", "sentence"]
