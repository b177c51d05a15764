"""Rules about names: readable as they are, also to a provider, and nobody else's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from handrail.conformance.rule import Problem, Surroundings
from handrail.core.define.names import WIRE_LIMIT, wire_name
from handrail.core.define.tool import Tool
from handrail.core.find.registry import every_name

_HUMP = re.compile(r"[a-z0-9][A-Z]")


def style(tool: Tool) -> Iterator[Problem]:
    """Every style of writing names is fine; what is not is a name that reads differently on the wire."""
    wire = wire_name(tool.id)
    if len(wire) < len(tool.id.replace(".", "__")):
        yield (
            f"its name has more than the {WIRE_LIMIT} characters that providers take; models see {wire}",
            "give it a shorter id; the old one can stay as an alias",
        )
    if "__" in tool.id:
        yield (
            f"{tool.id!r} contains `__`, which is how a dot is written for providers",
            "use a dot, or a single `_`",
        )
    for word in tool.id.split("."):
        styles = [name for name, is_so in _styles(word) if is_so]
        if len(styles) > 1:
            yield (
                f"{word!r} mixes {' and '.join(styles)}, which is hard to write from memory",
                "keep to one style, such as `category.actionTarget`",
            )


def _styles(word: str) -> Iterator[tuple[str, bool]]:
    yield "snake_case", "_" in word.strip("_")
    yield "kebab-case", "-" in word
    yield "camelCase", _HUMP.search(word) is not None


def collision(tool: Tool, around: Surroundings) -> Iterator[Problem]:
    """One registry refuses the second of them."""
    for name in every_name(tool):
        other = next((one for one in around.holders.get(name, ()) if one is not tool), None)
        if other is not None:
            where = f" at {other.place}" if other.place else ""
            yield (
                f"{name!r} is also a name of {other.id!r}{where}; no registry can hold both",
                "choose another id, alias or slug",
            )
            return
