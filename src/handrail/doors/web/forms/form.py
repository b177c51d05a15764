"""Forms: compiled once from a schema and its hints, drawn with any value, read back from any post."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import htpy as h
from markupsafe import Markup

from handrail.core.define.call import FieldError
from handrail.core.define.field_specs import form_spec_of
from handrail.core.define.schema import JsonSchema, digest_of
from handrail.core.define.sections import FormSpec
from handrail.core.define.tool import Tool
from handrail.doors.web.forms.compile import Compiler, Spot
from handrail.doors.web.forms.field import MISSING, Field, ToolFormMode
from handrail.doors.web.forms.initial import initial
from handrail.doors.web.forms.options import NO_OPTIONS, Options
from handrail.doors.web.forms.pen import Moulds, Pen, button
from handrail.doors.web.forms.place import Place
from handrail.doors.web.forms.post import Post, Upload
from handrail.doors.web.forms.pruning import has_conditions, picked_types, pruned
from handrail.doors.web.forms.registry import draw_field, read_field
from handrail.doors.web.forms.summary import summary
from handrail.doors.web.forms.widgets import all as _all_widgets

_MOST = 2_000
_ROOT = frozenset({"#"})
_PLAIN_SEND = Markup('<button type="submit" hidden tabindex="-1"></button>')
"""Enter presses the first button of a form, which must not be one that changes the form."""
_forms: dict[tuple[str, str, frozenset[str], str], Form] = {}


@dataclass(frozen=True, slots=True)
class Read:
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

    __slots__ = ("_conditional", "_moulds", "_root", "mode", "types")

    def __init__(self, root: Field, mode: ToolFormMode, types: tuple[str, ...], conditional: bool) -> None:
        self._root = root
        self.mode = mode
        self.types = types
        """The types of things that its pickers pick from, for `load_options`."""
        self._conditional = conditional
        self._moulds: Moulds = {}

    @property
    def field(self) -> Field:
        return self._root

    def first_value(self) -> Any:
        """What the form holds when it is first shown, or MISSING."""
        return initial(self._root)

    def draw(
        self,
        value: Any = MISSING,
        errors: Iterable[FieldError] = (),
        *,
        id: str = "f",
        options: Options | None = None,
    ) -> h.Node:
        """The fields, without a `<form>` and without a button to send it.

        Defaults fill in only when there is no value at all: a value is shown as it is.
        """
        shown = self.first_value() if value is MISSING else self.allowed(value)
        pen = Pen(id, errors, options or NO_OPTIONS, self.mode, shown, self._moulds)
        drawn = draw_field(self._root, pen, Place(still=True), shown)
        again = h.noscript[button("refresh", "", "Show the fields that go with these answers")]
        return h.div(".form", id=f"{id}:form")[
            _PLAIN_SEND, summary(pen, self._root), drawn, again if self._conditional else None
        ]

    def read(self, posted: Iterable[tuple[str, str | Upload]]) -> Read:
        """What was filled in."""
        post = Post(posted, self.mode)
        value = read_field(self._root, post, Place())
        if post.do and post.done is None:
            post.done = post.do.partition(":")[0]
        if value is MISSING and self._root.widget == "object":
            value = {}
        return Read(self.allowed(value), tuple(post.errors), post.done, tuple(post.kept))

    def allowed(self, value: Any) -> Any:
        """A value without what this mode does not take: operators' fields in an embed."""
        return pruned(self._root, value) if self.mode == "embed" else value


def compile_form(
    schema: JsonSchema,
    spec: FormSpec | None = None,
    *,
    secrets: frozenset[str] = frozenset(),
    mode: ToolFormMode = "internal",
) -> Form:
    """The form of a schema."""
    spec = spec or FormSpec()
    root = Compiler(schema, spec, secrets, mode).field(schema, Spot(top=True, refs=_ROOT, label=""))
    return Form(root, mode, picked_types(schema, spec), has_conditions(schema, spec))


def form_of(tool: Tool, mode: ToolFormMode = "internal") -> Form:
    """The form of a tool, compiled once: by the spec registered for it, its own, or its schema alone."""
    spec = form_spec_of(f"tool:{tool.slug}") or tool.form
    key = (tool.digest or digest_of(tool.input_schema), spec.digest if spec else "", tool.secrets, mode)
    known = _forms.get(key)
    if known is None:
        known = compile_form(tool.input_schema, spec, secrets=tool.secrets, mode=mode)
        while len(_forms) >= _MOST:
            _forms.pop(next(iter(_forms)), None)
        _forms[key] = known
    return known


def widgets() -> Iterator[str]:
    """The families of widgets that are there."""
    yield from _all_widgets.__all__
