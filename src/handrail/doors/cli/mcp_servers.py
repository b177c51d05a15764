"""handrail mcp: the foreign MCP servers whose tools are used here."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from handrail.doors.cli.exits import Exit, Stop
from handrail.doors.cli.options import Database, Debug, Json, Tenant
from handrail.doors.cli.rows import show_rows
from handrail.doors.cli.screen import Screen, screen
from handrail.doors.cli.where import settings_at
from handrail.doors.visible import one_line
from handrail.settings import FILE, Settings

if TYPE_CHECKING:
    from handrail.bridges.mcp.office import ServerOffice, ServerState
    from handrail.bridges.mcp.server import Server
    from handrail.ext import Pins, Secrets

Name = Annotated[str, typer.Argument(help="The server: a short name of yours.", show_default=False)]


def add(
    name: Name,
    command: Annotated[
        list[str] | None,
        typer.Argument(help="What starts it, after --: a command and its arguments.", show_default=False),
    ] = None,
    url: Annotated[str | None, typer.Option("--url", metavar="url", help="Its address, instead.")] = None,
    env: Annotated[
        list[str] | None,
        typer.Option("--env", metavar="name=value", help="A variable the command gets. May be repeated."),
    ] = None,
    secret: Annotated[
        str | None,
        typer.Option("--secret", metavar="name", help="The secret that an address gets as bearer token."),
    ] = None,
    prefix: Annotated[
        str | None, typer.Option("--prefix", metavar="word", help="What names of its tools begin with.")
    ] = None,
    level: Annotated[
        str | None, typer.Option("--level", metavar="level", help="How grave its tools are; write without.")
    ] = None,
    trust: Annotated[
        str | None,
        typer.Option("--trust", metavar="how", help="first_use, or ask: each tool is accepted before."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Add a server to the settings.

    It is not started or reached before somebody needs its tools.
    """
    with screen(debug) as here:
        settings = settings_at(None)
        from handrail.bridges.mcp.written import server_of, servers_of

        given: dict[str, Any] = {}
        if command:
            given |= {"command": command[0]} | ({"args": list(command[1:])} if command[1:] else {})
        options = {"url": url, "env": _pairs(env), "secret": secret, "prefix": prefix}
        options |= {"level": level, "trust": trust}
        given |= {key: value for key, value in options.items() if value}
        there = settings.mcp.get("servers", {})
        if name in there:
            remedy = f"take another name, or remove that one: handrail mcp remove {name}"
            raise Stop(f"there is a server {name!r} already", remedy, Exit.REFUSED)
        server_of(name, given, "mcp add")
        servers_of({"servers": {**there, name: given}}, "mcp add")
        from handrail.doors.cli.toml_tables import with_table

        file = settings.file or Path.cwd() / FILE
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        file.write_text(with_table(text, ("mcp", "servers", name), given), encoding="utf-8")
        here.err.say(f"{name} stands in {file}. See its tools: handrail mcp list --check")


def list_(
    check: Annotated[bool, typer.Option("--check", help="Reach each server, and read its tools.")] = False,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    debug: Debug = False,
) -> None:
    """List the servers, their tools, and what changed of them."""
    with screen(debug) as here, _office(settings := settings_at(database, tenant)) as (office, pins, secrets):
        found = asyncio.run(
            _states(office, settings, pins, secrets) if check else office.list(settings.tenant)
        )
        if json:
            here.out.json([_as_json(one) for one in found])
            return
        rows = [
            (one.server.name, _where(one.server), one.server.level, _counted(one), one.problem or "")
            for one in found
        ]
        none = "There are no MCP servers: handrail mcp add NAME -- COMMAND, or --url URL"
        show_rows(here, ("Name", "Where", "Level", "Tools", "Problem"), rows, none)
        for one in found:
            _say_waiting(here, one)


def accept(
    server: Name,
    tool: Annotated[
        str | None, typer.Argument(help="One of its tools; all that wait without.", show_default=False)
    ] = None,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    debug: Debug = False,
) -> None:
    """Accept what a server says of its tools now.

    What is accepted is what `handrail mcp list` shows as waiting.
    """
    with screen(debug) as here, _office(settings := settings_at(database, tenant)) as (office, _, _secrets):
        if settings.database is None:
            remedy = "name a database with --database, or under `database` in handrail.toml"
            raise Stop("without a database nothing that is accepted outlives this command", remedy)
        done = asyncio.run(office.accept(server, tool, tenant=settings.tenant, by=settings.user))
        if not done:
            what = server if tool is None else f"{tool} of {server}"
            raise Stop(f"nothing of {what} waits", "look first: handrail mcp list --check", Exit.REFUSED)
        if json:
            here.out.json({"server": server, "accepted": [pin.tool for pin in done]})
        else:
            here.out.say(f"Accepted of {server}: {', '.join(one_line(pin.tool) for pin in done)}")


