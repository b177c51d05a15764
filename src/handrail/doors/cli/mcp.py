"""handrail mcp: our tools over standard input and output, and the foreign servers used here."""

from __future__ import annotations

import asyncio
import os
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from handrail.core.define.principal import Principal
from handrail.doors.cli.command import Invocation, command
from handrail.doors.cli.context import actor_of, named_tools
from handrail.doors.cli.database import store_packages
from handrail.doors.cli.exit_codes import CommandError, ExitCode
from handrail.doors.cli.options import As, option, switch
from handrail.doors.cli.output import Answer, show_rows
from handrail.doors.cli.screen import Screen
from handrail.platform.display_text import one_line
from handrail.settings import SETTINGS_FILE, VARIABLE_PREFIX, Settings

if TYPE_CHECKING:
    from handrail.bridges.mcp.admin import ServerAdmin, ServerState
    from handrail.bridges.mcp.server_settings import Server
    from handrail.engine.handrail import Handrail
    from handrail.ext.ports import Pins, Secrets

KEY = f"{VARIABLE_PREFIX}API_KEY"


@command("database tenant user tools who")
def serve_stdio(cli: Invocation, who: As = "agent") -> None:
    """Serve the tools over standard input and output, as `handrail mcp` alone does.

    They are for the program that started it, which acts as an agent of the person in the settings, or with
    the key in HANDRAIL_API_KEY. What waits for approval is answered elsewhere, which takes a database: see
    `handrail approvals`.
    """
    settings = cli.settings
    actor = actor_of(who, settings)
    if actor.agent is None:
        raise CommandError(f"--as {who} is no agent", "give --as agent or --as agent:NAME")
    key = os.environ.get(KEY)
    if key is not None and settings.database is None:
        raise CommandError(
            f"{KEY} is set, and there is no database that knows keys", "name it with --database"
        )
    cli.open(store_packages())
    agent = actor.agent if key is None else None
    tools = named_tools(cli.options.tools, settings)
    hr = cli.composition.open_handrail(settings, tools, agent, None)
    cli.run(_serve(cli, hr, actor.principal, key))


async def _serve(cli: Invocation, hr: Handrail, principal: Principal, key: str | None) -> None:
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
        stream = cli.screen.out.stream
        await cli.composition.serve_stdio(platform, who, stream, hold=cli.settings.mcp_hold)


Name = Annotated[str, typer.Argument(help="The server: a short name of yours.", show_default=False)]


@command()
def add_server(
    cli: Invocation,
    name: Name,
    command: Annotated[
        list[str] | None,
        typer.Argument(help="What starts it, after --: a command and its arguments.", show_default=False),
    ] = None,
    url: Annotated[str | None, option("--url", "url", "Its address, instead.")] = None,
    env: Annotated[
        list[str] | None, option("--env", "name=value", "A variable the command gets. May be repeated.")
    ] = None,
    secret: Annotated[
        str | None, option("--secret", "name", "The secret that an address gets as bearer token.")
    ] = None,
    prefix: Annotated[str | None, option("--prefix", "word", "What names of its tools begin with.")] = None,
    level: Annotated[
        str | None, option("--level", "level", "How grave its tools are; write without.")
    ] = None,
    trust: Annotated[
        str | None, option("--trust", "how", "first_use, or ask: each tool is accepted before.")
    ] = None,
) -> None:
    """Add a server to the settings.

    It is not started or reached before somebody needs its tools.
    """
    settings = cli.settings
    from handrail.bridges.mcp.server_settings import server_of, servers_of

    options = {
        "command": command[0] if command else None,
        "args": command[1:] if command else None,
        "url": url,
        "env": _pairs(env),
        "secret": secret,
        "prefix": prefix,
        "level": level,
        "trust": trust,
    }
    table = {key: value for key, value in options.items() if value}
    servers = settings.mcp.get("servers", {})
    if name in servers:
        remedy = f"take another name, or remove that one: handrail mcp remove {name}"
        raise CommandError(f"there is a server {name!r} already", remedy, ExitCode.REFUSED)
    server_of(name, table, "mcp add")
    servers_of({"servers": {**servers, name: table}}, "mcp add")
    file = _settings_file(settings)
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    file.write_text(with_server(text, name, table), encoding="utf-8")
    cli.screen.err.say(f"{name} stands in {file}. See its tools: handrail mcp list --check")


def _settings_file(settings: Settings) -> Path:
    return settings.file or Path.cwd() / SETTINGS_FILE


def with_server(text: str, name: str, values: Mapping[str, Any]) -> str:
    """The text of a settings file with the table of one more server at its end."""
    import tomlkit  # loaded where settings are changed

    table = tomlkit.table()
    for key, value in values.items():
        table[key] = tomlkit.inline_table() if isinstance(value, Mapping) else value
        if isinstance(value, Mapping):
            table[key].update(value)
    added = tomlkit.dumps({"mcp": {"servers": {name: table}}})
    return _checked(f"{text.rstrip()}\n\n{added}" if text.strip() else added)


def without_server(text: str, name: str) -> str:
    """The text without the table of a server and those below it; every other line stays."""
    import tomlkit
    from tomlkit.items import InlineTable

    document: Any = tomlkit.parse(text)
    servers = document["mcp"]["servers"]
    if isinstance(servers[name], InlineTable):
        raise _left_to_person()
    del servers[name]
    return _checked(tomlkit.dumps(document).rstrip() + "\n")


