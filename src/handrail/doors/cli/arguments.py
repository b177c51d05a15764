"""Words of a command line as arguments of a tool and options of the command, and back."""

from __future__ import annotations

import difflib
import json
import math
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from handrail.core.define.tool import Tool
from handrail.core.guard.repair_shape import type_of
from handrail.data_files import DataFileError, parse_json, read_text
from handrail.doors.cli.context import complete_tool_name
from handrail.doors.cli.exit_codes import CommandError
from handrail.doors.cli.flags import (
    COMMAND_OPTIONS,
    COMMAND_SWITCHES,
    COMMAND_VALUE_OPTIONS,
    AllowedValues,
    Flag,
    Flags,
    Reading,
    flags_of,
)
from handrail.doors.cli.options import SharedOptions, option

OptionValues = dict[str, list[str]]
"""Options of the command itself, each with what was written after it; a switch with an empty text."""


def parse_flags(words: Sequence[str], flags: Flags) -> tuple[dict[str, Any], OptionValues]:
    """The arguments that flags give, and the options of the command that stand among them."""
    args: dict[str, Any] = {}
    complete: set[str] = set()
    """Parameters that have all they get: another value is a mistake."""
    options: OptionValues = {}
    rest = list(words)
    while rest:
        name, mark, text = _split_flag(rest.pop(0), flags)
        if name in COMMAND_OPTIONS:
            options.setdefault(name, []).append(_option_value(name, mark, text, rest))
            continue
        flag, negative = _find_flag(name, flags)
        if negative or (flag.reading == "switch" and not mark):
            if mark:
                raise CommandError(f"--{name} takes no value", f"write --{flag.name}={text}")
            value: Any = not negative
        elif mark == ":=":
            value = _parse_json_value(text, f"--{name}")
        else:
            value = parse_value(flag, text if mark else _next_value(name, rest, flags), f"--{name}")
        if flag.reading == "many" and mark != ":=" and flag.param not in complete:
            args.setdefault(flag.param, []).append(value)
        elif flag.param in args:
            raise CommandError(f"--{flag.name} is given twice", "keep one of them")
        else:
            args[flag.param] = value
            complete.add(flag.param)
    return args, options


def scan_options(words: Sequence[str]) -> OptionValues:
    """The options of the command that can be told before the tool is known.

    Which flags take a value is not known yet. So an option right after a flag may be its value, written
    by somebody else, and is left alone: a value must never name a module to be imported.
    """
    options: OptionValues = {}
    rest = list(words)
    open_flag = False
    while rest:
        word = rest.pop(0)
        name, equals, text = word[2:].partition("=")
        is_option = word.startswith("--") and name in COMMAND_OPTIONS
        if is_option and not open_flag:
            if name in COMMAND_VALUE_OPTIONS and not equals:
                text = rest.pop(0) if rest else ""
            options.setdefault(name, []).append(text)
        else:
            # Also where it stands for a value, a switch of ours has none after it.
            is_switch = is_option and name in COMMAND_SWITCHES
            open_flag = word.startswith("--") and not equals and not is_switch
    return options


def _option_value(name: str, mark: str, text: str, rest: list[str]) -> str:
    if name in COMMAND_SWITCHES:
        if mark:
            raise CommandError(f"--{name} takes no value", f"write --{name}")
        return ""
    if mark == ":=":
        raise CommandError(
            f"--{name} is no flag of the tool", f"write --{name}={text}; a flag may be --arg-{name}"
        )
    if not mark and not rest:
        raise CommandError(f"--{name} wants a value", f"write --{name} VALUE")
    return text if mark else rest.pop(0)


def _split_flag(word: str, flags: Flags) -> tuple[str, str, str]:
    """Name, mark (`=`, `:=` or nothing) and text of a flag."""
    if not word.startswith("--") or len(word) < 3:
        example = next((flag for flag in flags if flag.required), next(iter(flags), None))
        hint = f"such as --{example.name}" if example else "but this tool has none"
        raise CommandError(f"{word!r} stands alone", f"every value follows a flag, {hint}")
    name, equals, text = word[2:].partition("=")
    if equals and name.endswith(":"):
        return name[:-1], ":=", text
    return name, equals, text


