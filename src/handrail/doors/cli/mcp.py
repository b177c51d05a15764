"""handrail mcp: our tools over standard input and output, and the foreign servers used here."""

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

from handrail.core.define.principal import Principal
from handrail.doors.cli.composition import Composition, ServeStdio
from handrail.doors.cli.context import actor_of, named_tools, settings_from_options
from handrail.doors.cli.database import store_packages
from handrail.doors.cli.exit_codes import CommandError, ExitCode
from handrail.doors.cli.options import As, Database, Debug, Json, Tenant, Tools, User
from handrail.doors.cli.output import show_rows
from handrail.doors.cli.screen import Screen, open_screen
from handrail.platform.display_text import one_line
from handrail.settings import SETTINGS_FILE, VARIABLE_PREFIX, Settings

if TYPE_CHECKING:
    from handrail.bridges.mcp.admin import ServerAdmin, ServerState
    from handrail.bridges.mcp.server_settings import Server
    from handrail.engine.handrail import Handrail
    from handrail.ext import Pins, Secrets

KEY = f"{VARIABLE_PREFIX}API_KEY"


def serve(
    ctx: typer.Context,
    database: Database = None,
    tenant: Tenant = None,
    user: User = None,
    tools: Tools = None,
    who: As = "agent",
    debug: Debug = False,
) -> None:
    """Serve the tools over standard input and output, as `handrail mcp` alone does.

    They are for the program that started it, which acts as an agent of the person in the settings, or with
    the key in HANDRAIL_API_KEY. What waits for approval is answered elsewhere, which takes a database: see
    `handrail approvals`.
    """
    with open_screen(debug) as screen:
        settings = settings_from_options(database, tenant, user)
        actor = actor_of(who, settings)
        if actor.agent is None:
            raise CommandError(f"--as {who} is no agent", "give --as agent or --as agent:NAME")
        key = os.environ.get(KEY)
        if key is not None and settings.database is None:
            raise CommandError(
                f"{KEY} is set, and there is no database that knows keys", "name it with --database"
            )
        composition: Composition = ctx.obj
        with store_packages():
            agent = actor.agent if key is None else None
            hr = composition.open_handrail(settings, named_tools(tools, settings), agent, None)
            asyncio.run(_serve(hr, actor.principal, key, settings.mcp_hold, screen, composition.serve_stdio))


async def _serve(
    hr: Handrail,
    principal: Principal,
    key: str | None,
    hold: float,
    screen: Screen,
    serve_stdio: ServeStdio,
) -> None:
    from handrail.identity.errors import NotSignedIn
    from handrail.platform import platform_of

    async with hr:
        platform = platform_of(hr)

        async def who() -> Principal:
            return principal if key is None else await platform.auth.principal_of(key, "mcp")

        try:
            await who()
        except NotSignedIn as error:
            raise CommandError(f"{KEY}: {error}", "make one with: handrail keys add") from None
        await serve_stdio(platform, who, screen.out.stream, hold=hold)


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
    with open_screen(debug) as screen:
        settings = settings_from_options(None)
        from handrail.bridges.mcp.server_settings import server_of, servers_of

        given: dict[str, Any] = {}
        if command:
            given |= {"command": command[0]} | ({"args": list(command[1:])} if command[1:] else {})
        options = {"url": url, "env": _pairs(env), "secret": secret, "prefix": prefix}
        options |= {"level": level, "trust": trust}
        given |= {key: value for key, value in options.items() if value}
        there = settings.mcp.get("servers", {})
        if name in there:
            remedy = f"take another name, or remove that one: handrail mcp remove {name}"
            raise CommandError(f"there is a server {name!r} already", remedy, ExitCode.REFUSED)
        server_of(name, given, "mcp add")
        servers_of({"servers": {**there, name: given}}, "mcp add")
        from handrail.doors.cli.toml_edit import with_table

        file = settings.file or Path.cwd() / SETTINGS_FILE
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        file.write_text(with_table(text, ("mcp", "servers", name), given), encoding="utf-8")
        screen.err.say(f"{name} stands in {file}. See its tools: handrail mcp list --check")


