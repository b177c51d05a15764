"""Flags from a schema: what they are called, and how the text after them is read."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import from_json_schema, tool
from handrail.doors.cli.flags import COMMAND_OPTIONS, MISSING, Flags, flags_of
from handrail.doors.cli.tools import example


def flags(properties: dict[str, Any], required: list[str] | None = None, defs: Any = None) -> Flags:
    schema = {"type": "object", "properties": properties, "required": required or [], "$defs": defs or {}}
    return flags_of(from_json_schema("some.tool", schema, execute=lambda args: None, description="Do it."))


def names(*params: str) -> list[str]:
    return [flag.name for flag in flags({param: {"type": "string"} for param in params})]


def reading(schema: Any) -> str:
    [flag] = flags({"x": schema}, defs={"name": {"type": "string"}, "pair": {"type": "object"}})
    return flag.reading


def test_a_flag_is_the_parameter_in_kebab_case_and_answers_to_the_name_as_written() -> None:
    [flag] = flags({"maxResults": {"type": "integer"}})
    assert (flag.name, flag.others) == ("max-results", ("maxResults",))
    assert names("include_reserved", "from.day", "größe") == ["include-reserved", "from-day", "größe"]


def test_a_parameter_called_like_an_option_of_ours_has_arg_in_front() -> None:
    assert names(*sorted(COMMAND_OPTIONS)) == [f"arg-{name}" for name in sorted(COMMAND_OPTIONS)]


def test_no_two_flags_have_one_name() -> None:
    assert names("json", "arg_json", "argJson") == ["arg-json-2", "arg-json", "arg-arg-json"]
    assert names("max_results", "maxResults") == ["max-results", "arg-max-results"]
    found = flags({"x": {"type": "boolean"}, "no_x": {"type": "string"}})
    assert [(flag.name, flag.negative) for flag in found] == [("x", None), ("no-x", None)]


def test_a_parameter_with_no_letter_in_its_name_gets_a_number() -> None:
    assert names("", "=", "__") == ["arg-2", "arg-3", "arg-4"]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"type": "string", "examples": ["old text", "x"]}, "--path=TEXT '--more=old text'"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}], "examples": [5]}, "--path=TEXT --more=5"),
        ({"type": "array", "items": {"type": "string"}, "examples": [["a"]]}, "--path=TEXT"),
        ({"type": "string", "examples": ["x" * 61]}, "--path=TEXT"),
        ({"type": "string", "examples": []}, "--path=TEXT"),
        ({"type": "string", "examples": ["hush"], "writeOnly": True}, "--path=TEXT"),
    ],
)
def test_the_example_of_a_tool_shows_what_is_required_and_what_its_schema_gives_an_example_of(
    given: dict[str, Any], shown: str
) -> None:
    schema = {
        "type": "object",
        "properties": {"path": {"type": "string"}, "more": given},
        "required": ["path"],
    }
    made = from_json_schema("some.tool", schema, execute=lambda args: None, description="Do it.")
    assert example(made, flags_of(made)) == f"handrail run some.tool {shown}"


@pytest.mark.parametrize(
    ("schema", "how"),
    [
        ({"type": "boolean"}, "switch"),
        ({"anyOf": [{"type": "boolean"}, {"type": "null"}]}, "switch"),
        ({"type": "string"}, "text"),
        ({"$ref": "#/$defs/name"}, "text"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "text"),
        ({"anyOf": [{"type": "string"}, {"$ref": "#/$defs/pair"}]}, "text"),
        ({"enum": ["a", "b"]}, "text"),
        ({"type": "integer"}, "scalar"),
        ({"type": ["number", "null"]}, "scalar"),
        ({"enum": [1, 2]}, "scalar"),
        ({"const": 5}, "scalar"),
        ({"anyOf": [{"type": "boolean"}, {"type": "integer"}]}, "scalar"),
        ({"type": "array", "items": {"type": "string"}}, "many"),
        ({"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}, "many"),
        ({"type": "array", "items": {"type": "object"}}, "json"),
        ({"type": "array"}, "json"),
        ({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "string"}}, "json"),
        ({"enum": [[1], [2]]}, "json"),
        ({"type": "object"}, "json"),
        ({"$ref": "#/$defs/pair"}, "json"),
        ({}, "json"),
        (True, "json"),
        (False, "json"),
        ({"allOf": [{"type": ["string", "integer"]}, {"type": "integer"}]}, "scalar"),
    ],
)
def test_the_schema_says_how_text_is_read(schema: Any, how: str) -> None:
    assert reading(schema) == how


def test_a_schema_that_refers_to_itself_comes_to_an_end() -> None:
    tree = {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/tree"}]}
    [flag] = flags({"x": {"$ref": "#/$defs/tree"}}, defs={"tree": tree})
    assert flag.reading == "json"


def test_choices_defaults_and_descriptions_come_along() -> None:
    [color, size] = flags(
        {
            "color": {"anyOf": [{"enum": ["red", "green"]}, {"type": "null"}], "default": None},
            "size": {"type": "integer", "description": "How large."},
        },
        ["size"],
    )
    assert (color.value_help, color.required, color.default) == ("red|green|null", False, None)
    assert (size.value_help, size.required, size.default) == ("integer", True, MISSING)
    assert size.description == "How large."


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "boolean"}, "yes or no"),
        ({"type": "number"}, "number"),
        ({"type": ["string", "integer"]}, "text or integer"),
        ({"type": "array", "items": {"type": "string"}}, "text, may be repeated"),
        ({"type": "object"}, "JSON object"),
        ({"type": "array"}, "JSON array"),
        ({}, "JSON"),
    ],
)
def test_what_to_write_is_said_in_words(schema: Any, words: str) -> None:
    [flag] = flags({"x": schema})
    assert flag.value_help == words


def test_other_names_of_a_parameter_are_flags_too() -> None:
    @tool(
        "files.read",
        level="read",
        aliases={"read_file": {"theFile": "path"}},
        param_aliases={"path": ("filename", "json")},
    )
    def read(path: str) -> str:
        """Read a file."""
        return path

    [by_id] = flags_of(read, "files.read")
    assert by_id.others == ("filename",)
    [by_alias] = flags_of(read, "read_file")
    assert by_alias.others == ("filename", "the-file", "theFile")


def test_the_parameters_of_every_variant_of_an_input_are_flags() -> None:
    def variant(name: str) -> dict[str, Any]:
        return {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}

    schema = {"type": "object", "anyOf": [variant("a"), variant("b")]}
    made = from_json_schema("some.tool", schema, execute=lambda args: None, description="Do it.")
    assert [(flag.name, flag.required) for flag in flags_of(made)] == [("a", False), ("b", False)]
