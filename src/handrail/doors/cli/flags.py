"""Flags: the parameters of a tool as options of a command line.

How the text after a flag is read follows from the schema alone, never from the text:

- `switch`: only a boolean fits, so the flag takes no value (`--x`, `--no-x`);
- `text`: text fits, so what is typed is the text, also when it looks like a number;
- `scalar`: numbers, booleans or null fit and text does not: `5` is the number;
- `many`: a list of those, one value for each time the flag is given;
- `json`: anything else.

`--x:=JSON` gives any flag any value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from handrail.core.define.names import slug_of
from handrail.core.define.schema import provider_schema, resolve
from handrail.core.define.tool import Tool
from handrail.core.guard.repair_shape import Shapes

Reading = Literal["switch", "text", "scalar", "many", "json"]
COMMAND_SWITCHES = frozenset("debug help json plan yes".split())
COMMAND_VALUE_OPTIONS = frozenset("args as session timeout tools".split())

COMMAND_OPTIONS = COMMAND_SWITCHES | COMMAND_VALUE_OPTIONS
"""Options of the command itself; a parameter of such a name is reached with `arg-` in front."""
MISSING = object()

_SHORT = 60
"""Characters of a value that stands in an example."""
_NAME = re.compile(r"[^\W_][\w.\-]*\Z")


@dataclass(frozen=True, slots=True)
class Flag:
    """One parameter on the command line."""

    param: str
    name: str
    """Its main spelling, without dashes."""
    others: tuple[str, ...]
    """Further spellings."""
    negative: str | None
    """What switches it off, where nothing else is called so."""
    reading: Reading
    values: AllowedValues
    """Of a `many` flag: the values of each item."""
    required: bool
    default: Any
    description: str
    secret: bool
    example: Any = MISSING
    """The first of the `examples` that its schema gives, where it is a word or a number."""

    @property
    def value_help(self) -> str:
        """What to write after it, in words for people."""
        if self.reading == "switch":
            return "yes or no"
        words = self._value_words()
        return f"{words}, may be repeated" if self.reading == "many" else words

    def _value_words(self) -> str:
        choices, kinds = self.values.choices, self.values.kinds
        if choices is not None:
            return "|".join("null" if choice is None else str(choice) for choice in choices)
        if self.reading == "json":
            kinds -= {"null"}
            return f"JSON {min(kinds)}" if kinds in ({"object"}, {"array"}) else "JSON"
        words = [word for kind, word in _WORDS.items() if kind in kinds]
        if "number" in kinds:
            words.remove("integer")
        return " or ".join(words) or "JSON"


_WORDS = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "true|false",
    "object": "JSON object",
    "array": "JSON array",
}


class Flags:
    """The flags of one tool, by every name they go by."""

    def __init__(self, flags: Iterable[Flag]) -> None:
        self.all = tuple(flags)
        self.by_name: dict[str, tuple[Flag, bool]] = {}
        """For each spelling its flag, and whether that spelling switches it off."""
        for flag in self.all:
            self.by_name |= dict.fromkeys((flag.name, *flag.others), (flag, False))
            if flag.negative is not None:
                self.by_name[flag.negative] = (flag, True)

    def __iter__(self) -> Iterator[Flag]:
        return iter(self.all)


def flags_of(tool: Tool, called: str | None = None) -> Flags:
    """The flags of a tool, called by its id or by an alias that has its own names for parameters."""
    schema = provider_schema(tool.input_schema)
    properties: Mapping[str, Any] = schema["properties"]
    shapes = Shapes(schema)
    required = set(schema.get("required") or ())
    names = _names(list(properties))
    others = _other_names(tool, called, names)
    taken = {*names.values(), *(other for each in others.values() for other in each), *COMMAND_OPTIONS}
    flags = []
    for param, part in properties.items():
        node = resolve(part, schema)
        reading, values = _reading_of(part, shapes)
        negative = f"no-{names[param]}" if reading == "switch" else None
        flags.append(
            Flag(
                param=param,
                name=names[param],
                others=others[param],
                negative=None if negative in taken else negative,
                reading=reading,
                values=values,
                required=param in required,
                default=node.get("default", MISSING),
                description=str(node.get("description") or ""),
                secret=param in tool.secrets,
                example=MISSING if param in tool.secrets else _example(node, reading),
            )
        )
    return Flags(flags)


def _example(node: Mapping[str, Any], reading: Reading) -> Any:
    examples = node.get("examples")
    if reading in ("many", "json") or not isinstance(examples, list) or not examples:
        return MISSING
    first = examples[0]
    return first if isinstance(first, (str, int, float)) and len(str(first)) <= _SHORT else MISSING


def _names(params: Sequence[str]) -> dict[str, str]:
    """A name for each parameter: its own in kebab-case; one that is taken gets `arg-` in front."""
    taken = set(COMMAND_OPTIONS)
    names: dict[str, str] = {}
    for param in params:
        plain = _kebab_case(param)
        if plain and plain not in taken:
            names[param] = plain
            taken.add(plain)
    for param in params:
        if param not in names:
            name = stem = f"arg-{_kebab_case(param)}".rstrip("-")
            number = 1
            while name in taken or name == "arg":
                number += 1
                name = f"{stem}-{number}"
            names[param] = name
            taken.add(name)
    return {param: names[param] for param in params}


def _kebab_case(param: str) -> str:
    name = re.sub(r"[^\w.\-]+", "-", slug_of(param)).strip("-._")
    return name if _NAME.match(name) else ""


def _other_names(tool: Tool, called: str | None, names: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The parameter's name as written and what aliases call it, where nothing else is called so."""
    spellings: dict[str, list[str]] = {param: [param] for param in names}
    for param, more in tool.param_aliases.items():
        spellings[param] += [alias for name in more for alias in (_kebab_case(name), name)]
    for alias, param in tool.aliases.get(called or "", {}).items():
        spellings[param] += [_kebab_case(alias), alias]
    taken = {*names.values(), *COMMAND_OPTIONS}
    others: dict[str, tuple[str, ...]] = {}
    for param, wishes in spellings.items():
        free = [name for name in dict.fromkeys(wishes) if _NAME.match(name) and name not in taken]
        taken.update(free)
        others[param] = tuple(free)
    return others


