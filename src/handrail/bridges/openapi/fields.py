"""Fields: where each argument of a tool goes in the request, under a name that no other has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

Where = Literal["path", "query", "header", "cookie", "body", "whole"]
"""`whole`: the argument is the body; `body`: it is one property of the body."""

_ODD = re.compile(r"[^A-Za-z0-9_.\-]+")
_LONGEST = 64
_ROOM = 48


@dataclass(frozen=True, slots=True)
class Field:
    """One argument, and its place."""

    where: Where
    name: str
    """As the service calls it."""
    schema: Any
    required: bool = False
    style: str = "form"
    explode: bool = True
    is_json: bool = False
    """Whether its value goes as JSON text, whatever it is."""
    reserved: bool = False
    """Whether a query may hold characters that have a meaning in addresses."""
    key: str = ""
    """As the tool calls it."""


def keyed(fields: Iterable[Field]) -> tuple[Field, ...]:
    """The same with keys that providers accept and no two share: `id`, or `id_path` and `id_query`."""
    listed = list(fields)
    plain = [_plain(field.name) for field in listed]
    times = Counter(plain)
    taken = {key for key in plain if times[key] == 1}
    made = []
    for field, key in zip(listed, plain, strict=True):
        if times[key] > 1:
            key = _free(f"{key[:_ROOM]}_{'body' if field.where == 'whole' else field.where}", taken)
        made.append(replace(field, key=key))
    return tuple(made)


def _plain(name: str) -> str:
    return _ODD.sub("_", name)[:_LONGEST] or "_"


def _free(key: str, taken: set[str]) -> str:
    number, found = 1, key
    while found in taken:
        number += 1
        found = f"{key}_{number}"
    taken.add(found)
    return found