def _find_flag(name: str, flags: Flags) -> tuple[Flag, bool]:
    flag_and_sense = flags.by_name.get(name)
    if flag_and_sense is not None:
        return flag_and_sense
    near = difflib.get_close_matches(name, [*flags.by_name, *COMMAND_OPTIONS], 1, 0.5)
    names = ", ".join(f"--{flag.name}" for flag in flags) or "none"
    raise CommandError(
        f"--{name} is no flag here", f"did you mean --{near[0]}?" if near else f"there are: {names}"
    )


def _next_value(name: str, rest: list[str], flags: Flags) -> str:
    """The next word as the value of a flag; another flag is none, so that a forgotten value is noticed."""
    if not rest:
        raise CommandError(f"--{name} wants a value", f"write --{name} VALUE, or --{name}:=JSON")
    following = rest[0][2:].partition("=")[0].removesuffix(":") if rest[0].startswith("--") else ""
    if following in flags.by_name or following in COMMAND_OPTIONS:
        raise CommandError(
            f"--{name} wants a value", f"if you mean the text {rest[0]!r}, write --{name}={rest[0]}"
        )
    return rest.pop(0)


def parse_value(flag: Flag, text: str, where: str) -> Any:
    """The value that a text stands for, by the flag's way of reading."""
    if flag.reading == "json":
        return _parse_json_value(text, where)
    return _parse_scalar(flag.reading, flag.values, text)


def _parse_scalar(reading: Reading, values: AllowedValues, text: str) -> Any:
    """A single value. What fits no kind stays text: the guard repairs it, or says what is wrong."""
    if values.choices is not None:
        if text in [choice for choice in values.choices if isinstance(choice, str)]:
            return text
        parsed = _parse_json_scalar(text)
        return parsed if any(_same_json(parsed, choice) for choice in values.choices) else text
    if reading == "text" or "string" in values.kinds:
        return text
    parsed = _parse_json_scalar(text)
    return parsed if parsed is not _UNREAD and type_of(parsed) in values.kinds else text


_UNREAD = object()


