"""handrail run: one call, by a person at the terminal or by an agent on their behalf."""

from __future__ import annotations

import asyncio
import math
import os
import threading
from dataclasses import replace
from typing import Annotated, Any

import typer

from handrail.core.define.decision import Decision
from handrail.core.define.tool import Tool
from handrail.doors.cli.calling import call
from handrail.doors.cli.exits import Exit, Stop, exit_of
from handrail.doors.cli.flags import flags_of
from handrail.doors.cli.hints import Asked, as_it_ends, hint_of
from handrail.doors.cli.line import Args, Line, Name, Options
from handrail.doors.cli.opening import Opened, open_with
from handrail.doors.cli.options import As, Debug, Json, Tools
from handrail.doors.cli.prompt import Asking, Terminal
from handrail.doors.cli.result import outcome_json, show_outcome
from handrail.doors.cli.screen import Screen, screen
from handrail.doors.cli.show import show_flags
from handrail.doors.cli.where import need_database
from handrail.settings import Settings, load_settings

_LAST_SECOND = 1.0
_DATABASE = 'write database = "sqlite:///handrail.db" in handrail.toml, or set HANDRAIL_DATABASE'


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
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Do not run it: put it into the plan. See: handrail plan"),
    ] = False,
    session: Annotated[
        str | None, typer.Option("--session", metavar="name", help="The session that the call belongs to.")
    ] = None,
    timeout: Annotated[
        str | None, typer.Option("--timeout", metavar="seconds", help="Stop the tool after so long.")
    ] = None,
    tools: Tools = None,
    debug: Debug = False,
) -> None:
    """Run a tool, with flags made from its schema.

    `handrail run NAME --help` shows the flags of a tool. `--flag:=JSON` gives any of them any value, such as
    `--limit:=null`. The options below may also stand among the flags; a parameter that is called like one of
    them has `arg-` in front.
    """
    options = Options(args, as_, session, timeout, tuple(tools or ()), json, yes, plan, debug)
    line = Line(options, name, ctx.args)
    with screen(line.early.debug) as here:
        asking = Asking(Terminal(here.err))
        opened = open_with(ctx, _settings(line.early), line.early.tools, line.early.as_, asking)
        opened.need_tools()
        if "--help" in line.words:
            _help(here, opened.run(opened.need(line.name)), line.name)
            return
        with asyncio.Runner() as loop:
            tool = loop.run(opened.find(line.name))
            # Read between two runs: while the loop runs, Ctrl-C does not end the reading of standard input.
            read = line.read(tool) if isinstance(tool, Tool) else ({}, line.early)
            raise typer.Exit(loop.run(_run(opened, asking, line, tool, *read, here)))


def _settings(options: Options) -> Settings:
    """The settings; with --plan, those under which every call is planned."""
    settings = load_settings()
    if not options.plan:
        return settings
    need_database(settings, _DATABASE)
    return replace(settings, policy={**settings.policy, "plan": "all"})


async def _run(
    opened: Opened,
    asking: Asking,
    line: Line,
    tool: Tool | Decision,
    given: dict[str, Any],
    options: Options,
    here: Screen,
) -> Exit:
    async with opened.hr as hr:
        if isinstance(tool, Tool):
            if options.timeout is not None:
                tool = hr.registry.register(replace(tool, timeout=_seconds(options.timeout)), replace=True)
            if options.yes and opened.acting.agent is None:
                remedy = "you are asked yourself; --yes answers in your place only with --as agent"
                raise Stop("--yes goes with --as agent", remedy)
            asking.acting, asking.tool, asking.yes = opened.acting, tool, options.yes
            outcome = await call(opened, line.name, given, tool.digest, here.err, options.session)
            json = options.json
            asked = Asked(opened, line.name, options, tool, given)
        else:
            # With the digest of no tool: whatever this name stands for by now, it is refused and not run.
            outcome = await call(opened, line.name, {}, "unseen", here.err)
            json = line.before.json or "--json" in line.words
            asked = Asked(opened, line.name, options)
        answerable = asking.terminal.is_there
        outcome = as_it_ends(outcome, asked, answerable)
        if json:
            here.out.json(outcome_json(outcome))
        else:
            show_outcome(here, outcome, asked.tool, hint_of(outcome, asked, answerable))
        here.out.flush()
    if outcome.code in ("CANCELLED", "TIMEOUT"):
        _leave_within(_LAST_SECOND, exit_of(outcome))
    return exit_of(outcome)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise Stop(f"--timeout {text!r} is no time", "give seconds above 0")
    return seconds


def _leave_within(seconds: float, code: Exit) -> None:
    """End the process soon: a thread of a stopped body may go on, and Python would wait for it."""
    timer = threading.Timer(seconds, os._exit, (code,))
    timer.daemon = True
    timer.start()


def _help(here: Screen, tool: Tool, name: str) -> None:
    here.out.say(f"Usage: handrail run {tool.id} [FLAGS]\n")
    here.out.say(f"{tool.description}\n")
    show_flags(here.out, flags_of(tool, name), tool)
    here.out.say(
        "\n--flag:=JSON gives a flag any value. There are also --args, --as, --yes, --json, --plan, "
        "--session, --timeout, --tools and --debug; see: handrail run --help"
    )
