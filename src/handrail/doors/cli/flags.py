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
        words = value_help(self.reading, self.values)
        return f"{words}, may be repeated" if self.reading == "many" else words


def value_help(reading: Reading, values: AllowedValues) -> str:
    """The values a flag takes, in words."""
    if values.choices is not None:
        return "|".join("null" if one is None else str(one) for one in values.choices)
    if reading == "json":
        kinds = values.kinds - {"null"}
        return f"JSON {min(kinds)}" if kinds in ({"object"}, {"array"}) else "JSON"
    words = [word for kind, word in _WORDS.items() if kind in values.kinds]
    if "number" in values.kinds:
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
    required = set(schema.get("required") or ())
    names = _names(list(properties))
    others = _other_names(tool, called, names)
    taken = {*names.values(), *(other for each in others.values() for other in each), *COMMAND_OPTIONS}
    found = []
    for param, part in properties.items():
        node = resolve(part, schema)
        reading, values = _reading_of(part, schema)
        negative = f"no-{names[param]}" if reading == "switch" else None
        found.append(
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
    return Flags(found)


def _example(node: Mapping[str, Any], reading: Reading) -> Any:
    given = node.get("examples")
    if reading in ("many", "json") or not isinstance(given, list) or not given:
        return MISSING
    first = given[0]
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
    known: dict[str, list[str]] = {param: [param] for param in names}
    for param, more in tool.param_aliases.items():
        known[param] += [alias for name in more for alias in (_kebab_case(name), name)]
    for alias, param in tool.aliases.get(called or "", {}).items():
        known[param] += [_kebab_case(alias), alias]
    taken = {*names.values(), *COMMAND_OPTIONS}
    found: dict[str, tuple[str, ...]] = {}
    for param, spellings in known.items():
        free = [name for name in dict.fromkeys(spellings) if _NAME.match(name) and name not in taken]
        taken.update(free)
        found[param] = tuple(free)
    return found


def _reading_of(part: Any, root: Mapping[str, Any]) -> tuple[Reading, AllowedValues]:
    """How text after the flag is read."""
    values = allowed_values(part, root)
    kinds = values.kinds
    if kinds in ({"boolean"}, {"boolean", "null"}) and values.choices is None:
        return "switch", values
    if kinds in ({"array"}, {"array", "null"}):
        items = allowed_items(part, root)
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


def allowed_values(part: Any, root: Mapping[str, Any], depth: int = 0) -> AllowedValues:
    """The kinds of values a schema takes, and which ones if it lists them."""
    if part is False:
        return AllowedValues(frozenset())
    node = resolve(part, root)
    found = AllowedValues(ANY)
    if isinstance(node.get("enum"), list):
        found = _intersection(found, _listed(node["enum"]))
    if "const" in node:
        found = _intersection(found, _listed([node["const"]]))
    kind = node.get("type")
    if kind is not None:
        named = frozenset(kind if isinstance(kind, list) else [kind]) & ANY
        found = _intersection(found, AllowedValues(named | {"integer"} if "number" in named else named))
    if depth < _MAX_DEPTH:
        for key in ("anyOf", "oneOf"):
            if branches := node.get(key):
                found = _intersection(
                    found, _union([allowed_values(one, root, depth + 1) for one in branches])
                )
        for one in node.get("allOf") or ():
            found = _intersection(found, allowed_values(one, root, depth + 1))
    return found


def _listed(values: Sequence[Any]) -> AllowedValues:
    kinds = frozenset(json_type(value) for value in values)
    return AllowedValues(kinds | {"integer"} if "number" in kinds else kinds, tuple(values))


def _intersection(one: AllowedValues, other: AllowedValues) -> AllowedValues:
    choices = one.choices if one.choices is not None else other.choices
    return AllowedValues(one.kinds & other.kinds, choices)


def _union(branches: Sequence[AllowedValues]) -> AllowedValues:
    kinds = frozenset(kind for branch in branches for kind in branch.kinds)
    choices: list[Any] = []
    for branch in branches:
        if branch.choices is None and branch.kinds != {"null"}:
            return AllowedValues(kinds)
        choices += (None,) if branch.choices is None else branch.choices
    return AllowedValues(kinds, tuple(choices) if any(one is not None for one in choices) else None)


def allowed_items(part: Any, root: Mapping[str, Any], depth: int = 0) -> AllowedValues | None:
    """The values of the items of a list, or None when they are not all alike."""
    node = resolve(part, root)
    if "prefixItems" in node or depth > _MAX_DEPTH:
        return None
    if "items" in node:
        return allowed_values(node["items"], root)
    found = [
        items
        for key in ("anyOf", "oneOf", "allOf")
        for one in node.get(key) or ()
        if (items := allowed_items(one, root, depth + 1)) is not None
    ]
    return found[0] if len(found) == 1 else None


def json_type(value: Any) -> str:
    """The JSON type of a value."""
    if value is None:
        return "null"
    return _JSON_TYPES.get(type(value), "object")


_JSON_TYPES: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}
