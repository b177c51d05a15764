"""The root of the command line: names, and a sentence on each; a command loads when it is called.

`handrail --help` must answer at once, so nothing here imports more than typer.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from shutil import get_terminal_size
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from handrail import __version__
from handrail.doors.cli.composition import Composition
from handrail.doors.cli.exit_codes import ExitCode

_NARROWEST, _WIDEST = 30, 100
_CODES = ", ".join(f"{code.value} {code.meaning}" for code in ExitCode)


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command before it is loaded."""

    module: str
    function: str
    summary: str
    """The first sentence of the command's own docstring."""
    flags: bool = False
    """Whether flags of a tool may follow, which only the command can read."""


CommandGroupEntry = tuple[str, dict[str, CommandEntry]]
"""What is said of a group, and its commands."""


def _group(module: str, summary: str, **commands: tuple[str, str]) -> CommandGroupEntry:
    """A group whose commands stand in one module: for each its function and its summary."""
    return summary, {name: CommandEntry(module, *entry) for name, entry in commands.items()}


COMMANDS: dict[str, CommandEntry | CommandGroupEntry] = {
    "tools": CommandEntry("tools", "list_tools", "List the tools that you or an agent may use."),
    "show": CommandEntry("tools", "show_tool", "Show everything about one tool."),
    "run": CommandEntry("run", "run", "Run a tool, with flags made from its schema.", flags=True),
    "policy": (
        "Ask what the guard would say.",
        {"explain": CommandEntry("explain", "explain", "Say whether a call would run, and why.", flags=True)},
    ),
    "plan": _group(
        "plan",
        "See, run or discard what plan mode holds back.",
        show=("show_plan", "Show what is planned, in the order in which it would run."),
        run=("run_plan", "Run what is planned, in order, each call through the whole guard."),
        discard=("discard_plan", "Forget what is planned; none of it runs."),
    ),
    "approvals": _group(
        "approvals",
        "See and answer what waits for a person.",
        list=("list_approvals", "List what waits for an answer."),
        show=("show_approval", "Show one question with its exact arguments."),
        approve=("approve", "Let a call run that waits."),
        reject=("reject", "Refuse a call that waits."),
        respond=("respond", "Answer in the place of the tool."),
    ),
    "runs": _group(
        "runs",
        "See which calls ran, and how they ended.",
        list=("list_runs", "List calls whose body began, the newest first."),
        show=(
            "show_run",
            "Show one call: what it was given, everything that happened to it, and how it ended.",
        ),
    ),
    "undo": CommandEntry("undo", "undo", "Take back what a call did."),
    "events": CommandEntry("events", "list_events", "Show what happened, oldest first."),
    "verify-log": CommandEntry(
        "events", "verify_log", "Check that nobody changed the record of what happened."
    ),
    "dlq": _group(
        "dlq",
        "See, replay and purge calls that failed.",
        list=("list_letters", "List calls that failed."),
        show=("show_letter", "Show one call that failed, and why."),
        replay=("replay_letter", "Make a failed call once more."),
        purge=("purge_letters", "Forget failed calls for good."),
    ),
    "serve": CommandEntry(
        "serve", "start_server", "Serve the tools to programs and agents: REST under /api, MCP under /mcp."
    ),
    "sign-in": CommandEntry("admin", "create_sign_in_link", "Make a link by which a person signs in, once."),
    "worker": CommandEntry(
        "serve", "start_worker", "Run what waits in the database: approved, submitted and scheduled calls."
    ),
    "tenants": _group(
        "admin",
        "Look after the tenants of a database.",
        list=("list_tenants", "List the tenants of the database."),
        add=("add_tenant", "Add a tenant."),
    ),
    "keys": _group(
        "admin",
        "Look after the API keys of a tenant.",
        list=("list_keys", "List the API keys of a tenant."),
        add=("add_key", "Make an API key, and show it once."),
        revoke=("revoke_key", "End an API key for good."),
    ),
    "secrets": _group(
        "admin",
        "Look after what tools are told in confidence.",
        list=("list_secrets", "List which secrets a tenant has."),
        set=("set_secret", "Keep a secret."),
        remove=("remove_secret", "Forget a secret for good."),
    ),
    "db": _group(
        "admin",
        "Look after the database.",
        upgrade=("upgrade_database", "Bring the database to the schema of this version."),
    ),
    "conformance": CommandEntry("conformance", "check_tools", "Check how well tools are written."),
    "new": _group(
        "new",
        "Write something new from a template.",
        tool=("create_tool", "Write a tool, its description file and its test."),
    ),
    "mcp": _group(
        "mcp",
        "Serve tools by MCP, and use those of other servers.",
        serve=(
            "serve_stdio",
            "Serve the tools over standard input and output, as `handrail mcp` alone does.",
        ),
        add=("add_server", "Add a server to the settings."),
        list=("list_servers", "List the servers, their tools, and what changed of them."),
        accept=("accept_tools", "Accept what a server says of its tools now."),
        remove=("remove_server", "Take a server out of the settings, and forget what was accepted of it."),
    ),
    "doctor": CommandEntry("doctor", "check_setup", "Check the set-up, and say what to do."),
}
"""Every command, in the order of the help; a group with its sentence and its commands."""

