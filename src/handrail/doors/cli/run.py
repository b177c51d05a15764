"""handrail run: one call, by a person at the terminal or by an agent on their behalf."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from handrail.core.define.call import Outcome
from handrail.core.define.tool import Tool
from handrail.documents import parse_json, read_text
from handrail.doors.cli.calling import call
from handrail.doors.cli.exits import Exit, Stop, exit_of
from handrail.doors.cli.flags import Flags, flags_of
from handrail.doors.cli.opening import Opened, complete, open_for
from handrail.doors.cli.options import As, Debug, Json, Tools
from handrail.doors.cli.prompt import Asking, Terminal
from handrail.doors.cli.result import outcome_json, show_outcome
from handrail.doors.cli.screen import Screen, screen
from handrail.doors.cli.show import show_flags
from handrail.doors.cli.spelling import read_arguments

_LAST_SECOND = 1.0

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
Help = Annotated[bool, typer.Option("--help", help="Show this, or with a tool's name its flags.")]


def command(
    ctx: typer.Context,
    name: Name = None,
    args: Args = None,
    json: Json = False,
    as_: As = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="With --as agent: answer asks for ordinary writes with yes. "
            "Never for what is destructive or dangerous.",
        ),
    ] = False,
    session: Annotated[
        str | None, typer.Option("--session", metavar="name", help="The session that the call belongs to.")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="seconds", help="Stop the tool after so long.")
    ] = None,
    tools: Tools = None,
    debug: Debug = False,
    help_: Help = False,
) -> None:
    """Run a tool, with flags made from its schema.

    `handrail run NAME --help` shows the flags of a tool. `--flag:=JSON` gives any of them any value, such as
    `--limit:=null`. A parameter that is called like an option of this command has `arg-` in front.
    """
    if help_ and name is None:
        typer.echo(ctx.get_help())
        return
    with screen(debug) as here:
        if name is None or name.startswith("-"):
            raise Stop("which tool?", "its name comes first: handrail run NAME [FLAGS]; see: handrail tools")
        if yes and as_ is None:
            remedy = "you are asked yourself; --yes answers in your place only with --as agent"
            raise Stop("--yes goes with --as agent", remedy)
        if timeout is not None and not 0 < timeout < float("inf"):
            raise Stop(f"--timeout {timeout:g} is no time", "give seconds above 0")
        asking = Asking(Terminal(here.err), "", yes)
        opened = open_for(ctx, tools, as_, asking)
        asking.person, asking.by_agent = opened.acting.person, opened.acting.agent is not None
        if help_:
            _help(here, asyncio.run(opened.need(name)), name)
            return
        opened.need_tools()
        outcome = asyncio.run(_run(opened, asking, name, ctx.args, args, session, timeout, json, here))
        raise typer.Exit(exit_of(outcome))


async def _run(
    opened: Opened,
    asking: Asking,
    name: str,
    words: list[str],
    args: str | None,
    session: str | None,
    timeout: float | None,
    json: bool,
    here: Screen,
) -> Outcome:
    async with opened.hr as hr:
        tool = await opened.find(name)
        if isinstance(tool, Tool):
            if timeout is not None:
                tool = hr.registry.register(replace(tool, timeout=timeout), replace=True)
            asking.tool = tool
            given = arguments(words, args, flags_of(tool, name))
            outcome = await call(opened, name, given, tool.digest, here.err, session)
        else:
            # With the digest of no tool: whatever this name stands for by now, it is refused and not run.
            outcome = await call(opened, name, {}, "unseen", here.err, session)
        if json:
            here.out.json(outcome_json(outcome))
        else:
            show_outcome(here, outcome, tool if isinstance(tool, Tool) else None)
        here.out.flush()
    if outcome.code in ("CANCELLED", "TIMEOUT"):
        _leave_within(_LAST_SECOND, exit_of(outcome))
    return outcome


def _leave_within(seconds: float, code: Exit) -> None:
    """End the process soon: a thread of a stopped body may go on, and Python would wait for it."""
    timer = threading.Timer(seconds, os._exit, (code,))
    timer.daemon = True
    timer.start()


def arguments(words: list[str], args: str | None, flags: Flags) -> dict[str, Any]:
    """The arguments that `--args` and the flags give together."""
    return _whole(args) | read_arguments(words, flags)


def _whole(args: str | None) -> dict[str, Any]:
    if args is None:
        return {}
    if args == "-":
        text, where = sys.stdin.read(), "standard input"
    elif args.startswith("@"):
        text, where = read_text(Path(args[1:])), args[1:]
    else:
        text, where = args, "--args"
    given = parse_json(text, where)
    if not isinstance(given, dict):
        raise Stop(f"{where}: the arguments are not a JSON object", 'write {"name": value}')
    return given


def _help(here: Screen, tool: Tool, name: str) -> None:
    here.out.say(f"Usage: handrail run {tool.id} [FLAGS]\n")
    here.out.say(f"{tool.description}\n")
    show_flags(here.out, flags_of(tool, name), tool)
    here.out.say(
        "\n--flag:=JSON gives a flag any value. There are also --args, --as, --yes, --json, --session, "
        "--timeout, --tools and --debug; see: handrail run --help"
    )
