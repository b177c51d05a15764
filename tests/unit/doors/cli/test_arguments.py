"""Words of a command line become arguments, and nothing of them is lost or guessed."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handrail import from_json_schema
from handrail.doors.cli.arguments import format_arguments, parse_flags, scan_options
from handrail.doors.cli.commands import COMMANDS, CommandEntry, LazyCommand
from handrail.doors.cli.exit_codes import CommandError
from handrail.doors.cli.flags import Flags, flags_of


def flags(properties: dict[str, Any], required: list[str] | None = None) -> Flags:
    schema = {"type": "object", "properties": properties, "required": required or []}
    return flags_of(from_json_schema("some.tool", schema, execute=lambda args: None, description="Do it."))


def read(line: str, **properties: Any) -> dict[str, Any]:
    given, own = parse_flags(shlex.split(line), flags(properties))
    assert own == {}
    return given


TEXT = {"type": "string"}
INTEGER = {"type": "integer"}
SWITCH = {"type": "boolean"}
LIST = {"type": "array", "items": {"type": "string"}}


@pytest.mark.parametrize(
    ("line", "schema", "value"),
    [
        ("--x 5", TEXT, "5"),
        ("--x 5", INTEGER, 5),
        ("--x 5", {"anyOf": [TEXT, INTEGER]}, "5"),
        ("--x:=5", {"anyOf": [TEXT, INTEGER]}, 5),
        ("--x -5", INTEGER, -5),
        ("--x -abc", TEXT, "-abc"),
        ("--x=--y", TEXT, "--y"),
        ("--x --unheard-of", TEXT, "--unheard-of"),
        ("--x '--- a/file'", TEXT, "--- a/file"),
        ("--x=", TEXT, ""),
        ("--x ''", TEXT, ""),
        ("--x a=b", TEXT, "a=b"),
        ("--x=a=b:=c", TEXT, "a=b:=c"),
        ("--x 日本", TEXT, "日本"),
        ("--x 1.5", {"type": "number"}, 1.5),
        ("--x null", {"type": ["integer", "null"]}, None),
        ("--x null", {"type": ["string", "null"]}, "null"),
        ("--x:=null", {"type": ["string", "null"]}, None),
        ("--x", SWITCH, True),
        ("--no-x", SWITCH, False),
        ("--x=false", SWITCH, False),
        ("--x=null", {"type": ["boolean", "null"]}, None),
        ("--x a --x b", LIST, ["a", "b"]),
        ("--x:=[]", LIST, []),
        ("--x 1 --x 2", {"type": "array", "items": INTEGER}, [1, 2]),
        ("--x '{\"a\": [1]}'", {"type": "object"}, {"a": [1]}),
        ("--x '[{}]'", {"type": "array", "items": {"type": "object"}}, [{}]),
        ("--x '\"text\"'", {}, "text"),
        ("--x 1", {"enum": ["1", 1]}, "1"),
        ("--x 1", {"enum": ["a", 1]}, 1),
        ("--x true", {"enum": ["a", True]}, True),
    ],
)
def test_text_is_read_as_the_schema_wants_it(line: str, schema: Any, value: Any) -> None:
    assert json.dumps(read(line, x=schema)) == json.dumps({"x": value})


@pytest.mark.parametrize(
    ("line", "schema"),
    [
        ("--x 'a few'", INTEGER),
        ("--x 1.5", INTEGER),
        ("--x 007", INTEGER),
        ("--x NaN", {"type": "number"}),
        ("--x 1e999", {"type": "number"}),
        ("--x=yes", SWITCH),
        ("--x blue", {"enum": ["red", 1]}),
    ],
)
def test_what_does_not_fit_reaches_the_guard_as_it_was_typed(line: str, schema: Any) -> None:
    [typed] = shlex.split(line.removeprefix("--x").lstrip("= "))
    assert read(line, x=schema) == {"x": typed}


@pytest.mark.parametrize(
    ("line", "problem", "remedy"),
    [
        ("--limt 5", "--limt is no flag here", "did you mean --limit?"),
        ("--zzz", "--zzz is no flag here", "there are: --limit, --on, --tags, --at"),
        ("--jsn", "--jsn is no flag here", "did you mean --json?"),
        ("--yes=1", "--yes takes no value", "write --yes"),
        ("--session", "--session wants a value", "write --session VALUE"),
        ("--args:=1", "--args is no flag of the tool", "write --args=1; a flag may be --arg-args"),
        ("--limit", "--limit wants a value", "write --limit VALUE, or --limit:=JSON"),
        ("--limit --on", "--limit wants a value", "if you mean the text '--on', write --limit=--on"),
        ("--limit --at=1", "--limit wants a value", "if you mean the text '--at=1', write --limit=--at=1"),
        ("--limit --debug", "--limit wants a value", "if you mean the text '--debug', write --limit=--debug"),
        ("--limit 1 --limit 2", "--limit is given twice", "keep one of them"),
        ("--on --no-on", "--on is given twice", "keep one of them"),
        ("--tags:=[] --tags:=[]", "--tags is given twice", "keep one of them"),
        ("--tags a --tags:=[]", "--tags is given twice", "keep one of them"),
        ("--tags:=[] --tags a", "--tags is given twice", "keep one of them"),
        ("--no-on=5", "--no-on takes no value", "write --on=5"),
        ("--on true", "'true' stands alone", "every value follows a flag, such as --limit"),
        ("-l 5", "'-l' stands alone", "every value follows a flag, such as --limit"),
        (
            "--at hello",
            "--at: it is not JSON (Expecting value, line 1, column 1)",
            "it takes JSON; text is written in double quotes: '\"hello\"'",
        ),
        ('--at \'{"a": 1, "a": 2}\'', "--at: 'a' is given twice in one object", "keep one of them"),
        ("--at '[NaN]'", "--at: NaN is not a JSON number", "leave it out or write null"),
    ],
)
def test_a_mistake_is_told_with_what_to_do(line: str, problem: str, remedy: str) -> None:
    properties = {"limit": INTEGER, "on": SWITCH, "tags": LIST, "at": {"type": "object"}}
    with pytest.raises(CommandError) as stop:
        parse_flags(shlex.split(line), flags(properties, ["limit"]))
    assert (stop.value.problem, stop.value.remedy) == (problem, remedy)


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs"]))
anything = st.recursive(
    scalars | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
MIXED = ["a", "1", "true", "null", "", 1, 1.5, True, None]
PARTS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (TEXT, texts),
    (INTEGER, st.integers()),
    ({"type": "number"}, st.integers() | st.floats(allow_nan=False, allow_infinity=False)),
    (SWITCH, st.booleans()),
    ({"type": ["boolean", "null"]}, st.none() | st.booleans()),
    ({"type": ["string", "null"]}, st.none() | texts),
    ({"anyOf": [TEXT, INTEGER, {"type": "null"}]}, st.none() | texts | st.integers()),
    ({"type": ["integer", "boolean", "null"]}, st.none() | st.booleans() | st.integers()),
    ({"enum": MIXED}, st.sampled_from(MIXED)),
    (LIST, st.lists(texts)),
    ({"type": "array", "items": {"type": ["integer", "null"]}}, st.lists(st.none() | st.integers())),
    ({"type": "array", "items": {"enum": MIXED}}, st.lists(st.sampled_from(MIXED))),
    ({"anyOf": [LIST, {"type": "null"}]}, st.none() | st.lists(texts)),
    ({"anyOf": [LIST, TEXT]}, texts | st.lists(texts)),
    ({"type": "array", "items": {"type": "array"}}, st.lists(st.lists(anything, max_size=2), max_size=2)),
    ({"type": "object"}, st.dictionaries(texts, anything, max_size=3)),
    ({}, anything),
]


NAMES = ["x", "no_x", "json", "arg_json", "maxResults", "max_results"]


@st.composite
def schemas_with_arguments(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    names = draw(
        st.lists(st.sampled_from(["x", "no_x", "json", "arg_json", "maxResults"]) | texts, unique=True)
    )
    properties: dict[str, Any] = {}
    args: dict[str, Any] = {}
    for name in names:
        schema, values = draw(st.sampled_from(PARTS))
        properties[name] = schema
        if draw(st.booleans()):
            args[name] = draw(values)
    return properties, args


@given(schemas_with_arguments())
@example(({"x": SWITCH, "no_x": SWITCH}, {"x": False, "no_x": False}))
@example(({"x": TEXT}, {"x": "--json"}))
@example(({"x": {"anyOf": [TEXT, INTEGER]}}, {"x": "5"}))
def test_any_arguments_can_be_written_as_flags_and_are_read_back_the_same(
    case: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    properties, args = case
    known = flags(properties)
    words = format_arguments(args, known)
    back, own = parse_flags(shlex.split(shlex.join(words)), known)
    assert own == scan_options(words) == {}
    assert json.dumps(back, sort_keys=True) == json.dumps(args, sort_keys=True)


@given(schemas_with_arguments())
def test_typer_leaves_what_follows_the_name_alone(case: tuple[dict[str, Any], dict[str, Any]]) -> None:
    properties, args = case
    words = [*format_arguments(args, flags(properties)), "--json", "--", "-x"]
    entry = COMMANDS["run"]
    assert isinstance(entry, CommandEntry)
    ctx = LazyCommand("run", entry).make_context("run", ["--session", "s", "some.tool", *words])
    assert (ctx.params["name"], ctx.params["session"], ctx.params["json"]) == ("some.tool", "s", False)
    assert ctx.args == words


def test_options_of_the_command_may_stand_among_the_flags() -> None:
    known = flags({"text": TEXT, "on": SWITCH})
    line = "--tools a --text x --json --on --yes --as=agent --session s --tools=b --timeout 5"
    given, own = parse_flags(shlex.split(line), known)
    assert given == {"text": "x", "on": True}
    assert own == {
        "tools": ["a", "b"],
        "json": [""],
        "yes": [""],
        "as": ["agent"],
        "session": ["s"],
        "timeout": ["5"],
    }


@pytest.mark.parametrize(
    ("line", "own"),
    [
        ("--tools a --x=1 --tools=b", {"tools": ["a", "b"]}),
        ("--x 1 --as agent --debug", {"as": ["agent"], "debug": [""]}),
        ("--json --tools a", {"json": [""], "tools": ["a"]}),
        ("--x --tools=evil", {}),
        ("--x --tools evil", {}),
        ("--on --x --tools=evil", {}),
        ("--x --y --tools=evil", {}),
        ("--x --session --tools=evil", {}),
        ("--on --json --tools=a", {"tools": ["a"]}),
        ("--session --tools=evil", {"session": ["--tools=evil"]}),
        ("--args --as --tools=a", {"args": ["--as"], "tools": ["a"]}),
        ("--x -- --tools=a", {}),
        ("--tools", {"tools": [""]}),
    ],
)
def test_before_the_tool_is_known_only_what_cannot_be_a_value_counts(line: str, own: Any) -> None:
    assert scan_options(shlex.split(line)) == own


@given(
    st.lists(
        st.sampled_from(
            ["--x", "--on", "--x=1", "v", "--tools=m", "--as", "--json", "--session", "--session=s"]
        )
    )
)
def test_what_is_told_ahead_is_never_a_value_later(words: list[str]) -> None:
    try:
        _, own = parse_flags(words, flags({"x": TEXT, "on": SWITCH}))
    except CommandError:
        return
    ahead = scan_options(words)
    assert set(ahead.get("tools", ())) <= set(own.get("tools", ()))
    assert len(ahead.get("tools", ())) <= len(own.get("tools", ()))
    assert len(ahead.get("as", ())) <= len(own.get("as", ()))


def test_what_has_no_flag_is_written_as_args() -> None:
    assert format_arguments({"x": 1, "other": [True]}, flags({"x": INTEGER})) == [
        '--args={"other":[true]}',
        "--x=1",
    ]
