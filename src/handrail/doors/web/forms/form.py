"""Form: compiled once from a schema and its hints, rendered with any value, read back from any post."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import htpy as h
from markupsafe import Markup

from handrail.core.define.call import FieldError
from handrail.core.define.schema import JsonSchema, digest_of, objects_in
from handrail.core.define.tool import Tool
from handrail.core.define.ui_specs import FormSpec
from handrail.core.present.forms import form_spec_of
from handrail.doors.web.forms import fields
from handrail.doors.web.forms.compiler import FormCompiler, SchemaPosition
from handrail.doors.web.forms.control_names import FieldLocation
from handrail.doors.web.forms.defaults import initial_value
from handrail.doors.web.forms.options import NO_OPTIONS, PickerOptions
from handrail.doors.web.forms.post import FormPost, Upload
from handrail.doors.web.forms.render import RenderContext, TemplateCache, error_summary, form_button
from handrail.doors.web.forms.widget_registry import read_field, register_widget, render_field
from handrail.doors.web.forms.widgets import BUILTIN_WIDGETS

for _name, _widget in BUILTIN_WIDGETS.items():
    register_widget(_name, _widget)

_CONDITION_KEYWORDS = ("if", "dependencies", "dependentSchemas")


def picker_types(schema: JsonSchema, spec: FormSpec) -> tuple[str, ...]:
    """The types of things that the pickers of a form pick from."""
    types = [node.get("x-entity-type") for node in objects_in(schema)]
    types += [hints.get(key) for hints in spec.hints.values() for key in ("entity", "options")]
    return tuple(dict.fromkeys(type for type in types if isinstance(type, str)))


def has_conditions(schema: JsonSchema, spec: FormSpec) -> bool:
    """Whether some field is shown only at times."""
    hinted = any("visible_when" in hints for hints in spec.hints.values())
    return hinted or any(key in node for node in objects_in(schema) for key in _CONDITION_KEYWORDS)


def without_hidden_fields(field: fields.FormField, value: Any) -> Any:
    """A value without operators' fields, however they came into it."""
    if isinstance(field, fields.ObjectField) and isinstance(value, dict):
        children = {child.name: child.lazy_field for child in field.children}
        values = {
            name: without_hidden_fields(children[name]() if name in children else field.rest(name), part)
            for name, part in value.items()
            if name not in field.hidden
        }
        return fields.ChosenObject.of(values, value.at) if isinstance(value, fields.ChosenObject) else values
    if isinstance(field, fields.ListField) and isinstance(value, list):
        items = value if isinstance(value, fields.ListRows) else value.copy()
        for at, part in enumerate(items):
            lazy_field = field.first[at] if at < len(field.first) else field.item
            if lazy_field is not None:
                items[at] = without_hidden_fields(lazy_field(), part)
        return items
    if isinstance(field, fields.UnionField):
        for branch in field.branches:
            value = without_hidden_fields(branch.lazy_field(), value)
    return value


_MAX_FORMS = 2_000
_ROOT = frozenset({"#"})

_HIDDEN_SUBMIT = Markup('<button type="submit" hidden tabindex="-1"></button>')
"""Enter presses the first button of a form, which must not be one that changes the form."""
_forms: dict[tuple[str, str, frozenset[str], str], Form] = {}


@dataclass(frozen=True, slots=True)
class ParsedForm:
    """What a post said."""

    value: Any
    """The value; what could not be read stands in it as it was typed."""
    errors: tuple[FieldError, ...] = ()
    """What could not be read, each at its field."""
    done: str | None = None
    """What a button did to the form (`add`, `remove`, `up`, `down`, `choose`, `refresh`): draw it again."""
    kept: tuple[str, ...] = ()
    """Where a secret was left as it is: the value holds its mask, and the original has to be put back."""

    @property
    def ok(self) -> bool:
        """Whether the value is to be used, rather than drawn again."""
        return not self.errors and self.done is None


class Form:
    """The fields of one schema. It has no state: any number of drawings and posts go through it."""

    __slots__ = ("_conditional", "_root", "_templates", "mode", "types")

    def __init__(
        self, root: fields.FormField, mode: fields.ToolFormMode, types: tuple[str, ...], conditional: bool
    ) -> None:
        self._root = root
        self.mode = mode
        self.types = types
        """The types of things that its pickers pick from, for `load_options`."""
        self._conditional = conditional
        self._templates: TemplateCache = {}

    @property
    def field(self) -> fields.FormField:
        return self._root

    def first_value(self) -> Any:
        """What the form holds when it is first shown, or MISSING."""
        return initial_value(self._root)

    def render(
        self,
        value: Any = fields.MISSING,
        errors: Iterable[FieldError] = (),
        *,
        id: str = "f",
        options: PickerOptions | None = None,
    ) -> h.Node:
        """The fields, without a `<form>` and without a button to send it.

        Defaults fill in only when there is no value at all: a value is shown as it is.
        """
        shown = self.first_value() if value is fields.MISSING else self.allowed(value)
        ctx = RenderContext(id, errors, options or NO_OPTIONS, self.mode, shown, self._templates)
        drawn = render_field(self._root, ctx, FieldLocation(still=True), shown)
        refresh = h.noscript[form_button("refresh", "", "Show the fields that go with these answers")]
        return h.div(".form", id=f"{id}:form")[
            _HIDDEN_SUBMIT, error_summary(ctx, self._root), drawn, refresh if self._conditional else None
        ]

    def read(self, posted: Iterable[tuple[str, str | Upload]]) -> ParsedForm:
        """What was filled in."""
        post = FormPost(posted, self.mode)
        value = read_field(self._root, post, FieldLocation())
        if post.do and post.done is None:
            post.done = post.do.partition(":")[0]
        if value is fields.MISSING and self._root.widget == "object":
            value = {}
        return ParsedForm(self.allowed(value), tuple(post.errors), post.done, tuple(post.kept))

    def allowed(self, value: Any) -> Any:
        """A value without what this mode does not take: operators' fields in an embed."""
        return without_hidden_fields(self._root, value) if self.mode == "embed" else value


def compile_form(
    schema: JsonSchema,
    spec: FormSpec | None = None,
    *,
    secrets: frozenset[str] = frozenset(),
    mode: fields.ToolFormMode = "internal",
) -> Form:
    """The form of a schema."""
    spec = spec or FormSpec()
    root = FormCompiler(schema, spec, secrets, mode).field(
        schema, SchemaPosition(top=True, refs=_ROOT, label="")
    )
    return Form(root, mode, picker_types(schema, spec), has_conditions(schema, spec))


def form_of(tool: Tool, mode: fields.ToolFormMode = "internal") -> Form:
    """The form of a tool, compiled once: by the spec registered for it, its own, or its schema alone."""
    spec = form_spec_of(f"tool:{tool.slug}") or tool.form
    key = (tool.digest or digest_of(tool.input_schema), spec.digest if spec else "", tool.secrets, mode)
    form = _forms.get(key)
    if form is None:
        form = compile_form(tool.input_schema, spec, secrets=tool.secrets, mode=mode)
        while len(_forms) >= _MAX_FORMS:
            _forms.pop(next(iter(_forms)), None)
        _forms[key] = form
    return form
