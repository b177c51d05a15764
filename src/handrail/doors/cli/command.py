"""The decorator of every command: shared options, the screen, what is opened, the answer and the exit code.

The body of a command is a plain function that gets an `Invocation` and its own options. Coroutines run by
`Invocation.run`, so that everything else (modules of tools that are imported, a database that is upgraded,
output into a pipe) happens while no loop runs, where Ctrl-C ends it at once.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, get_type_hints

import typer

from handrail.core.guard.approval_request import Approver
from handrail.doors.cli.arguments import scan_options
from handrail.doors.cli.composition import Composition
from handrail.doors.cli.context import CommandContext, open_context, require_database, settings_from_options
from handrail.doors.cli.database import open_database, open_event_log
from handrail.doors.cli.options import SHARED_OPTIONS, SharedOptions
from handrail.doors.cli.output import Answer, show_answer
from handrail.doors.cli.screen import Screen, open_screen
from handrail.settings import Settings

if TYPE_CHECKING:
    from handrail.core.define.principal import Principal
    from handrail.store.database import Database
    from handrail.store.events.log import StoreLog

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Invocation:
    """One command as it was called: where it writes, the options that commands share, and what it opens."""

    screen: Screen
    composition: Composition
    words: list[str]
    """What stands after the name of a tool, which only the command can read."""
    options: SharedOptions
    _runner: asyncio.Runner
    _stack: ExitStack

    @cached_property
    def settings(self) -> Settings:
        """The settings, with what the command line says on top."""
        options = self.options
        return settings_from_options(options.database, options.tenant, options.user)

    @property
    def operator(self) -> Principal:
        """Whoever has the database in hand, acting for the tenant."""
        from handrail.identity.permissions import console_principal

        return console_principal(self.settings.tenant)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine; all those of a command run in one loop."""
        return self._runner.run(work)

    def open(self, resource: AbstractContextManager[T]) -> T:
        """Open something until the command ends."""
        return self._stack.enter_context(resource)

    def database(self) -> Database:
        """The database of the settings."""
        return self.open(open_database(self.settings))

    def event_log(self) -> StoreLog:
        """The event log of the database."""
        return self.open(open_event_log(self.settings))

    def with_tools(self, approver: Approver | None = None) -> CommandContext:
        """Handrail with the tools that `--tools` or the settings name, for whoever `--as` names."""
        return self._handrail(self.settings, approver)

    def with_database(self, approver: Approver | None = None) -> CommandContext:
        """The same on a database, which there must be."""
        require_database(self.settings)
        return self._handrail(self.settings, approver)

    def without_tools(self) -> CommandContext:
        """The same without tools, for what is to be had from the database alone."""
        require_database(self.settings)
        return self._handrail(replace(self.settings, tools=()), None)

    def _handrail(self, settings: Settings, approver: Approver | None) -> CommandContext:
        options = self.options
        repeated = options.about_database
        context = open_context(self.composition, settings, options.tools, options.as_, approver, repeated)
        return self.opened(context)

    def opened(self, context: CommandContext) -> CommandContext:
        """The context, with its Handrail open until the command ends."""
        self._stack.callback(lambda: self.run(context.hr.close()))
        self.run(context.hr.open())
        return context


def command(
    options: str = "",
) -> Callable[[Callable[Concatenate[Invocation, P], Answer | None]], Callable[..., None]]:
    """Make a command of a body: `options` names the shared options that it takes, in the order of its help.

    `--debug` comes last by itself. Options of its own stand before, or where `options` names them as well.
    """

    def decorate(body: Callable[Concatenate[Invocation, P], Answer | None]) -> Callable[..., None]:
        call: Callable[..., Answer | None] = body  # what it takes is written for typer alone

        @wraps(body)
        def run(ctx: typer.Context, **values: Any) -> None:
            shared = SharedOptions(**{name: values.pop(name) for name in SHARED_OPTIONS if name in values})
            # Options of `run` and `explain` may also stand among the flags of the tool.
            debug = shared.debug or "debug" in scan_options(ctx.args)
            with open_screen(debug) as screen, ExitStack() as stack:
                runner = asyncio.Runner()  # its loop is made when a coroutine runs
                stack.callback(runner.close)
                cli = Invocation(screen, ctx.obj, ctx.args, shared, runner, stack)
                if (answer := call(cli, **values)) is not None:
                    show_answer(screen, answer, shared.json)
                    raise typer.Exit(answer.code)

        _set_signature(run, body, [*options.split(), "debug"])
        return run

    return decorate


def _set_signature(run: Callable[..., None], body: Callable[..., Any], order: list[str]) -> None:
    """Let typer see the options of the body and those that it shares as if all were written in one place."""
    own = dict(list(inspect.signature(body).parameters.items())[1:])
    run.__annotations__ = {name: own[name].annotation for name in own}
    hints = get_type_hints(run, include_extras=True)
    options = SHARED_OPTIONS | {name: (hints[name], param.default) for name, param in own.items()}
    names = [*(name for name in own if name not in order), *order]
    params = [("ctx", (typer.Context, inspect.Parameter.empty)), *((name, options[name]) for name in names)]
    run.__annotations__ = {name: annotation for name, (annotation, _) in params}
    vars(run)["__signature__"] = inspect.Signature(
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for name, (annotation, default) in params
        ]
    )
