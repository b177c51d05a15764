"""Line: a command line that names a tool. Typer reads what stands before the name; the rest is read here."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from handrail.core.define.tool import Tool
from handrail.documents import parse_json, read_text
from handrail.doors.cli.exits import Stop
from handrail.doors.cli.flags import OWN, OWN_SWITCHES, flags_of
from handrail.doors.cli.opening import complete
from handrail.doors.cli.spelling import Own, look_ahead, read_words

Name = Annotated[
    str | None,
    typer.Argument(help="The tool; its flags follow.", show_default=False, autocompletion=complete),
]
Args = Annotated[
    str | None,
    typer.Option(
        "--args",
        metavar="json",
        help="Arguments as a JSON object, as @FILE, or - for standard input; flags come on top of them.",
    ),
]


@dataclass(frozen=True, slots=True)
class Options:
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

    def joined(self, own: Own) -> Options:
        """With those that stand after the name of the tool."""
        given: dict[str, Any] = {
            "as_" if name == "as" else name: True if name in OWN_SWITCHES else values[-1]
            for name, values in own.items()
        }
        return replace(self, **given | {"tools": (*self.tools, *own.get("tools", ()))})


@dataclass(frozen=True, slots=True)
class Line:
    """The options before the name, the name, and the words after it."""

    before: Options
    given_name: str | None
    words: list[str]

    @property
    def early(self) -> Options:
        """The options, as far as they can be told before the tool is known."""
        return self.before.joined(look_ahead(self.words))

    @property
    def name(self) -> str:
        if not self.given_name:
            raise Stop("which tool?", "its name comes before its flags; see: handrail tools")
        return self.given_name

    def read(self, tool: Tool, known: Collection[str] = OWN) -> tuple[dict[str, Any], Options]:
        """The arguments for a tool and the options of the command, of which it may know only some."""
        given, own = read_words(self.words, flags_of(tool, self.name))
        if unknown := [name for name in own if name not in known]:
            raise Stop(f"--{unknown[0]} is no option of this command", "leave it out")
        options, early = self.before.joined(own), self.early
        if (options.tools, options.as_, options.plan) != (early.tools, early.as_, early.plan):
            problem = (
                "--tools, --as or --plan stands right after a flag, where it could be the value of that flag"
            )
            raise Stop(problem, "write it before the name of the tool")
        return whole(options.args) | given, options


def whole(args: str | None, option: str = "--args") -> dict[str, Any]:
    """The arguments that `--args` or another option gives."""
    if args is None:
        return {}
    if args == "-":
        if sys.stdin is None:
            raise Stop("standard input is closed", "give the arguments as @FILE or as a JSON object")
        text, where = sys.stdin.read(), "standard input"
    elif args.startswith("@"):
        text, where = read_text(Path(args[1:])), args[1:]
    else:
        text, where = args, option
    given = parse_json(text, where)
    if not isinstance(given, dict):
        raise Stop(f"{where}: the arguments are not a JSON object", 'write {"name": value}')
    return given
