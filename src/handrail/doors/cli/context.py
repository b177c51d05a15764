"""CommandContext: settings, tools and whoever acts, put together for one command."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from handrail.core.define.decision import Decision
from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.errors import HandrailError
from handrail.core.guard.approval_request import Approver
from handrail.core.run.approvals.inbox import Conflict
from handrail.doors.cli.composition import Composition
from handrail.doors.cli.exit_codes import CommandError, ExitCode
from handrail.doors.cli.load_tools import load_tools
from handrail.engine.handrail import Handrail
from handrail.settings import Settings, absolute_database_url, load_settings

UNNAMED_AGENT = "agent"
"""What an agent is called that `--as agent` gives no name."""


def describe_agent(name: str) -> str:
    """An agent, in a sentence."""
    return "the agent" if name == UNNAMED_AGENT else f"agent {name}"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who calls, and through which door."""

    principal: Principal
    source: Source
    person: str
    """Who sits at the terminal, and answers there."""

    @property
    def agent(self) -> str | None:
        return self.principal.agent

    @property
    def caller(self) -> str:
        """Who calls, in a sentence."""
        return "you" if self.agent is None else describe_agent(self.agent)


def actor_of(who: str | None, settings: Settings) -> Actor:
    """Whoever `--as` names: nobody else than the person, `agent`, or `agent:NAME`."""
    person = Principal(
        tenant=settings.tenant, user=settings.user, roles=settings.roles, permissions=settings.permissions
    )
    if who is None or who == "person":
        return Actor(person, "cli", settings.user)
    kind, _, name = who.partition(":")
    if kind != "agent" or (":" in who and not name):
        raise CommandError(f"--as {who!r} is nobody", "give --as agent, --as agent:NAME, or leave it out")
    return Actor(person.spawn(name or UNNAMED_AGENT), "agent", settings.user)


_LAYERS_BEFORE_ARGUMENTS = frozenset({"find", "visibility", "allow/deny", "permission", "capability"})
"""Layers that speak before anybody looks at arguments: what they refuse has no flags to show."""
NO_TOOLS_REMEDY = "decorate a function with @tool"


def no_tools_message(modules: Iterable[str]) -> str:
    """What is wrong where modules were named and have no tools."""
    return f"there are no tools in {', '.join(modules)}"


@dataclass(frozen=True, slots=True)
class CommandContext:
    """What a command works with."""

    hr: Handrail
    actor: Actor
    modules: tuple[str, ...]
    """Where the tools were looked for."""
    repeated_options: tuple[str, ...]
    """`--tools` and `--as` as they were given: another command about the same needs them too."""
    has_database: bool = False
    """Whether there is a database, so that what waits outlives the command."""

    def command(self, *words: str, then: Sequence[str] = ()) -> str:
        """A command line about the same tools and for the same caller, to be run as it stands."""
        return shlex.join(["handrail", *words, *self.repeated_options, *then])

    async def find(self, name: str) -> Tool | Decision:
        """The tool of that name, initialised; or why whoever acts may not know of it."""
        decision = await self.hr.explain(name, None, self.actor.principal, source=self.actor.source)
        if decision.layer in _LAYERS_BEFORE_ARGUMENTS:
            return decision
        tool = self.hr.registry.get(name)
        if tool is not None:
            return tool if tool.ready else decision
        described = await self.hr.describe(name, self.actor.principal, source=self.actor.source)
        return described.tool

    async def need(self, name: str) -> Tool:
        """The tool of that name, or a stop that says why there is none."""
        self.require_tools()
        tool = await self.find(name)
        if isinstance(tool, Decision):
            raise CommandError(
                tool.reason, f"see which tools there are: {self.command('tools')}", ExitCode.REFUSED
            )
        return tool

    def require_tools(self) -> None:
        """A command about one tool says so when there is none at all."""
        if not self.hr.registry.list() and not self.hr.toolsets:
            if self.modules:
                raise CommandError(no_tools_message(self.modules), NO_TOOLS_REMEDY)
            remedy = (
                "name a module with --tools, or in handrail.toml under `tools`, or a folder there under "
                "`workspace`; see: handrail doctor"
            )
            raise CommandError("there are no tools here", remedy)

    async def visible_tools(self) -> list[Tool]:
        """What whoever acts may see."""
        return await self.hr.tools(self.actor.principal, source=self.actor.source, on_demand=True)

    async def search(self, words: str, limit: int) -> list[Tool]:
        """The same, as far as it fits the words, the best first."""
        actor = self.actor
        matches = await self.hr.search(words, actor.principal, limit=limit, source=actor.source)
        return [match.tool for match in matches]


def open_context(
    composition: Composition,
    settings: Settings,
    named: Sequence[str] | None,
    who: str | None = None,
    approver: Approver | None = None,
    repeated_options: Sequence[str] = (),
) -> CommandContext:
    """Handrail with the tools that `--tools` or the settings name, for whoever `--as` names."""
    actor = actor_of(who, settings)
    tools = named_tools(named, settings)
    words = [*repeated_options, *(word for name in named or () for word in ("--tools", name))]
    if who is not None:
        words += ["--as", who]
    hr = composition.open_handrail(settings, tools, actor.agent, approver)
    return CommandContext(
        hr, actor, tuple(named or settings.tools), tuple(words), settings.database is not None
    )


def complete_tool_name(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of tools that begin like this, for the shell. What is wrong here, a command tells better."""
    with redirect_stdout(None):
        try:
            tools = named_tools(ctx.params.get("tools"), load_settings())
        except (CommandError, HandrailError):
            return []
    return [tool.id for tool in tools if tool.id.startswith(incomplete)]


def named_tools(named: Sequence[str] | None, settings: Settings) -> list[Tool]:
    """The tools of the modules that are named, or else of those in the settings."""
    return load_tools(named, Path.cwd()) if named else load_tools(settings.tools, settings.folder)


_DATABASE_REMEDY = "name one with --database sqlite:///handrail.db, or under `database` in handrail.toml"


def settings_from_options(
    database: str | None, tenant: str | None = None, user: str | None = None
) -> Settings:
    """The settings, with what the command line says on top."""
    settings = load_settings()
    if database is not None:
        if "://" not in database:
            raise CommandError(
                f"--database {database!r} is no address", "write sqlite:///FILE or postgresql://HOST/NAME"
            )
        settings = replace(settings, database=absolute_database_url(database, Path.cwd()))
    return replace(settings, tenant=tenant or settings.tenant, user=user or settings.user)


def require_database(settings: Settings, how: str = _DATABASE_REMEDY) -> str:
    """The address of the database, or a stop that says how to name one."""
    if settings.database_url is None:
        raise CommandError("there is no database here, and nothing outlives a command without one", how)
    return settings.database_url


@contextmanager
def refuse_conflicts() -> Iterator[None]:
    """An answer or a replay that comes too late, or from somebody who may not, is refused."""
    try:
        yield
    except Conflict as conflict:
        raise CommandError(str(conflict), None, ExitCode.REFUSED) from None
