"""The root of the command line: names, and a sentence on each; a command loads when it is called.

`handrail --help` must answer at once, so nothing here imports more than typer.
"""

from __future__ import annotations

import platform
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
    summary: str
    """The first sentence of the command's own docstring."""
    flags: bool = False
    """Whether flags of a tool may follow, which only the command can read."""
    function: str = "command"
    """The function in the module; several commands of one group share a module."""


COMMANDS: dict[str, CommandEntry | tuple[str, dict[str, CommandEntry]]] = {
    "tools": CommandEntry("tools", "List the tools that you or an agent may use.", function="list_tools"),
    "show": CommandEntry("tools", "Show everything about one tool.", function="show_tool"),
    "run": CommandEntry("run", "Run a tool, with flags made from its schema.", flags=True),
    "policy": (
        "Ask what the guard would say.",
        {"explain": CommandEntry("explain", "Say whether a call would run, and why.", flags=True)},
    ),
    "plan": (
        "See, run or discard what plan mode holds back.",
        {
            "show": CommandEntry(
                "plan", "Show what is planned, in the order in which it would run.", function="show"
            ),
            "run": CommandEntry(
                "plan", "Run what is planned, in order, each call through the whole guard.", function="run"
            ),
            "discard": CommandEntry("plan", "Forget what is planned; none of it runs.", function="discard"),
        },
    ),
    "approvals": (
        "See and answer what waits for a person.",
        {
            "list": CommandEntry("approvals", "List what waits for an answer.", function="list_"),
            "show": CommandEntry("approvals", "Show one question with its exact arguments.", function="show"),
            "approve": CommandEntry("approvals", "Let a call run that waits.", function="approve"),
            "reject": CommandEntry("approvals", "Refuse a call that waits.", function="reject"),
            "respond": CommandEntry("approvals", "Answer in the place of the tool.", function="respond"),
        },
    ),
    "runs": (
        "See which calls ran, and how they ended.",
        {
            "list": CommandEntry("runs", "List calls whose body began, the newest first.", function="list_"),
            "show": CommandEntry(
                "runs",
                "Show one call: what it was given, everything that happened to it, and how it ended.",
                function="show",
            ),
        },
    ),
    "undo": CommandEntry("undo", "Take back what a call did."),
    "events": CommandEntry("events", "Show what happened, oldest first.", function="list_events"),
    "verify-log": CommandEntry(
        "events", "Check that nobody changed the record of what happened.", function="verify_log"
    ),
    "dlq": (
        "See, replay and purge calls that failed.",
        {
            "list": CommandEntry("dlq", "List calls that failed.", function="list_"),
            "show": CommandEntry("dlq", "Show one call that failed, and why.", function="show"),
            "replay": CommandEntry("dlq", "Make a failed call once more.", function="replay"),
            "purge": CommandEntry("dlq", "Forget failed calls for good.", function="purge"),
        },
    ),
    "serve": CommandEntry(
        "serve",
        "Serve the tools to programs and agents: REST under /api, MCP under /mcp.",
        function="start_server",
    ),
    "sign-in": CommandEntry("sign_in", "Make a link by which a person signs in, once."),
    "worker": CommandEntry(
        "serve",
        "Run what waits in the database: approved, submitted and scheduled calls.",
        function="start_worker",
    ),
    "tenants": (
        "Look after the tenants of a database.",
        {
            "list": CommandEntry("tenants", "List the tenants of the database.", function="list_"),
            "add": CommandEntry("tenants", "Add a tenant.", function="add"),
        },
    ),
    "keys": (
        "Look after the API keys of a tenant.",
        {
            "list": CommandEntry("keys", "List the API keys of a tenant.", function="list_"),
            "add": CommandEntry("keys", "Make an API key, and show it once.", function="add"),
            "revoke": CommandEntry("keys", "End an API key for good.", function="revoke"),
        },
    ),
    "secrets": (
        "Look after what tools are told in confidence.",
        {
            "list": CommandEntry("secrets", "List which secrets a tenant has.", function="list_"),
            "set": CommandEntry("secrets", "Keep a secret.", function="set_"),
            "remove": CommandEntry("secrets", "Forget a secret for good.", function="remove"),
        },
    ),
    "db": (
        "Look after the database.",
        {
            "upgrade": CommandEntry(
                "db", "Bring the database to the schema of this version.", function="upgrade"
            )
        },
    ),
    "conformance": CommandEntry("conformance", "Check how well tools are written."),
    "new": (
        "Write something new from a template.",
        {"tool": CommandEntry("new", "Write a tool, its description file and its test.")},
    ),
    "mcp": (
        "Serve tools by MCP, and use those of other servers.",
        {
            "serve": CommandEntry(
                "mcp",
                "Serve the tools over standard input and output, as `handrail mcp` alone does.",
                function="serve",
            ),
            "add": CommandEntry("mcp", "Add a server to the settings.", function="add"),
            "list": CommandEntry(
                "mcp", "List the servers, their tools, and what changed of them.", function="list_"
            ),
            "accept": CommandEntry("mcp", "Accept what a server says of its tools now.", function="accept"),
            "remove": CommandEntry(
                "mcp",
                "Take a server out of the settings, and forget what was accepted of it.",
                function="remove",
            ),
        },
    ),
    "doctor": CommandEntry("doctor", "Check the set-up, and say what to do."),
}
"""Every command, in the order of the help; a group with its sentence and its commands."""

DEFAULT_COMMANDS = {"mcp": "serve", "plan": "show"}
"""What a group does that is called without one of its commands."""


class CommandGroup(TyperGroup):
    """A group of commands; one that has a bare command does that when no other is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        bare = DEFAULT_COMMANDS.get(self.name or "")
        if bare is not None and (not args or (args[0].startswith("-") and args[0] != "--help")):
            args = [bare, *args]
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


def _fill(group: TyperGroup, commands: Any) -> None:
    for name, entry in commands.items():
        if isinstance(entry, CommandEntry):
            group.add_command(LazyCommand(name, entry))
        else:
            summary, inner = entry
            below = CommandGroup(
                name=name, help=summary, short_help=summary, no_args_is_help=True, rich_markup_mode=None
            )
            _fill(below, inner)
            group.add_command(below)


def _version(given: bool) -> None:
    if given:
        typer.echo(f"handrail {__version__}, Python {platform.python_version()}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Say which version this is.", is_eager=True, callback=_version),
    ] = False,
) -> None:
    """One tool definition, safe in every hand."""
