"""handrail serve, worker: the processes of the platform."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from handrail.doors.cli.composition import Composition
from handrail.doors.cli.context import named_tools, require_database, settings_from_options
from handrail.doors.cli.database import store_packages
from handrail.doors.cli.exit_codes import CommandError, ExitCode
from handrail.doors.cli.options import Database, Debug, Tools
from handrail.doors.cli.screen import Screen, open_screen
from handrail.doors.cli.signals import on_stop
from handrail.engine.handrail import Handrail
from handrail.settings import Settings, absolute_database_url

if TYPE_CHECKING:
    from handrail.engine.handrail import Handrail
    from handrail.identity.bootstrap import FirstTenant

_DATABASE = "sqlite:///handrail.db"
_DEMO = ("handrail.toolsets.demo", "handrail.toolsets.calculators")


def start_server(
    ctx: typer.Context,
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
    database: Database = None,
    tools: Tools = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Add example tools with sample data, and the calculators.")
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
    debug: Debug = False,
) -> None:
    """Serve the tools to programs and agents: REST under /api, MCP under /mcp.

    The first start makes the database, a tenant and its owner, and prints a link by which the owner signs in,
    once. Ctrl-C lets calls finish that have begun.
    """
    with open_screen(debug) as screen:
        settings = settings_from_options(database)
        if settings.database is None:
            settings = replace(settings, database=absolute_database_url(_DATABASE, settings.folder))
        known = settings.url
        settings = replace(
            settings,
            host=settings.host if host is None else host,
            port=settings.port if port is None else port,
        )
        named = [*(tools or settings.tools), *_DEMO] if demo else tools
        found = named_tools(named, settings)
        if demo:
            from handrail.toolsets.demo.records import STORE

            STORE.fill(settings.tenant)
        composition: Composition = ctx.obj
        with store_packages():
            from uvloop import new_event_loop  # first: what is missing is then told as a whole

            hr = composition.open_handrail(settings, found, None, None, worker=True)
            with asyncio.Runner(loop_factory=new_event_loop) as runner:
                runner.run(_serve(hr, composition, settings, owner, known, screen))


async def _serve(
    hr: Handrail,
    composition: Composition,
    settings: Settings,
    owner: str | None,
    known: str,
    screen: Screen,
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
        platform = platform_of(hr)
        assert platform.services is not None
        founded = await create_first_tenant(platform.services, settings.tenant, owner or DEFAULT_OWNER)

        def ready(address: str) -> None:
            screen.err.say(f"Handrail serves {_tool_summary(hr, settings)} at {address}; Ctrl-C stops.")
            _say_next_steps(screen, settings, address, founded, known == address)
            screen.err.flush()
            log_to(sys.stderr)

        try:
            options = ServerOptions(settings.host, settings.port, limits, settings.stop_grace)
            await serve(platform, composition.build_doors(platform, settings.mcp_hold), options, ready)
        except OSError as error:
            raise CommandError(
                f"cannot listen at {settings.host}:{settings.port}: {error.strerror}",
                "choose another place with --host or --port",
            ) from None


def _tool_summary(hr: Handrail, settings: Settings) -> str:
    """What is served, without asking foreign servers what they have."""
    count = len(hr.registry.list())
    told = [f"{count} tool{'' if count == 1 else 's'}"] if count or settings.workspace is None else []
    if settings.workspace is not None:
        told.append("the tools of the workspace")
    return " and ".join(told)


def _say_next_steps(
    screen: Screen, settings: Settings, address: str, founded: FirstTenant | None, known: bool
) -> None:
    """What to do next; `known` says whether the settings have the address."""
    where = "" if settings.file is not None and settings.database else f" --database {settings.database}"
    if founded is None:
        there = "" if known else f" --url {address}"
        screen.err.line(f"Sign in with a link that works once: handrail sign-in{where}{there}")
        return
    screen.err.say(f"First start: the tenant is {founded.tenant}, its owner {founded.owner.email}.")
    screen.err.line(f"Sign in, once, within 15 minutes: {address}/sign-in?link={founded.link}")
    screen.err.line(
        f"Make a key for an agent of yours: handrail keys add NAME --for {founded.owner.id}{where}"
    )


def start_worker(
    ctx: typer.Context, database: Database = None, tools: Tools = None, debug: Debug = False
) -> None:
    """Run what waits in the database: approved, submitted and scheduled calls.

    It works for all tenants until it is stopped. Ctrl-C or a termination signal lets it finish what it has
    begun; a second one leaves at once, and what it had in hand is taken up by the next worker.
    """
    with open_screen(debug) as screen:
        settings = settings_from_options(database)
        require_database(settings)
        found = named_tools(tools, settings)
        composition: Composition = ctx.obj
        with store_packages():
            hr = composition.open_handrail(settings, found, None, None, worker=True)
            raise typer.Exit(asyncio.run(_work(hr, screen)))


async def _work(hr: Handrail, screen: Screen) -> ExitCode:
    stop = asyncio.Event()
    on_stop(asyncio.get_running_loop(), lambda why: stop.set())
    async with hr:
        screen.err.say(
            f"Working with {len(hr.registry.list())} tools as process {os.getpid()}; Ctrl-C stops."
        )
        await stop.wait()
        screen.err.say("Finishing what has begun; Ctrl-C again leaves at once.")
    return ExitCode.DONE
