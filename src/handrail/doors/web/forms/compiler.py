"""From a JSON Schema and its hints to a tree of fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from handrail.core.define.names import words
from handrail.core.define.schema import JsonSchema
from handrail.core.define.ui_specs import FormGroup, FormSpec
from handrail.doors.web.forms.conditions import condition_from_hint, condition_from_schemas
from handrail.doors.web.forms.control_names import escape_step
from handrail.doors.web.forms.fields import (
    MISSING,
    ChoiceField,
    FieldGroup,
    FormField,
    LazyField,
    ListField,
    ObjectField,
    ObjectProperty,
    ToolFormMode,
    UnionBranch,
    UnionField,
    VisibilityCondition,
)
from handrail.doors.web.forms.json_schema import (
    ResolvedSchema,
    branches_of,
    conditional_properties,
    is_null,
    match_score,
    merge_branch,
    resolve_schema,
    types_of,
)

_MAX_DEPTH = 24
_ENUM_TITLES = ("enumNames", "x-enumNames", "x-enum-names", "x-enum-titles", "x-enum-varnames")
_FILES = frozenset({"data-url", "file", "image"})
_DATE_FORMATS = frozenset({"date", "time", "date-time"})
_TEXTS = frozenset({"textarea", "text"})
_ALL_TYPES = 6
_WORDS = ("title", "description")


@dataclass(frozen=True, slots=True)
class SchemaPosition:
    """Where in a schema a field is compiled, and what is known of it from outside."""

    name: str = ""
    path: tuple[str, ...] = ()
    required: bool = False
    row: bool = False
    top: bool = False
    refs: frozenset[str] = frozenset()
    depth: int = 0
    label: str | None = None

    def inner(self, name: str, refs: frozenset[str], **more: Any) -> SchemaPosition:
        return SchemaPosition(name=name, path=(*self.path, name), refs=refs, depth=self.depth + 1, **more)


class FormCompiler:
    """One compilation."""

    def __init__(self, root: JsonSchema, spec: FormSpec, secrets: frozenset[str], mode: ToolFormMode) -> None:
        self.root = root
        self.spec = spec
        self.secrets = secrets
        self.mode = mode

    def lazy_field(self, node: Any, position: SchemaPosition) -> LazyField:
        return cache(partial(self.field, node, position))

    def field(self, node: Any, position: SchemaPosition) -> FormField:
        """The field for a schema at a spot."""
        schema, met = resolve_schema(node, self.root)
        hints = self.hints(position.path)
        default = schema.get("default", MISSING)
        schema, nullable, met = self._without_null(schema, met)
        base = FormField(
            widget="json",
            label=_label(position, schema, hints),
            help=str(hints.get("help") or schema.get("description") or ""),
            schema=schema,
            hints=hints,
            required=position.required,
            nullable=nullable,
            row=position.row,
            top=position.top,
            demand=bool(met & position.refs),
            operator_only=bool(hints.get("operator_only") or schema.get("x-operator-only")),
            readonly=schema.get("readOnly") is True,
            default=default,
        )
        if position.depth > _MAX_DEPTH or hints.get("widget") == "json":
            return base
        return self._shaped(base, schema, replace(position, refs=position.refs | met))

    def hints(self, path: tuple[str, ...]) -> Mapping[str, Any]:
        return self.spec.hints.get(".".join(path), {}) if self.spec.hints else {}

    def is_secret(self, schema: ResolvedSchema, position: SchemaPosition, hints: Mapping[str, Any]) -> bool:
        marked = (
            schema.get("format") == "password"
            or schema.get("writeOnly") is True
            or schema.get("x-secret") is True
        )
        return marked or bool(hints.get("secret")) or ".".join(position.path) in self.secrets

    def _without_null(
        self, schema: ResolvedSchema, met: frozenset[str]
    ) -> tuple[ResolvedSchema, bool, frozenset[str]]:
        """A shape without null among what it takes, and whether it takes null."""
        nullable = schema.get("nullable") is True
        kinds = schema.get("type")
        if isinstance(kinds, list) and "null" in kinds and len(kinds) > 1:
            others = [kind for kind in kinds if kind != "null"]
            schema, nullable = {**schema, "type": others[0] if len(others) == 1 else others}, True
        for key in ("anyOf", "oneOf"):
            written = schema.get(key)
            if not isinstance(written, list):
                continue
            branches = [branch for branch in written if not is_null(resolve_schema(branch, self.root)[0])]
            if len(branches) < len(written):
                schema, nullable = {**schema, key: branches}, True
            if len(branches) == 1:
                inner, inner_met = resolve_schema(branches[0], self.root)
                own: ResolvedSchema = {name: schema[name] for name in _WORDS if name in schema}
                merged: ResolvedSchema = {**merge_branch(schema, inner), **own}
                schema, is_inner_nullable, met = self._without_null(merged, met | inner_met)
                return schema, nullable or is_inner_nullable, met
        return schema, nullable, met

    def _shaped(self, base: FormField, schema: ResolvedSchema, position: SchemaPosition) -> FormField:
        kinds = types_of(schema)
        if self.is_secret(schema, position, base.hints) and "object" not in kinds:
            return replace(base, widget="secret")
        if "const" in schema:
            return _choice(base, [(schema["const"], _title(schema["const"]))], "constant")
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return _choice(base, _enumerated(schema))
        branches = branches_of(schema, self.root)
        if branches:
            return self._union(base, schema, position, branches)
        if len(kinds) > 1:
            return self._kinds(base, schema, position, kinds)
        return self._plain(base, schema, position, kinds[0] if kinds else "")

    def _plain(
        self, base: FormField, schema: ResolvedSchema, position: SchemaPosition, kind: str
    ) -> FormField:
        hints = base.hints
        hinted = str(hints.get("widget", ""))
        form = str(schema.get("format", ""))
        picks = hints.get("entity") or hints.get("options") or schema.get("x-entity-type")
        if kind == "object":
            return object_field(self, base, schema, position)
        if kind == "array":
            return self._list(base, schema, position)
        if kind == "boolean":
            return replace(base, widget="boolean")
        if kind in ("integer", "number"):
            return replace(base, widget="slider" if hinted == "slider" else "number")
        if kind == "null":
            return _choice(base, [(None, "No value")], "choice")
        if kind != "string":
            return base
        if picks or hinted == "picker":
            return replace(base, widget="picker")
        if hinted in ("file", "image") or form in _FILES:
            return replace(base, widget="image" if "image" in (hinted, form) else "file")
        if hinted in _TEXTS:
            return replace(base, widget=hinted)
        return replace(base, widget=form if form in _DATE_FORMATS else "text")

    def _list(self, base: FormField, schema: ResolvedSchema, position: SchemaPosition) -> FormField:
        items, first = schema.get("items", True), schema.get("prefixItems")
        if isinstance(items, list):
            first, items = items, schema.get("additionalItems", True)
        fixed = first if isinstance(first, list) else []
        least = schema.get("minItems", 0)
        needed = least if isinstance(least, int) else 0
        inner = partial(position.inner, refs=position.refs)
        most = schema.get("maxItems")
        field = ListField(
            **_field_arguments(base),
            first=tuple(
                self.lazy_field(node, inner(str(at), required=at < needed, label=_item_label(node, at)))
                for at, node in enumerate(fixed)
            ),
            item=None if items is False else self.lazy_field(items, inner("*", row=True, label="")),
            least=needed if not fixed else 0,
            most=most if isinstance(most, int) else None,
        )
        return replace(field, widget=self._list_widget(field, schema))

    def _list_widget(self, field: ListField, schema: ResolvedSchema) -> str:
        if field.first or not field.item:
            return "rows"
        hints, hinted = field.hints, field.hints.get("widget")
        inner = resolve_schema(schema.get("items"), self.root)[0]
        types = [
            hints.get("entity"),
            hints.get("options"),
            *(part.get("x-entity-type") for part in (schema, inner)),
        ]
        modes = [part.get("x-entity-select") for part in (schema, inner)]
        if any(types) and (hints.get("multiple") or "multiple" in modes):
            return "pickers"
        if hinted in ("file", "image") or inner.get("format") in _FILES:
            return "images" if "image" in (hinted, inner.get("format")) else "files"
        is_choice = schema.get("uniqueItems") is True or hinted == "checkboxes"
        return "checkboxes" if is_choice and isinstance(field.item(), ChoiceField) else "rows"

    def _union(
        self,
        base: FormField,
        schema: ResolvedSchema,
        position: SchemaPosition,
        branches: list[tuple[Any, ResolvedSchema]],
    ) -> FormField:
        options = _constants(branches)
        if options is not None:
            return _choice(base, options)
        if _is_decimal([branch for _, branch in branches]):
            return replace(base, widget="exact")
        if isinstance(schema.get("properties"), Mapping) or "type" in schema:
            branches = [(written, merge_branch(schema, branch)) for written, branch in branches]
        return self._union_of(base, branches, position)

    def _kinds(
        self, base: FormField, schema: ResolvedSchema, position: SchemaPosition, kinds: list[str]
    ) -> FormField:
        if len(kinds) >= _ALL_TYPES:
            return base
        bare = {key: value for key, value in schema.items() if key not in ("title", "description", "default")}
        return self._union_of(base, [({}, {**bare, "type": kind}) for kind in kinds], position)

    def _union_of(
        self, base: FormField, branches: Sequence[tuple[Any, ResolvedSchema]], position: SchemaPosition
    ) -> FormField:
        compiled = [self._branch(*branch, position, at) for at, branch in enumerate(branches)]
        return UnionField(**_field_arguments(base, widget="union"), branches=tuple(compiled))

    def _branch(self, written: Any, schema: ResolvedSchema, position: SchemaPosition, at: int) -> UnionBranch:
        label = _branch_label(written, schema, at)
        own = replace(position, label=label, depth=position.depth + 1, top=False)
        met = resolve_schema(written, self.root)[1]
        compiled = cache(lambda: self._branch_field(schema, replace(own, refs=position.refs | met)))
        return UnionBranch(label, compiled, lambda value: match_score(schema, self.root, value))

    def _branch_field(self, schema: ResolvedSchema, position: SchemaPosition) -> FormField:
        """A branch stands where its union stands: what is a hint of the union is none of its own."""
        return replace(self.field(schema, position), nullable=False, demand=False, operator_only=False)


def _field_arguments(base: FormField, **changes: Any) -> dict[str, Any]:
    return {name: getattr(base, name) for name in FormField.__slots__} | changes


def _choice(base: FormField, options: list[tuple[Any, str]], widget: str | None = None) -> FormField:
    usual = "radio" if base.hints.get("widget") == "radio" else "choice"
    return ChoiceField(**_field_arguments(base, widget=widget or usual), options=tuple(options))


def _enumerated(schema: ResolvedSchema) -> list[tuple[Any, str]]:
    values = schema["enum"]
    titles = next((schema[name] for name in _ENUM_TITLES if name in schema), None)
    if isinstance(titles, Mapping):
        return [(value, str(titles.get(str(value), _title(value)))) for value in values]
    if isinstance(titles, list) and len(titles) == len(values):
        return [(value, str(title)) for value, title in zip(values, titles, strict=True)]
    return [(value, _title(value)) for value in values]


def _title(value: Any) -> str:
    if isinstance(value, dict):
        named = value.get("title") or value.get("name") or value.get("label")
        return str(named) if named else str(value)
    if value is None:
        return "No value"
    return ("Yes" if value else "No") if isinstance(value, bool) else str(value) or "(empty)"


def _constants(branches: list[tuple[Any, ResolvedSchema]]) -> list[tuple[Any, str]] | None:
    """The options of a choice whose every branch is one value or a list of them."""
    options: list[tuple[Any, str]] = []
    for _, schema in branches:
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if not isinstance(values, list):
            return None
        if len(values) == 1:
            options.append((values[0], str(schema.get("title") or _title(values[0]))))
        else:
            options += _enumerated(schema)
    return options


def _is_decimal(shapes: list[ResolvedSchema]) -> bool:
    """Whether a number may also come as the text of one, as pydantic writes a Decimal."""
    kinds = [schema.get("type") for schema in shapes]
    if len(kinds) != 2 or "string" not in kinds or not {"number", "integer"} & {*map(str, kinds)}:
        return False
    pattern = str(shapes[kinds.index("string")].get("pattern", ""))
    return r"\d" in pattern and pattern.startswith("^")


def _label(position: SchemaPosition, schema: ResolvedSchema, hints: Mapping[str, Any]) -> str:
    title = hints.get("label") or (None if position.label and not position.row else schema.get("title"))
    if title:
        return str(title)
    return position.label if position.label is not None else label_from_name(position.name)


def label_from_name(name: str) -> str:
    """A name as the words of a label: `yearlyBenefit` is Yearly benefit; an abbreviation stays one."""
    parts = [word if word.isupper() and len(word) > 1 else word.lower() for word in words(name)]
    text = " ".join(parts)
    return text[:1].upper() + text[1:] if text else name


def _item_label(node: Any, at: int) -> str:
    title = node.get("title") if isinstance(node, Mapping) else None
    return str(title) if title else f"Entry {at + 1}"


_TYPE_LABELS = {
    "string": "Text",
    "integer": "Whole number",
    "number": "Number",
    "boolean": "Yes or no",
    "array": "List",
    "object": "Object",
    "null": "No value",
}


def _branch_label(written: Any, schema: ResolvedSchema, at: int) -> str:
    if schema.get("title"):
        return str(schema["title"])
    for part in (schema.get("properties") or {}).values():
        if isinstance(part, Mapping) and isinstance(part.get("const"), str):
            return label_from_name(part["const"]) or str(part["const"])
    ref = written.get("$ref") if isinstance(written, Mapping) else None
    if isinstance(ref, str) and ref != "#":
        return label_from_name(ref.rsplit("/", 1)[-1])
    kinds = types_of(schema)
    if len(kinds) == 1 and kinds[0] != "object":
        return _TYPE_LABELS.get(kinds[0], f"Kind {at + 1}")
    names = list(schema.get("properties") or {})
    return ", ".join(map(label_from_name, names[:3])) or f"Kind {at + 1}"


def object_field(
    compiler: FormCompiler, base: FormField, schema: ResolvedSchema, position: SchemaPosition
) -> FormField:
    """The field of an object."""
    every = _children(compiler, schema, position)
    hidden = frozenset(child.name for child in every if child.operator_only and compiler.mode == "embed")
    children = tuple(child for child in every if child.name not in hidden)
    names = compiler.spec.order if position.top else base.hints.get("order", ())
    ordered = _in_order(tuple(child for child in children if not child.operator_only), names)
    further = schema.get("additionalProperties")
    patterns = schema.get("patternProperties")
    grows = further is True or isinstance(further, Mapping) or bool(patterns)
    demand = (base.demand or base.nullable) and not position.top
    return ObjectField(
        **_field_arguments(base, widget="object", demand=demand),
        children=children,
        groups=_groups(compiler, ordered, position),
        additional=tuple(child for child in children if child.operator_only),
        additional_title=compiler.spec.additional_title,
        additional_class=compiler.spec.additional_class,
        rest=_additional_field(
            compiler, position, further, patterns if isinstance(patterns, Mapping) else {}
        ),
        grows=grows,
        names=frozenset(child.name for child in every),
        hidden=hidden,
    )


def _children(
    compiler: FormCompiler, schema: ResolvedSchema, position: SchemaPosition
) -> tuple[ObjectProperty, ...]:
    properties, required = schema.get("properties"), schema.get("required")
    nodes: dict[str, Any] = dict(properties) if isinstance(properties, Mapping) else {}
    required_names = required if isinstance(required, list) else []
    tests: dict[str, list[Any]] = {}
    variants: dict[str, list[Any]] = {}
    for name, node, test in conditional_properties(schema, compiler.root):
        if name not in nodes:
            tests.setdefault(name, []).append(test)
            different = variants.setdefault(name, [])
            different += [node] if node not in different else []
    for name, different in variants.items():
        nodes[name] = different[0] if len(different) == 1 else {"anyOf": different}
    return tuple(
        _child(compiler, name, node, position, name in required_names, tests.get(name))
        for name, node in nodes.items()
    )


def _child(
    compiler: FormCompiler,
    name: str,
    node: Any,
    position: SchemaPosition,
    required: bool,
    tests: list[Any] | None,
) -> ObjectProperty:
    inner = position.inner(name, position.refs, required=required)
    hints = compiler.hints(inner.path)
    schema = resolve_schema(node, compiler.root)[0]
    when: VisibilityCondition | None = None
    if hints.get("visible_when") is not None:
        when = condition_from_hint(hints["visible_when"], ".".join(inner.path))
    elif tests:
        when = condition_from_schemas(tests, compiler.root)
    return ObjectProperty(
        name=name,
        step=escape_step(name),
        lazy_field=compiler.lazy_field(node, inner),
        operator_only=bool(hints.get("operator_only") or schema.get("x-operator-only")),
        when=when,
    )


def _in_order(children: tuple[ObjectProperty, ...], names: Sequence[str]) -> tuple[ObjectProperty, ...]:
    by_name = {child.name: child for child in children}
    first = [by_name.pop(name) for name in names if name in by_name]
    return (*first, *by_name.values())


def _groups(
    compiler: FormCompiler, children: tuple[ObjectProperty, ...], position: SchemaPosition
) -> tuple[FieldGroup, ...]:
    """Fields without a group come first, then the groups in their order."""
    spec = compiler.spec
    groups: dict[str, FormGroup] = {group.title: group for group in spec.groups} if position.top else {}
    belongs = {name: group.title for group in groups.values() for name in group.fields}
    members: dict[str, list[ObjectProperty]] = {"": [], **{title: [] for title in groups}}
    for child in children:
        title = belongs.get(child.name) or str(compiler.hints((*position.path, child.name)).get("group", ""))
        members.setdefault(title, []).append(child)
    field_groups: list[FieldGroup] = []
    for title, inside in members.items():
        group = groups.get(title) or FormGroup(title, ())
        if inside:
            ordered = _in_order(tuple(inside), group.fields)
            field_groups.append(FieldGroup(title, ordered, group.help, group.closed))
    return tuple(field_groups)


def _additional_field(
    compiler: FormCompiler, position: SchemaPosition, further: Any, patterns: Mapping[str, Any]
) -> Callable[[str], FormField]:
    """The field of a further value by its name: what a pattern says, what holds for all, or anything."""
    inner = position.inner("*", position.refs, row=True)
    usual = compiler.lazy_field(further if isinstance(further, Mapping) else {}, inner)
    matched = [(_pattern(text), compiler.lazy_field(node, inner)) for text, node in patterns.items()]

    def rest(name: str) -> FormField:
        for pattern, lazy_field in matched:
            if pattern is not None and pattern.search(name):
                return lazy_field()
        return matched[0][1]() if matched and not name else usual()

    return rest


def _pattern(text: str) -> re.Pattern[str] | None:
    try:
        return re.compile(text)
    except re.error:
        return None
