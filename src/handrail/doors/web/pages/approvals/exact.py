"""exact: a value in rows that can be read, each with its place, from which the same value can be made again.

A row's value is JSON: text stands in quotation marks, a number does not. What is not to be seen is written
out (see odd.py), and so are spaces at the ends of a text, and where there are several in a row. The
indentation of a line is left as it is: the quotation mark, or the line above, shows where it begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from handrail.core.define.schema import JsonSchema, branches
from handrail.core.define.secrecy import MASK

Place = tuple[str | int, ...]

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")
_SPACES = re.compile(r"^ +| +$|(?<!\\n)(?<! ) {2,}")
_SPACE = "\\u0020"
_INDENTED = re.compile(r" {2,24}(?=[^ ])")


class Row(NamedTuple):
    """One value and where it stands."""

    place: Place
    value: Any
    label: str | None = None
    """What the schema calls it."""
    choice: str | None = None
    """What the schema calls this very value."""

    @property
    def path(self) -> str:
        return path_of(self.place)

    @property
    def literal(self) -> str:
        return literal(self.value)

    @property
    def masked(self) -> bool:
        return bool(self.value == MASK)


def rows(value: Any, schema: JsonSchema | None = None) -> list[Row]:
    """A value as rows. Objects, and lists that hold any, are taken apart; an empty one is a row itself."""
    root = schema or {}
    return list(_rows(value, (), [root], root))


def _rows(value: Any, place: Place, known: list[JsonSchema], root: JsonSchema) -> Iterator[Row]:
    nodes = [node for one in known for node in branches(one, root)]
    if isinstance(value, Mapping) and value:
        for name, part in value.items():
            below = [(node.get("properties") or {}).get(name) for node in nodes]
            yield from _rows(part, (*place, name), _schemas(below), root)
    elif isinstance(value, list) and any(isinstance(one, (Mapping, list)) for one in value):
        items = _schemas([node.get("items") for node in nodes])
        for at, part in enumerate(value):
            yield from _rows(part, (*place, at), items, root)
    else:
        title = next((one["title"] for one in known if place and isinstance(one.get("title"), str)), None)
        yield Row(place, value, title, _choice(value, nodes))


def _schemas(found: list[Any]) -> list[JsonSchema]:
    return [one for one in found if isinstance(one, dict)]


def _choice(value: Any, nodes: list[Mapping[str, Any]]) -> str | None:
    """The title of the choice that this value is, where there are several with titles."""
    fits = (one for one in nodes if "const" in one and literal(one["const"]) == literal(value))
    return next((one["title"] for one in fits if isinstance(one.get("title"), str)), None)


def literal(value: Any) -> str:
    """A value as JSON on one line."""
    if isinstance(value, str):
        inside = json.dumps(value, ensure_ascii=False)[1:-1]
        lead = _INDENTED.match(inside)
        start = 0 if lead is None else lead.end()
        rest = _SPACES.sub(lambda found: _SPACE * len(found[0]), inside[start:])
        return f'"{inside[:start]}{rest}"'
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{literal(name)}: {literal(part)}' for name, part in value.items())}}}"
    return json.dumps(value)


def path_of(place: Place) -> str:
    """Where a value stands: `items[0].name`; a name that is no plain word in brackets, as JSON."""
    found = ""
    for step in place:
        if isinstance(step, int):
            found += f"[{step}]"
        elif _PLAIN_NAME.match(step):
            found += f".{step}" if found else step
        else:
            found += f"[{literal(step)}]"
    return found
