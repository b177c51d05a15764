"""handrail run: one call, by a person at the terminal or by an agent on their behalf."""

from __future__ import annotations

import asyncio
import math
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any

import typer

from handrail.core.define.call import Outcome
from handrail.core.define.decision import Decision
from handrail.core.define.tool import Tool
from handrail.core.ids import new_id
from handrail.core.tell.events import Event, OutputAppended, Progress
from handrail.doors.cli.approval_prompt import TerminalApprover, TerminalInput
from handrail.doors.cli.arguments import Args, CallOptions, Name, ToolCommandLine
from handrail.doors.cli.command import Invocation, command
from handrail.doors.cli.context import CommandContext, actor_of, open_context, require_database
from handrail.doors.cli.exit_codes import CommandError, ExitCode, exit_code_of
from handrail.doors.cli.flags import flags_of
from handrail.doors.cli.hints import RequestedCall, hint_of, reword_outcome
from handrail.doors.cli.options import option, switch
from handrail.doors.cli.output import outcome_answer, show_answer
from handrail.doors.cli.screen import OutputStream, Screen
from handrail.doors.cli.signals import on_stop
from handrail.doors.cli.tools import show_flags
from handrail.platform.display_text import one_line, visible
from handrail.settings import Settings

_MAX_STREAMED = 200_000
"""Characters of what a body says that are kept, so that they are not said again."""


async def call_with_progress(
    context: CommandContext,
    name: str,
    args: Mapping[str, Any],
    digest: str,
    live: OutputStream,
    session: str | None = None,
) -> Outcome:
    """Run one call. A first Ctrl-C cancels it, and its body can clean up; a second one leaves at once."""
    hr, actor = context.hr, context.actor
    call_id = new_id("call")
    output = _LiveOutput(live, call_id)
    unsubscribe = hr.subscribe(output.hear)
    calling = asyncio.create_task(
        hr.call(
            name,
            args,
            principal=actor.principal,
            source=actor.source,
            session=session,
            digest=digest,
            id=call_id,
        )
    )
    stopping: list[asyncio.Task[bool]] = []

    def stop(why: str) -> None:
        live.say("Stopping; press Ctrl-C again to leave at once.", "dim")
        stopping.append(asyncio.create_task(hr.cancel(call_id, why)))

    on_stop(asyncio.get_running_loop(), stop)
    try:
        return await calling
    finally:
        unsubscribe()
        output.end()


class _LiveOutput:
    """What a body says while it runs, on standard error."""

    def __init__(self, side: OutputStream, call_id: str) -> None:
        self._side = side
        self._call_id = call_id
        self._open = False
        """Whether the last piece of output left its line open."""

    def hear(self, event: Event) -> None:
        if event.call_id != self._call_id:
            return
        with suppress(OSError):  # nobody reads it any more; the call goes on
            if isinstance(event, Progress) and isinstance(event.title, str):
                self.end()
                self._side.say(f"… {one_line(event.title)}", "dim")
            elif isinstance(event, OutputAppended) and event.chunk:
                piece = visible(event.chunk)
                self._side.stream.write(piece)
                self._side.flush()
                if len(self._side.streamed) < _MAX_STREAMED:
                    self._side.streamed += piece
                self._open = not event.chunk.endswith("\n")

    def end(self) -> None:
        """Close the line that a piece of output left open."""
        if self._open:
            with suppress(OSError):
                self._side.stream.write("\n")
            self._open = False


_EXIT_DELAY = 1.0
_DATABASE_REMEDY = 'write database = "sqlite:///handrail.db" in handrail.toml, or set HANDRAIL_DATABASE'