def remove(name: Name, database: Database = None, tenant: Tenant = None, debug: Debug = False) -> None:
    """Take a server out of the settings, and forget what was accepted of it."""
    with screen(debug) as here, _office(settings := settings_at(database, tenant)) as (office, _, _secrets):
        office.server(name)
        assert settings.file is not None
        from handrail.doors.cli.toml_tables import without_table

        text = settings.file.read_text(encoding="utf-8")
        settings.file.write_text(without_table(text, ("mcp", "servers", name)), encoding="utf-8")
        asyncio.run(office.forget(name, tenant=settings.tenant))
        here.err.say(f"{name} is gone from {settings.file}.")


@contextmanager
def _office(settings: Settings) -> Iterator[tuple[ServerOffice, Pins, Secrets]]:
    """The servers of the settings, with what the database remembers of them."""
    from handrail.bridges.mcp.office import ServerOffice
    from handrail.bridges.mcp.written import servers_of
    from handrail.ext import MemoryPins

    servers = servers_of(settings.mcp, f"{settings.file}: mcp", settings.folder)
    if settings.database is None:
        memory = MemoryPins()
        yield ServerOffice(servers, memory), memory, lambda name, _: _named(name, settings)
        return
    from handrail.doors.cli.stored import database_at

    with database_at(settings) as db:
        from handrail.databases import seal_of
        from handrail.store.pins import StorePins
        from handrail.store.secrets import StoreSecrets

        pins = StorePins(db)
        yield ServerOffice(servers, pins), pins, StoreSecrets(db, seal_of(db))


def _named(name: str, settings: Settings) -> str | None:
    return os.environ.get(name) if name in settings.secrets else None


async def _states(
    office: ServerOffice, settings: Settings, pins: Pins, secrets: Secrets
) -> list[ServerState]:
    from handrail import Principal

    who = Principal(settings.tenant, settings.user)
    async with _toolsets(office, settings, pins, secrets) as toolsets:
        return list(await asyncio.gather(*(office.check(one, who) for one in toolsets)))


@asynccontextmanager
async def _toolsets(
    office: ServerOffice, settings: Settings, pins: Pins, secrets: Secrets
) -> AsyncIterator[list[Any]]:
    from handrail.bridges.mcp.toolset import McpToolset

    states = await office.list(settings.tenant)
    made = [McpToolset(one.server, pins=pins, secrets=secrets) for one in states]
    try:
        yield made
    finally:
        for toolset in made:
            await toolset.close()


def _pairs(given: list[str] | None) -> dict[str, str]:
    pairs = [one.partition("=") for one in given or ()]
    if wrong := [name for name, equals, _ in pairs if not name or not equals]:
        raise Stop(f"--env {wrong[0]!r} has no value", "write --env NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _where(server: Server) -> str:
    return server.url or shlex.join([server.command or "", *server.args])


def _counted(state: ServerState) -> str:
    waiting = f", {len(state.waiting)} waiting" if state.waiting else ""
    return f"{len(state.tools)}{waiting}"


def _say_waiting(here: Screen, state: ServerState) -> None:
    for one in state.waiting:
        here.err.say(f"\n{state.server.name}: {one_line(one.tool)} waits for acceptance")
        for change in one.changes:
            here.err.say(f"  {one_line(change)}")
    if state.waiting:
        here.err.say(f"Accept it: handrail mcp accept {state.server.name} [TOOL]")


def _as_json(state: ServerState) -> dict[str, Any]:
    """What is known of a server; not what it finds in its environment."""
    server = state.server
    return {
        "name": server.name,
        "where": _where(replace(server, args=()) if server.command else server),
        "prefix": server.prefix,
        "level": server.level,
        "trust": server.trust,
        "tools": list(state.tools),
        "waiting": [{"tool": one.tool, "changes": list(one.changes)} for one in state.waiting],
        "problem": state.problem,
    }