DEFAULT_COMMANDS = {"mcp": "serve", "plan": "show"}
"""What a group does that is called without one of its commands."""


class CommandGroup(TyperGroup):
    """A group of commands; one that has a default command runs it when no other is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        default = DEFAULT_COMMANDS.get(self.name or "")
        if default is not None and (not args or (args[0].startswith("-") and args[0] != "--help")):
            args = [default, *args]
        return super().parse_args(ctx, args)


class LazyCommand(TyperCommand):
    """Stands for a command in lists, and becomes it when somebody calls it."""

    def __init__(self, name: str, entry: CommandEntry) -> None:
        super().__init__(name, short_help=entry.summary, rich_markup_mode=None)
        self._entry = entry

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return self._loaded().make_context(info_name, args, parent, **extra)

    def _loaded(self) -> Any:
        module = import_module(f"handrail.doors.cli.{self._entry.module}")
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        function = getattr(module, self._entry.function)
        app.command(self.name, context_settings=_FOR_FLAGS if self._entry.flags else None)(function)
        return get_command(app)


_FOR_FLAGS = {"allow_extra_args": True, "allow_interspersed_args": False}
"""What stands after the tool's name is left to the command."""


def run_command_line(composition: Composition) -> None:
    """Run the command that the process was called with."""
    command_line()(prog_name="handrail", obj=composition, terminal_width=_width())


def _width() -> int:
    """The columns that help is written into: those there are, as far as lines stay easy to read."""
    return max(_NARROWEST, min(get_terminal_size().columns, _WIDEST)) - 2


def command_line() -> TyperGroup:
    """The whole command line. Help is plain text: boxes would cut names short on a narrow terminal."""
    app = typer.Typer(
        help="One tool definition, safe in every hand.",
        epilog=f"Exit codes: {_CODES}.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_root)
    root = get_command(app)
    assert isinstance(root, TyperGroup)
    _fill(root, COMMANDS)
    return root


def _fill(group: TyperGroup, commands: Mapping[str, CommandEntry | CommandGroupEntry]) -> None:
    for name, entry in commands.items():
        if isinstance(entry, CommandEntry):
            group.add_command(LazyCommand(name, entry))
        else:
            summary, commands_below = entry
            subgroup = CommandGroup(
                name=name, help=summary, short_help=summary, no_args_is_help=True, rich_markup_mode=None
            )
            _fill(subgroup, commands_below)
            group.add_command(subgroup)


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"handrail {__version__}, Python {platform.python_version()}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Say which version this is.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """One tool definition, safe in every hand."""
