"""Rules about the values that a schema carries: what it fills in or shows must be what it would take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from handrail.conformance.rule import Problem
from handrail.conformance.walk import Part, parts
from handrail.core.define.schema import JsonSchema
from handrail.core.define.tool import Tool
from handrail.core.define.validation import Invalid, schema_validator
from handrail.core.errors import DefinitionError

_ROOT = "urn:handrail:schema"


def bad_default(tool: Tool) -> Iterator[Problem]:
    """Defaults are filled in as they are, without being validated themselves."""
    for part, value in _carried(tool, lambda node: [node["default"]] if "default" in node else []):
        if why := _misfit(value, part, tool.input_schema):
            yield (
                f"the default of {part.name} does not fit its own schema: {why}",
                "give a default that a caller might send, or none and make it optional",
            )


def bad_example(tool: Tool) -> Iterator[Problem]:
    for part, value in _carried(tool, _examples):
        if why := _misfit(value, part, tool.input_schema):
            yield (
                f"an example of {part.name} does not fit its own schema: {why}",
                "show an example that would be taken",
            )


def _carried(tool: Tool, of: Callable[[Mapping[str, Any]], list[Any]]) -> Iterator[tuple[Part, Any]]:
    for part in parts(tool.input_schema):
        for value in of(part.node):
            yield part, value


def _examples(node: Mapping[str, Any]) -> list[Any]:
    several = node.get("examples")
    single = [node["example"]] if "example" in node else []
    return [*(several if isinstance(several, list) else ()), *single]


def _misfit(value: Any, part: Part, root: Mapping[str, Any]) -> str | None:
    """Why a value does not fit the part of the schema that carries it; None when it fits.

    The formats of texts are not looked at: whether they count is a setting of the tool.
    """
    try:
        schema_validator({"$ref": f"{_ROOT}{part.pointer}"}, _documents(root))(value)
    except DefinitionError:  # it needs more of another document than that there is one
        return None
    except Invalid as error:
        return "; ".join(map(str, error.errors))
    return None


def _documents(root: Mapping[str, Any]) -> dict[str, JsonSchema]:
    """The schema under an address of ours and its own; of all others it is only known that they exist."""
    refs = (part.node.get("$ref") for part in parts(root))
    known: dict[str, JsonSchema] = {
        ref.partition("#")[0]: {} for ref in refs if isinstance(ref, str) and not ref.startswith("#")
    }
    whole = {key: inner for key, inner in root.items() if key != "$id"}
    if isinstance(root.get("$id"), str):
        known[root["$id"].partition("#")[0]] = whole
    return {**known, _ROOT: whole}
