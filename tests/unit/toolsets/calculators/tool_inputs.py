"""Inputs for the calculators: valid ones of any size, drawn from a tool's own schema, and calls with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from handrail import Outcome, Tool
from handrail.testing import call_sync


def answer(tool: Tool, args: Mapping[str, Any]) -> dict[str, Any]:
    """What the tool answers to a person, with the sentence over it as `verdict`; it must complete."""
    out = call_sync(tool, dict(args), user="ana", source="web")
    assert out.ok, out.to_model()
    assert out.result is not None and isinstance(out.result.data, dict)
    data: dict[str, Any] = out.result.data
    assert "verdict" not in data["summary"]  # a page would say it twice
    return data | {"summary": data["summary"] | {"verdict": out.result.summary}}


def refusal(tool: Tool, args: Mapping[str, Any]) -> str:
    """What the tool says to arguments that it does not take, with the field in front."""
    out: Outcome = call_sync(tool, dict(args), user="ana", source="web")
    assert (out.status, out.code) == ("refused", "INVALID_PARAM"), (out.status, out.to_model())
    return out.to_model()


def inputs(tool: Tool) -> st.SearchStrategy[dict[str, Any]]:
    """Any valid arguments."""
    return _object(tool.input_schema, tool.input_schema)


def _object(node: Mapping[str, Any], root: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    required = set(node.get("required", ()))
    drawn = {name: _value(part, root) for name, part in node["properties"].items()}
    return st.fixed_dictionaries(
        {name: one for name, one in drawn.items() if name in required},
        optional={name: one for name, one in drawn.items() if name not in required},
    )


def _value(node: Mapping[str, Any], root: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    if "$ref" in node:
        return _object(root["$defs"][node["$ref"].rpartition("/")[2]], root)
    if "enum" in node:
        return st.sampled_from(node["enum"])
    if node["type"] == "integer":
        return st.integers(node["minimum"], node["maximum"])
    if node["type"] == "number":
        least = node.get("minimum", node.get("exclusiveMinimum"))
        return st.floats(least, node["maximum"], exclude_min="exclusiveMinimum" in node) | st.just(
            node["maximum"]
        )
    if node["type"] == "string":
        return st.text("abcXYZ 1é|", min_size=1, max_size=12).filter(lambda text: text.strip() != "")
    assert node["type"] == "array", node
    return st.lists(
        _value(node["items"], root), min_size=1, max_size=5, unique_by=lambda one: _key(one["name"])
    )


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()
