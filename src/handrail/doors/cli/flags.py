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
from handrail.doors.cli.kinds import ANY, SCALARS, Values, items_of, values_of

Reading = Literal["switch", "text", "scalar", "many", "json"]

OWN_SWITCHES = frozenset("debug help json plan yes".split())
OWN_VALUED = frozenset("args as session timeout tools".split())
OWN = OWN_SWITCHES | OWN_VALUED
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
    values: Values
    """Of a `many` flag: the values of each item."""
    required: bool
    default: Any
    description: str
    secret: bool
    example: Any = MISSING
    """The first of the `examples` that its schema gives, where it is a word or a number."""

    @property
    def wanted(self) -> str:
        """What to write after it, in words for people."""
        if self.reading == "switch":
            return "yes or no"
        words = wanted(self.reading, self.values)
        return f"{words}, may be repeated" if self.reading == "many" else words


def wanted(reading: Reading, values: Values) -> str:
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
    taken = {*names.values(), *(other for each in others.values() for other in each), *OWN}
    found = []
    for param, part in properties.items():
        node = resolve(part, schema)
        reading, values = _how(part, schema)
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
    taken = set(OWN)
    names: dict[str, str] = {}
    for param in params:
        plain = _plain(param)
        if plain and plain not in taken:
            names[param] = plain
            taken.add(plain)
    for param in params:
        if param not in names:
            name = stem = f"arg-{_plain(param)}".rstrip("-")
            number = 1
            while name in taken or name == "arg":
                number += 1
                name = f"{stem}-{number}"
            names[param] = name
            taken.add(name)
    return {param: names[param] for param in params}


def _plain(param: str) -> str:
    name = re.sub(r"[^\w.\-]+", "-", slug_of(param)).strip("-._")
    return name if _NAME.match(name) else ""


def _other_names(tool: Tool, called: str | None, names: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The parameter's name as written and what aliases call it, where nothing else is called so."""
    known: dict[str, list[str]] = {param: [param] for param in names}
    for param, more in tool.param_aliases.items():
        known[param] += [alias for name in more for alias in (_plain(name), name)]
    for alias, param in tool.aliases.get(called or "", {}).items():
        known[param] += [_plain(alias), alias]
    taken = {*names.values(), *OWN}
    found: dict[str, tuple[str, ...]] = {}
    for param, spellings in known.items():
        free = [name for name in dict.fromkeys(spellings) if _NAME.match(name) and name not in taken]
        taken.update(free)
        found[param] = tuple(free)
    return found


def _how(part: Any, root: Mapping[str, Any]) -> tuple[Reading, Values]:
    """How text after the flag is read."""
    values = values_of(part, root)
    kinds = values.kinds
    if kinds in ({"boolean"}, {"boolean", "null"}) and values.choices is None:
        return "switch", values
    if kinds in ({"array"}, {"array", "null"}):
        items = items_of(part, root)
        if items is not None and items.kinds <= SCALARS:
            return "many", items
    if "string" in kinds and kinds != ANY:
        return "text", values
    if kinds and kinds <= SCALARS:
        return "scalar", values
    return "json", values