def _checked(text: str) -> str:
    """The text, if it can be read; a file that is written in another way is left to a person."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise _left_to_person() from None
    return text


def _left_to_person() -> CommandError:
    return CommandError("this cannot be written into the settings for you", "change the file by hand")


@command("json database tenant")
def list_servers(
    cli: Invocation,
    check: Annotated[bool, switch("--check", "Reach each server, and read its tools.")] = False,
) -> Answer:
    """List the servers, their tools, and what changed of them."""
    registered = _servers(cli)
    states = cli.run(registered.check(cli.settings) if check else registered.admin.list(cli.settings.tenant))
    return Answer([_state_json(state) for state in states], lambda screen: _show_states(screen, states))


def _show_states(screen: Screen, states: list[ServerState]) -> None:
    rows = [
        (state.server.name, _address(state.server), state.server.level, _tool_count(state), state.problem)
        for state in states
    ]
    none = "There are no MCP servers: handrail mcp add NAME -- COMMAND, or --url URL"
    show_rows(screen, ("Name", "Where", "Level", "Tools", "Problem"), rows, none)
    for state in states:
        _say_pending(screen, state)


@command("json database tenant")
def accept_tools(
    cli: Invocation,
    server: Name,
    tool: Annotated[
        str | None, typer.Argument(help="One of its tools; all that wait without.", show_default=False)
    ] = None,
) -> Answer:
    """Accept what a server says of its tools now.

    What is accepted is what `handrail mcp list` shows as waiting.
    """
    admin, settings = _servers(cli).admin, cli.settings
    if settings.database is None:
        remedy = "name a database with --database, or under `database` in handrail.toml"
        raise CommandError("without a database nothing that is accepted outlives this command", remedy)
    pins = cli.run(admin.accept(server, tool, tenant=settings.tenant, by=settings.user))
    if not pins:
        what = server if tool is None else f"{tool} of {server}"
        raise CommandError(
            f"nothing of {what} waits", "look first: handrail mcp list --check", ExitCode.REFUSED
        )
    return Answer(
        {"server": server, "accepted": [pin.tool for pin in pins]},
        f"Accepted of {server}: {', '.join(one_line(pin.tool) for pin in pins)}",
    )


@command("database tenant")
def remove_server(cli: Invocation, name: Name) -> None:
    """Take a server out of the settings, and forget what was accepted of it."""
    admin, settings = _servers(cli).admin, cli.settings
    admin.server(name)
    file = _settings_file(settings)
    file.write_text(without_server(file.read_text(encoding="utf-8"), name), encoding="utf-8")
    cli.run(admin.forget(name, tenant=settings.tenant))
    cli.screen.err.say(f"{name} is gone from {file}.")


@dataclass(frozen=True, slots=True)
class RegisteredServers:
    """The servers of the settings, with what is remembered of them."""

    admin: ServerAdmin
    pins: Pins
    secrets: Secrets

    async def check(self, settings: Settings) -> list[ServerState]:
        """Reach each server, and compare its tools with what was accepted."""
        from handrail.bridges.mcp.toolset import McpToolset

        who = Principal(settings.tenant, settings.user)
        states = await self.admin.list(settings.tenant)
        toolsets = [McpToolset(state.server, pins=self.pins, secrets=self.secrets) for state in states]
        try:
            return await asyncio.gather(*(self.admin.check(toolset, who) for toolset in toolsets))
        finally:
            for toolset in toolsets:
                await toolset.close()


def _servers(cli: Invocation) -> RegisteredServers:
    from handrail.bridges.mcp.admin import ServerAdmin
    from handrail.bridges.mcp.server_settings import servers_of
    from handrail.ext.ports import MemoryPins

    settings = cli.settings
    servers = servers_of(settings.mcp, f"{settings.file}: mcp", settings.folder)
    if settings.database is None:
        memory = MemoryPins()

        def environment_secret(name: str, principal: object) -> str | None:
            return os.environ.get(name) if name in settings.secrets else None

        return RegisteredServers(ServerAdmin(servers, memory), memory, environment_secret)
    db = cli.database()
    from handrail.databases import database_seal
    from handrail.store.pins import StorePins
    from handrail.store.secrets import StoreSecrets

    pins = StorePins(db)
    return RegisteredServers(ServerAdmin(servers, pins), pins, StoreSecrets(db, database_seal(db)))


def _pairs(texts: list[str] | None) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts or ()]
    if wrong := [name for name, equals, _ in pairs if not name or not equals]:
        raise CommandError(f"--env {wrong[0]!r} has no value", "write --env NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _address(server: Server) -> str:
    return server.url or shlex.join([server.command or "", *server.args])


def _tool_count(state: ServerState) -> str:
    waiting = f", {len(state.waiting)} waiting" if state.waiting else ""
    return f"{len(state.tools)}{waiting}"


def _say_pending(screen: Screen, state: ServerState) -> None:
    for pin in state.waiting:
        screen.err.say(f"\n{state.server.name}: {one_line(pin.tool)} waits for acceptance")
        for change in pin.changes:
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
        "waiting": [{"tool": pin.tool, "changes": list(pin.changes)} for pin in state.waiting],
        "problem": state.problem,
    }