@command("json as_ yes plan session timeout tools")
def run(
    cli: Invocation,
    name: Name = None,
    args: Args = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="With --as agent: answer asks for ordinary writes with yes. "
            "Never for what is destructive or dangerous.",
        ),
    ] = False,
    plan: Annotated[
        bool, switch("--plan", "Do not run it: put it into the plan. See: handrail plan")
    ] = False,
    session: Annotated[
        str | None, option("--session", "name", "The session that the call belongs to.")
    ] = None,
    timeout: Annotated[str | None, option("--timeout", "seconds", "Stop the tool after so long.")] = None,
) -> None:
    """Run a tool, with flags made from its schema.

    `handrail run NAME --help` shows the flags of a tool. `--flag:=JSON` gives any of them any value, such as
    `--limit:=null`. The options below may also stand among the flags; a parameter that is called like one of
    them has `arg-` in front.
    """
    before = CallOptions.of(cli.options, args=args, yes=yes, plan=plan, session=session, timeout=timeout)
    line = ToolCommandLine(before, name, cli.words)
    early = line.early
    settings = _settings(cli.settings, early)
    approver = TerminalApprover(TerminalInput(cli.screen.err), actor_of(early.as_, settings))
    context = open_context(cli.composition, settings, early.tools, early.as_, approver)
    context.require_tools()
    if "--help" in line.words:
        _help(cli.screen, cli.run(cli.opened(context).need(line.name)), line.name)
        return
    tool = cli.run(context.find(line.name))
    # Read between two runs: while the loop runs, Ctrl-C does not end the reading of standard input.
    arguments, options = line.read(tool) if isinstance(tool, Tool) else ({}, early)
    raise typer.Exit(cli.run(_run(context, approver, line, tool, arguments, options, cli.screen)))


def _settings(settings: Settings, options: CallOptions) -> Settings:
    """The settings; with --plan, those under which every call is planned."""
    if not options.plan:
        return settings
    require_database(settings, _DATABASE_REMEDY)
    return replace(settings, policy={**settings.policy, "plan": "all"})


async def _run(
    context: CommandContext,
    approver: TerminalApprover,
    line: ToolCommandLine,
    tool: Tool | Decision,
    args: dict[str, Any],
    options: CallOptions,
    screen: Screen,
) -> ExitCode:
    async with context.hr as hr:
        if isinstance(tool, Tool):
            if options.timeout is not None:
                tool = hr.registry.register(replace(tool, timeout=_seconds(options.timeout)), replace=True)
            if options.yes and context.actor.agent is None:
                remedy = "you are asked yourself; --yes answers in your place only with --as agent"
                raise CommandError("--yes goes with --as agent", remedy)
            approver.tool, approver.yes = tool, options.yes
            outcome = await call_with_progress(
                context, line.name, args, tool.digest, screen.err, options.session
            )
            json = options.json
            requested = RequestedCall(context, line.name, options, tool, args)
        else:
            # With the digest of no tool: whatever this name stands for by now, it is refused and not run.
            outcome = await call_with_progress(context, line.name, {}, "unseen", screen.err)
            json = line.before.json or "--json" in line.words
            requested = RequestedCall(context, line.name, options)
        answerable = approver.terminal.is_interactive
        outcome = reword_outcome(outcome, requested, answerable)
        hint = hint_of(outcome, requested, answerable)
        show_answer(screen, outcome_answer(outcome, requested.tool, hint), json)
        screen.out.flush()
    if outcome.code in ("CANCELLED", "TIMEOUT"):
        _leave_within(_EXIT_DELAY, exit_code_of(outcome))
    return exit_code_of(outcome)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise CommandError(f"--timeout {text!r} is no time", "give seconds above 0")
    return seconds


def _leave_within(seconds: float, code: ExitCode) -> None:
    """End the process soon: a thread of a stopped body may go on, and Python would wait for it."""
    timer = threading.Timer(seconds, os._exit, (code,))
    timer.daemon = True
    timer.start()


def _help(screen: Screen, tool: Tool, name: str) -> None:
    screen.out.say(f"Usage: handrail run {tool.id} [FLAGS]\n")
    screen.out.say(f"{tool.description}\n")
    show_flags(screen.out, flags_of(tool, name), tool)
    screen.out.say(
        "\n--flag:=JSON gives a flag any value. There are also --args, --as, --yes, --json, --plan, "
        "--session, --timeout, --tools and --debug; see: handrail run --help"
    )
