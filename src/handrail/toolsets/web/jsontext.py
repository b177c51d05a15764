"""indented: JSON on lines of its own, with every number and string as it was written."""

from __future__ import annotations

import json
import re

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{},:]|[^\s\[\]{},:"]++', re.DOTALL)
_LONGEST = 1_000_000
_DEEPEST = 24


def indented(text: str) -> str:
    """The same JSON, easier to read; as it is where it is none, or too long or too deep for that."""
    if len(text) > _LONGEST:
        return text
    try:
        json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        return text
    made: list[str] = []
    depth = 0
    last = ""
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token in "]}":
            depth -= 1
        if (
            (last in ("[", "{") and token not in "]}")
            or last == ","
            or (token in "]}" and last not in ("[", "{"))
        ):
            made.append("\n" + "  " * depth)
        elif last == ":":
            made.append(" ")
        made.append(token)
        if token in "[{":
            depth += 1
            if depth > _DEEPEST:
                return text
        last = token
    return "".join(made)
