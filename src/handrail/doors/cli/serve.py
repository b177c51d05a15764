"""handrail serve, worker: the processes of the platform."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from handrail.doors.cli.command import Invocation, command
from handrail.doors.cli.context import named_tools, require_database
from handrail.doors.cli.database import store_packages
from handrail.doors.cli.exit_codes import CommandError
from handrail.doors.cli.options import switch
from handrail.doors.cli.screen import Screen
from handrail.doors.cli.signals import on_stop
from handrail.settings import Settings, absolute_database_url

if TYPE_CHECKING:
    from handrail.engine.handrail import Handrail
    from handrail.identity.bootstrap import FirstTenant

_DATABASE = "sqlite:///handrail.db"
_DEMO = ("handrail.toolsets.demo", "handrail.toolsets.calculators")


@command("database tools demo owner")
def start_server(
    cli: Invocation,
    host: Annotated[
        str | None, typer.Option("--host", metavar="name", help="Where to listen.", show_default=False)
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            metavar="number",
            min=0,
            max=65_535,
            help="0 takes one that is free.",
            show_default=False,
        ),
    ] = None,
    demo: Annotated[
        bool, switch("--demo", "Add example tools with sample data, and the calculators.")
    ] = False,
    owner: Annotated[
        str | None,
        typer.Option(
            "--owner",
            metavar="email",
            help="Who owns the first tenant, on the first start.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Serve the tools to programs and agents: REST under /api, MCP under /mcp.

    The first start makes the database, a tenant and its owner, and prints a link by which the owner signs in,
    once. Ctrl-C lets calls finish that have begun.
    """
    settings = cli.settings
    if settings.database is None:
        settings = replace(settings, database=absolute_database_url(_DATABASE, settings.folder))
    configured_url = settings.url
    settings = replace(
        settings, host=settings.host if host is None else host, port=settings.port if port is None else port
    )
    named = cli.options.tools
    tools = named_tools([*(named or settings.tools), *_DEMO] if demo else named, settings)
    if demo:
        from handrail.toolsets.demo.records import STORE

        STORE.fill(settings.tenant)
    cli.open(store_packages())
    from uvloop import new_event_loop  # first: what is missing is then told as a whole

    hr = cli.composition.open_handrail(settings, tools, None, None, worker=True)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_serve(cli, hr, settings, owner, configured_url))


async def _serve(
    cli: Invocation, hr: Handrail, settings: Settings, owner: str | None, configured_url: str
) -> None:
    from handrail.identity.bootstrap import DEFAULT_OWNER, create_first_tenant
    from handrail.platform import platform_of
    from handrail.platform.logs import log_to
    from handrail.platform.middleware import LOOPBACK_HOSTS, RequestLimits
    from handrail.platform.server import ServerOptions, serve

    limits = RequestLimits(
        hosts=frozenset((*LOOPBACK_HOSTS, settings.host, *settings.hosts)), rate=settings.rate_limit
    )
    async with hr:
        platform, screen = platform_of(hr), cli.screen
        first: FirstTenant | None = None
        if platform.can_sign_in:
            first = await create_first_tenant(
                platform.require_services(), settings.tenant, owner or DEFAULT_OWNER
            )

        def ready(address: str) -> None:
            screen.err.say(f"Handrail serves {_tool_summary(hr, settings)} at {address}; Ctrl-C stops.")
            _say_next_steps(screen, settings, address, first, configured_url == address)
            screen.err.flush()
            log_to(sys.stderr)

        try:
            options = ServerOptions(settings.host, settings.port, limits, settings.stop_grace)
            await serve(platform, cli.composition.build_doors(platform, settings.mcp_hold), options, ready)
        except OSError as error:
            raise CommandError(
                f"cannot listen at {settings.host}:{settings.port}: {error.strerror}",
                "choose another place with --host or --port",
            ) from None


def _tool_summary(hr: Handrail, settings: Settings) -> str:
    """What is served, without asking foreign servers what they have."""
    count = len(hr.registry.list())
    parts = [f"{count} tool{'' if count == 1 else 's'}"] if count or settings.workspace is None else []
    if settings.workspace is not None:
        parts.append("the tools of the workspace")
    return " and ".join(parts)


def _say_next_steps(
    screen: Screen, settings: Settings, address: str, first: FirstTenant | None, is_configured: bool
) -> None:
    """What to do next; `is_configured` says whether the settings have the address."""
    database = "" if settings.file is not None and settings.database else f" --database {settings.database}"
    if first is None:
        url = "" if is_configured else f" --url {address}"
        screen.err.line(f"Sign in with a link that works once: handrail sign-in{database}{url}")
        return
    screen.err.say(f"First start: the tenant is {first.tenant}, its owner {first.owner.email}.")
    screen.err.line(f"Sign in, once, within 15 minutes: {address}/sign-in?link={first.link}")
    screen.err.line(
        f"Make a key for an agent of yours: handrail keys add NAME --for {first.owner.id}{database}"
    )


@command("database tools")
def start_worker(cli: Invocation) -> None:
    """Run what waits in the database: approved, submitted and scheduled calls.

    It works for all tenants until it is stopped. Ctrl-C or a termination signal lets it finish what it has
    begun; a second one leaves at once, and what it had in hand is taken up by the next worker.
    """
    settings = cli.settings
    require_database(settings)
    tools = named_tools(cli.options.tools, settings)
    cli.open(store_packages())
    cli.run(_work(cli.composition.open_handrail(settings, tools, None, None, worker=True), cli.screen))


async def _work(hr: Handrail, screen: Screen) -> None:
    stop = asyncio.Event()
    on_stop(asyncio.get_running_loop(), lambda why: stop.set())
    async with hr:
        screen.err.say(
            f"Working with {len(hr.registry.list())} tools as process {os.getpid()}; Ctrl-C stops."
        )
        await stop.wait()
        screen.err.say("Finishing what has begun; Ctrl-C again leaves at once.")
