"""Forms: specs registered for a tool, options of entity pickers, fields for operators only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handrail.core.define.names import SLUG
from handrail.core.define.principal import Principal
from handrail.core.define.schema import resolve
from handrail.core.define.tool import Tool
from handrail.core.define.ui_specs import FormSpec

_form_specs: dict[str, FormSpec] = {}


def register_form_spec(key: str, spec: FormSpec) -> None:
    """Ask for the input of a tool as `spec` says: `register_form_spec("tool:roi-calculator", spec)`."""
    kind, _, slug = key.partition(":")
    if kind != "tool" or SLUG.match(slug) is None:
        raise ValueError(f"A form is registered for 'tool:<slug>', not for {key!r}")
    _form_specs[key] = spec


def form_spec_of(key: str) -> FormSpec | None:
    """The form spec that was registered under a key."""
    return _form_specs.get(key)


def forget_form_spec(key: str) -> None:
    """Take a registered form spec away again."""
    _form_specs.pop(key, None)


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to pick: what is sent, and what a person reads."""

    value: str
    label: str = ""

    def to_dict(self) -> dict[str, str]:
        return {"value": self.value, "label": self.label or self.value}


OptionSource = Callable[[Principal, str, int], Awaitable[Sequence[Option]]]
"""(who picks, what they typed, how many) -> things that this person may see, the best first."""
_option_sources: dict[str, OptionSource] = {}


def register_options(type: str, find: OptionSource) -> None:
    """Let pickers of an entity type choose from what `find` finds: `register_options("record", find)`."""
    if not type:
        raise ValueError("An entity type has a name, such as 'record'")
    _option_sources[type] = find


def option_source(type: str) -> OptionSource | None:
    """What finds things of a type, if anything does."""
    return _option_sources.get(type)


def forget_options(type: str) -> None:
    """Let pickers of a type take any text again."""
    _option_sources.pop(type, None)


OPERATOR_ONLY = "x-operator-only"
"""In a schema: this property is for operators. In a form, the hint `operator_only` says the same."""
_MAX_DEPTH = 12


def operator_paths(tool: Tool) -> tuple[str, ...]:
    """The paths of the fields that are for operators only: names with dots between, `*` for any item."""
    spec = form_spec_of(f"tool:{tool.slug}") or tool.form
    hinted: Mapping[str, Any] = {} if spec is None else spec.hints
    paths = {
        path for path, hints in hinted.items() if isinstance(hints, Mapping) and hints.get("operator_only")
    }
    return tuple(sorted(paths | set(_marked(tool.input_schema, "", _MAX_DEPTH, tool.input_schema))))


def without_operator_fields(tool: Tool, args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without what is for operators: the tool's defaults stand in its place."""
    values: Any = dict(args)
    for path in operator_paths(tool):
        values = _without(values, tuple(path.split(".")))
    return dict(values)


def unfilled_operator_fields(tool: Tool) -> list[str]:
    """Fields for operators that a call cannot be without: no visitor can make one."""
    needed = set(tool.input_schema.get("required", ()))
    return [path for path in operator_paths(tool) if path in needed]


def _marked(schema: Any, path: str, depth: int, root: Any) -> Iterator[str]:
    if not isinstance(schema, Mapping) or depth == 0:
        return
    schema = resolve(schema, root)
    if path and schema.get(OPERATOR_ONLY) is True:
        yield path
        return
    for name in ("anyOf", "oneOf", "allOf"):
        for part in schema.get(name, ()):
            yield from _marked(part, path, depth - 1, root)
    properties = schema.get("properties")
    for name, part in (properties if isinstance(properties, Mapping) else {}).items():
        yield from _marked(part, f"{path}.{name}" if path else str(name), depth - 1, root)
    yield from _marked(schema.get("items"), f"{path}.*" if path else "*", depth - 1, root)


def _without(value: Any, path: tuple[str, ...]) -> Any:
    head, rest = path[0], path[1:]
    if isinstance(value, Mapping):
        reached = list(value) if head == "*" else [head]
        if not rest:
            return {name: part for name, part in value.items() if name not in reached}
        return {name: _without(part, rest) if name in reached else part for name, part in value.items()}
    if isinstance(value, list) and head == "*":
        return [_without(item, rest) for item in value] if rest else []
    return value