def _parse_json_scalar(text: str) -> Any:
    """A JSON number, boolean or null; anything else is left alone."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _UNREAD
    if isinstance(value, (list, dict, str)) or (isinstance(value, float) and not math.isfinite(value)):
        return _UNREAD
    return value


def _same_json(left: Any, right: Any) -> bool:
    """Equal as JSON: 1 is neither true nor 1.0, since each is written in its own way."""
    return type(left) is type(right) and bool(left == right)


def _parse_json_value(text: str, where: str) -> Any:
    try:
        return parse_json(text, where)
    except DataFileError as error:
        remedy = error.remedy
        if not text[:1] or text[0] not in '{["-0123456789':
            remedy = f"it takes JSON; text is written in double quotes: '\"{text}\"'"
        raise CommandError(error.problem, remedy) from None


def format_arguments(args: Mapping[str, Any], flags: Flags) -> list[str]:
    """The words that give these arguments; what has no flag goes into `--args`."""
    by_param = {flag.param: flag for flag in flags}
    rest = {name: value for name, value in args.items() if name not in by_param}
    words = [f"--args={_compact_json(rest)}"] if rest else []
    for name, value in args.items():
        if name in by_param:
            words += _format_flag(by_param[name], value)
    return words


def _format_flag(flag: Flag, value: Any) -> Iterator[str]:
    if flag.reading == "switch" and isinstance(value, bool) and (value or flag.negative):
        yield f"--{flag.name}" if value else f"--{flag.negative}"
        return
    several = value if flag.reading == "many" and isinstance(value, list) else [value]
    plain = [_format_value(flag, item) for item in several]
    if not several or None in plain or (flag.reading == "many" and not isinstance(value, list)):
        yield f"--{flag.name}:={_compact_json(value)}"
        return
    yield from (f"--{flag.name}={text}" for text in plain)


def _format_value(flag: Flag, value: Any) -> str | None:
    """The text that is read as this value, or None when only JSON will do."""
    if flag.reading == "json":
        return _compact_json(value)
    text = value if isinstance(value, str) else _compact_json(value)
    back = _parse_scalar(flag.reading, flag.values, text)
    return text if _compact_json(back) == _compact_json(value) else None


def _compact_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


Name = Annotated[
    str | None,
    typer.Argument(help="The tool; its flags follow.", show_default=False, autocompletion=complete_tool_name),
]

Args = Annotated[
    str | None,
    option(
        "--args",
        "json",
        "Arguments as a JSON object, as @FILE, or - for standard input; flags come on top of them.",
    ),
]


@dataclass(frozen=True, slots=True)
class CallOptions:
    """The options of the command itself."""

    args: str | None = None
    as_: str | None = None
    session: str | None = None
    timeout: str | None = None
    tools: tuple[str, ...] = ()
    json: bool = False
    yes: bool = False
    plan: bool = False
    debug: bool = False
    help: bool = False

    @classmethod
    def of(cls, options: SharedOptions, **own: Any) -> CallOptions:
        """Those that stand before the name of the tool."""
        tools = tuple(options.tools or ())
        return cls(as_=options.as_, tools=tools, json=options.json, debug=options.debug, **own)

    def joined(self, after: OptionValues) -> CallOptions:
        """With those that stand after the name of the tool."""
        changes: dict[str, Any] = {
            "as_" if name == "as" else name: True if name in COMMAND_SWITCHES else values[-1]
            for name, values in after.items()
        }
        return replace(self, **changes | {"tools": (*self.tools, *after.get("tools", ()))})


@dataclass(frozen=True, slots=True)
class ToolCommandLine:
    """The options before the name, the name, and the words after it."""

    before: CallOptions
    given_name: str | None
    words: list[str]

    @property
    def early(self) -> CallOptions:
        """The options, as far as they can be told before the tool is known."""
        return self.before.joined(scan_options(self.words))

    @property
    def name(self) -> str:
        if not self.given_name:
            raise CommandError("which tool?", "its name comes before its flags; see: handrail tools")
        return self.given_name

    def read(
        self, tool: Tool, allowed: Collection[str] = COMMAND_OPTIONS
    ) -> tuple[dict[str, Any], CallOptions]:
        """The arguments for a tool and the options of the command, of which it may allow only some."""
        args, after = parse_flags(self.words, flags_of(tool, self.name))
        if unknown := [name for name in after if name not in allowed]:
            raise CommandError(f"--{unknown[0]} is no option of this command", "leave it out")
        options, early = self.before.joined(after), self.early
        if (options.tools, options.as_, options.plan) != (early.tools, early.as_, early.plan):
            problem = (
                "--tools, --as or --plan stands right after a flag, where it could be the value of that flag"
            )
            raise CommandError(problem, "write it before the name of the tool")
        return json_arguments(options.args) | args, options


def json_arguments(args: str | None, option: str = "--args") -> dict[str, Any]:
    """The arguments that `--args` or another option gives."""
    if args is None:
        return {}
    if args == "-":
        if sys.stdin is None:
            raise CommandError("standard input is closed", "give the arguments as @FILE or as a JSON object")
        text, where = sys.stdin.read(), "standard input"
    elif args.startswith("@"):
        text, where = read_text(Path(args[1:])), args[1:]
    else:
        text, where = args, option
    arguments = parse_json(text, where)
    if not isinstance(arguments, dict):
        raise CommandError(f"{where}: the arguments are not a JSON object", 'write {"name": value}')
    return arguments
