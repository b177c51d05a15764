"""Opening: settings, tools and whoever acts, put together for one command."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Coroutine, Iterable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import typer

from handrail.core.define.decision import Decision
from handrail.core.define.tool import Tool
from handrail.core.errors import HandrailError
from handrail.core.guard.approval import Approver
from handrail.doors.cli.acting import Acting, acting_as
from handrail.doors.cli.exits import Exit, Stop
from handrail.doors.cli.loading import load_tools
from handrail.engine import Handrail
from handrail.settings import Settings, load_settings

_UNSEEN = frozenset({"find", "visibility", "allow/deny", "permission", "capability"})
"""Layers that speak before anybody looks at arguments: what they refuse has no flags to show."""


T = TypeVar("T")

HOW_TO_FILL = "decorate a function with @tool"


def no_tools_in(modules: Iterable[str]) -> str:
    """What is wrong where modules were named and have no tools."""
    return f"there are no tools in {', '.join(modules)}"


class Opener(Protocol):
    """Makes a Handrail of settings and tools. The app hands it to this door."""

    def __call__(
        self,
        settings: Settings,
        tools: Iterable[Tool],
        agent: str | None,
        approver: Approver | None,
        /,
        *,
        worker: bool = False,
    ) -> Handrail: ...


@dataclass(frozen=True, slots=True)
class Opened:
    """What a command works with."""

    hr: Handrail
    acting: Acting
    modules: tuple[str, ...]
    """Where the tools were looked for."""
    carried: tuple[str, ...]
    """`--tools` and `--as` as they were given: another command about the same needs them too."""
    lasting: bool = False
    """Whether there is a database, so that what waits outlives the command."""

    def command(self, *words: str, then: Sequence[str] = ()) -> str:
        """A command line about the same tools and for the same caller, to be run as it stands."""
        return shlex.join(["handrail", *words, *self.carried, *then])

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        """Do something with the Handrail that is open, and close it."""

        async def within() -> T:
            async with self.hr:
                return await doing

        return asyncio.run(within())

    async def find(self, name: str) -> Tool | Decision:
        """The tool of that name, initialised; or why whoever acts may not know of it."""
        decision = await self.hr.explain(name, None, self.acting.principal, source=self.acting.source)
        if decision.layer in _UNSEEN:
            return decision
        tool = self.hr.registry.get(name)
        if tool is not None:
            return tool if tool.ready else decision
        described = await self.hr.describe(name, self.acting.principal, source=self.acting.source)
        return described.tool

    async def need(self, name: str) -> Tool:
        """The tool of that name, or a stop that says why there is none."""
        self.need_tools()
        found = await self.find(name)
        if isinstance(found, Decision):
            raise Stop(found.reason, f"see which tools there are: {self.command('tools')}", Exit.REFUSED)
        return found

    def need_tools(self) -> None:
        """A command about one tool says so when there is none at all."""
        if not self.hr.registry.list() and not self.hr.toolsets:
            if self.modules:
                raise Stop(no_tools_in(self.modules), HOW_TO_FILL)
            remedy = (
                "name a module with --tools, or in handrail.toml under `tools`, or a folder there under "
                "`workspace`; see: handrail doctor"
            )
            raise Stop("there are no tools here", remedy)

    async def tools(self) -> list[Tool]:
        """What whoever acts may see."""
        acting = self.acting
        return await self.hr.tools(acting.principal, source=acting.source, on_demand=True)

    async def search(self, words: str, limit: int) -> list[Tool]:
        """The same, as far as it fits the words, the best first."""
        acting = self.acting
        found = await self.hr.search(words, acting.principal, limit=limit, source=acting.source)
        return [one.tool for one in found]


def open_for(
    ctx: typer.Context, named: Sequence[str] | None, who: str | None, approver: Approver | None = None
) -> Opened:
    """Handrail with the tools that `--tools` or the settings name, for whoever `--as` names."""
    return open_with(ctx, load_settings(), named, who, approver)


def open_with(
    ctx: typer.Context,
    settings: Settings,
    named: Sequence[str] | None,
    who: str | None = None,
    approver: Approver | None = None,
    carried: Sequence[str] = (),
) -> Opened:
    """The same with settings that are known already."""
    acting = acting_as(who, settings)
    tools = tools_of(named, settings)
    opener: Opener = ctx.obj
    words = [*carried, *(word for name in named or () for word in ("--tools", name))]
    if who is not None:
        words += ["--as", who]
    hr = opener(settings, tools, acting.agent, approver)
    return Opened(hr, acting, tuple(named or settings.tools), tuple(words), settings.database is not None)


def complete(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of tools that begin like this, for the shell. What is wrong here, a command tells better."""
    with redirect_stdout(None):
        try:
            tools = tools_of(ctx.params.get("tools"), load_settings())
        except (Stop, HandrailError):
            return []
    return [tool.id for tool in tools if tool.id.startswith(incomplete)]


def tools_of(named: Sequence[str] | None, settings: Settings) -> list[Tool]:
    """The tools of the modules that are named, or else of those in the settings."""
    return load_tools(named, Path.cwd()) if named else load_tools(settings.tools, settings.folder)