def list_(
    check: Annotated[bool, typer.Option("--check", help="Reach each server, and read its tools.")] = False,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    debug: Debug = False,
) -> None:
    """List the servers, their tools, and what changed of them."""
    with (
        open_screen(debug) as screen,
        _server_admin(settings := settings_from_options(database, tenant)) as (admin, pins, secrets),
    ):
        found = asyncio.run(_states(admin, settings, pins, secrets) if check else admin.list(settings.tenant))
        if json:
            screen.out.json([_state_json(one) for one in found])
            return
        rows = [
            (one.server.name, _address(one.server), one.server.level, _tool_count(one), one.problem or "")
            for one in found
        ]
        none = "There are no MCP servers: handrail mcp add NAME -- COMMAND, or --url URL"
        show_rows(screen, ("Name", "Where", "Level", "Tools", "Problem"), rows, none)
        for one in found:
            _say_pending(screen, one)


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
    with (
        open_screen(debug) as screen,
        _server_admin(settings := settings_from_options(database, tenant)) as (admin, _, _secrets),
    ):
        if settings.database is None:
            remedy = "name a database with --database, or under `database` in handrail.toml"
            raise CommandError("without a database nothing that is accepted outlives this command", remedy)
        done = asyncio.run(admin.accept(server, tool, tenant=settings.tenant, by=settings.user))
        if not done:
            what = server if tool is None else f"{tool} of {server}"
            raise CommandError(
                f"nothing of {what} waits", "look first: handrail mcp list --check", ExitCode.REFUSED
            )
        if json:
            screen.out.json({"server": server, "accepted": [pin.tool for pin in done]})
        else:
            screen.out.say(f"Accepted of {server}: {', '.join(one_line(pin.tool) for pin in done)}")


def remove(name: Name, database: Database = None, tenant: Tenant = None, debug: Debug = False) -> None:
    """Take a server out of the settings, and forget what was accepted of it."""
    with (
        open_screen(debug) as screen,
        _server_admin(settings := settings_from_options(database, tenant)) as (admin, _, _secrets),
    ):
        admin.server(name)
        assert settings.file is not None
        from handrail.doors.cli.toml_edit import without_table

        text = settings.file.read_text(encoding="utf-8")
        settings.file.write_text(without_table(text, ("mcp", "servers", name)), encoding="utf-8")
        asyncio.run(admin.forget(name, tenant=settings.tenant))
        screen.err.say(f"{name} is gone from {settings.file}.")


@contextmanager
def _server_admin(settings: Settings) -> Iterator[tuple[ServerAdmin, Pins, Secrets]]:
    """The servers of the settings, with what the database remembers of them."""
    from handrail.bridges.mcp.admin import ServerAdmin
    from handrail.bridges.mcp.server_settings import servers_of
    from handrail.ext import MemoryPins

    servers = servers_of(settings.mcp, f"{settings.file}: mcp", settings.folder)
    if settings.database is None:
        memory = MemoryPins()
        yield ServerAdmin(servers, memory), memory, lambda name, _: _environment_secret(name, settings)
        return
    from handrail.doors.cli.database import open_database

    with open_database(settings) as db:
        from handrail.databases import database_seal
        from handrail.store.pins import StorePins
        from handrail.store.secrets import StoreSecrets

        pins = StorePins(db)
        yield ServerAdmin(servers, pins), pins, StoreSecrets(db, database_seal(db))


def _environment_secret(name: str, settings: Settings) -> str | None:
    return os.environ.get(name) if name in settings.secrets else None


async def _states(admin: ServerAdmin, settings: Settings, pins: Pins, secrets: Secrets) -> list[ServerState]:
    from handrail import Principal

    who = Principal(settings.tenant, settings.user)
    async with _toolsets(admin, settings, pins, secrets) as toolsets:
        return list(await asyncio.gather(*(admin.check(one, who) for one in toolsets)))


@asynccontextmanager
async def _toolsets(
    admin: ServerAdmin, settings: Settings, pins: Pins, secrets: Secrets
) -> AsyncIterator[list[Any]]:
    from handrail.bridges.mcp.toolset import McpToolset

    states = await admin.list(settings.tenant)
    made = [McpToolset(one.server, pins=pins, secrets=secrets) for one in states]
    try:
        yield made
    finally:
        for toolset in made:
            await toolset.close()


def _pairs(given: list[str] | None) -> dict[str, str]:
    pairs = [one.partition("=") for one in given or ()]
    if wrong := [name for name, equals, _ in pairs if not name or not equals]:
        raise CommandError(f"--env {wrong[0]!r} has no value", "write --env NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _address(server: Server) -> str:
    return server.url or shlex.join([server.command or "", *server.args])


def _tool_count(state: ServerState) -> str:
    waiting = f", {len(state.waiting)} waiting" if state.waiting else ""
    return f"{len(state.tools)}{waiting}"


def _say_pending(screen: Screen, state: ServerState) -> None:
    for one in state.waiting:
        screen.err.say(f"\n{state.server.name}: {one_line(one.tool)} waits for acceptance")
        for change in one.changes:
            screen.err.say(f"  {one_line(change)}")
    if state.waiting:
        screen.err.say(f"Accept it: handrail mcp accept {state.server.name} [TOOL]")


def _state_json(state: ServerState) -> dict[str, Any]:
    """What is known of a server; not what it finds in its environment."""
    server = state.server
    return {
        "name": server.name,
        "where": _address(replace(server, args=()) if server.command else server),
        "prefix": server.prefix,
        "level": server.level,
        "trust": server.trust,
        "tools": list(state.tools),
        "waiting": [{"tool": one.tool, "changes": list(one.changes)} for one in state.waiting],
        "problem": state.problem,
    }
