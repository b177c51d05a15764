"""The composition root: the entry point, and how a Handrail and its doors are put together."""

from __future__ import annotations

import difflib
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from handrail.core.define.principal import Principal
    from handrail.core.define.tool import Tool
    from handrail.core.find.toolsets import Toolset
    from handrail.core.guard.approval_request import Approver
    from handrail.core.guard.policy import Policy
    from handrail.engine.handrail import Handrail
    from handrail.platform import Platform
    from handrail.platform.server import Doors
    from handrail.settings import Settings


def main() -> None:
    """The `handrail` command."""
    from handrail.doors.cli.commands import run_command_line
    from handrail.doors.cli.composition import Composition

    run_command_line(Composition(open_handrail, build_doors, serve_stdio))


def build_doors(platform: Platform, hold: float) -> Doors:
    """REST, MCP and the web app over one platform. A call over MCP waits `hold` seconds for a person."""
    from handrail.doors.http.api import build_api
    from handrail.doors.mcp.streamable_http import build_mcp
    from handrail.doors.web.app import build_web
    from handrail.platform.server import Doors

    return Doors(build_api(platform), build_mcp(platform, hold=hold), build_web(platform))


async def serve_stdio(
    platform: Platform, who: Callable[[], Awaitable[Principal]], out: TextIO, *, hold: float
) -> None:
    """MCP over standard input and output; the SDK loads only when a client is served."""
    from handrail.doors.mcp import stdio

    await stdio.serve_stdio(platform, who, out, hold=hold)


def open_handrail(
    settings: Settings,
    tools: Iterable[Tool],
    agent: str | None = None,
    approver: Approver | None = None,
    /,
    *,
    worker: bool = False,
) -> Handrail:
    """A Handrail as the settings want it; for an agent, with the policy that is written for it.

    What this needs is loaded here and not above: `handrail --help` does without.
    """
    from handrail.engine.handrail import Handrail

    secrets = {name: os.environ[name] for name in settings.secrets if name in os.environ}
    hr = Handrail(
        [*tools, *toolsets_of(settings)],
        database=settings.database_url,
        worker=worker,
        policy=policy_of(settings, agent),
        agents=None if agent is not None or settings.agents is None else agents_of(settings),
        approver=approver,
        secrets=secrets if secrets or settings.database is None else None,
        timeout=settings.timeout,
        cancel_grace=settings.cancel_grace,
    )
    if settings.telemetry:
        from handrail.telemetry import Telemetry

        hr.subscribe(Telemetry().hear)
    return hr


def toolsets_of(settings: Settings) -> list[Toolset]:
    """The tools of the workspace and of the foreign servers in the settings. None is started for it."""
    toolsets: list[Toolset] = []
    if settings.workspace is not None:
        toolsets.append(workspace_of(settings, settings.workspace))
    if settings.mcp:
        from handrail.bridges.mcp import McpToolset, servers_of

        where = f"{settings.file}: mcp"
        toolsets += (McpToolset(server) for server in servers_of(settings.mcp, where, settings.folder))
    return toolsets


def workspace_of(settings: Settings, table: Mapping[str, Any]) -> Toolset:
    """The tools of the workspace. What rules over them is neither changed nor, where it is secret, seen."""
    from handrail.toolsets.workspace import WorkspaceToolset, parse_options

    options = parse_options(table, f"{settings.file}: workspace", settings.folder, settings.tenant)
    rules = [settings.file, None if settings.agents is None else settings.path(settings.agents)]
    protected = inside(options.root, (file for file in rules if file is not None))
    hidden = inside(options.root, files_of(settings.database_url))
    return WorkspaceToolset(
        replace(options, protected=(*options.protected, *protected), hidden=(*options.hidden, *hidden))
    )


def inside(root: str, files: Iterable[Path]) -> list[str]:
    """Those of the files that lie below a root, as paths from there."""
    base = Path(root).resolve()
    resolved = (file.resolve() for file in files)
    return [str(file.relative_to(base)) for file in resolved if file.is_relative_to(base)]


def files_of(database: str | None) -> list[Path]:
    """The files of a SQLite database: its own, those beside it, and its key."""
    kind, separator, name = (database or "").partition(":///")
    if not separator or kind.partition("+")[0] != "sqlite":
        return []
    file = name.partition("?")[0]
    return [Path(f"{file}{ending}") for ending in ("", "-wal", "-shm", "-journal", ".key", ".lock")]


def agents_of(settings: Settings) -> dict[str, Policy]:
    """The policies that are written for agents, by their names."""
    from handrail.policy_file import load_policies

    return {} if settings.agents is None else load_policies(settings.path(settings.agents))


def policy_of(settings: Settings, agent: str | None = None) -> Policy:
    """The policy of the settings; an agent that has one of its own gets it inside this one."""
    from handrail.core.errors import PolicyError
    from handrail.doors.cli.context import UNNAMED_AGENT
    from handrail.policy_file import read_policy

    policy = read_policy(settings.policy, f"{settings.file}: policy")
    if settings.agents is None:
        return policy
    policies = agents_of(settings)
    if agent is None:
        return policy
    if agent not in policies:
        if agent == UNNAMED_AGENT and policies:
            remedy = f"name one with --as agent:NAME; there are: {', '.join(policies)}"
            raise PolicyError(f"{settings.agents}: which agent?", remedy=remedy)
        near = difflib.get_close_matches(agent, policies, 1, 0.5)
        remedy = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(policies) or 'none'}"
        raise PolicyError(f"{settings.agents}: there is no agent {agent!r}", remedy=remedy)
    return policy.spawn(policies[agent])