def _reading_of(part: Any, shapes: Shapes) -> tuple[Reading, AllowedValues]:
    """How text after the flag is read."""
    values = allowed_values(part, shapes)
    kinds = values.kinds
    if kinds in ({"boolean"}, {"boolean", "null"}) and values.choices is None:
        return "switch", values
    if kinds in ({"array"}, {"array", "null"}):
        items = allowed_items(part, shapes)
        if items is not None and items.kinds <= SCALARS:
            return "many", items
    if "string" in kinds and kinds != ANY:
        return "text", values
    if kinds and kinds <= SCALARS:
        return "scalar", values
    return "json", values


Kinds = frozenset[str]
ANY: Kinds = frozenset("string integer number boolean null array object".split())
SCALARS: Kinds = frozenset("string integer number boolean null".split())
_MAX_DEPTH = 16


@dataclass(frozen=True, slots=True)
class AllowedValues:
    """The JSON types of the values, and the values themselves where the schema lists them."""

    kinds: Kinds
    choices: tuple[Any, ...] | None = None


def allowed_values(part: Any, shapes: Shapes, depth: int = 0) -> AllowedValues:
    """The kinds of values a schema takes, and which ones if it lists them."""
    shape = shapes.of(part)
    if not shape.branches:
        return AllowedValues(shape.types, shape.choices)
    if depth == _MAX_DEPTH:
        return AllowedValues(ANY)
    return _union([allowed_values(branch, shapes, depth + 1) for branch in shape.branches])


def _union(branches: Sequence[AllowedValues]) -> AllowedValues:
    kinds = frozenset(kind for branch in branches for kind in branch.kinds)
    choices: list[Any] = []
    for branch in branches:
        if branch.choices is None and branch.kinds != {"null"}:
            return AllowedValues(kinds)
        choices += (None,) if branch.choices is None else branch.choices
    return AllowedValues(kinds, tuple(choices) if any(choice is not None for choice in choices) else None)


def allowed_items(part: Any, shapes: Shapes, depth: int = 0) -> AllowedValues | None:
    """The values of the items of a list, or None when they are not all alike."""
    shape = shapes.of(part)
    if shape.branches:
        lists = [branch for branch in shape.branches if "array" in allowed_values(branch, shapes).kinds]
        return allowed_items(lists[0], shapes, depth + 1) if len(lists) == 1 and depth < _MAX_DEPTH else None
    return None if shape.prefix or shape.items is True else allowed_values(shape.items, shapes)
