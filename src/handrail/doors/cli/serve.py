"""handrail serve: the platform on one port, with REST and MCP."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from handrail.doors.cli.exits import Stop
from handrail.doors.cli.opening import Opener, tools_of
from handrail.doors.cli.options import Database, Debug, Tools
from handrail.doors.cli.screen import Screen, screen
from handrail.doors.cli.stored import the_store
from handrail.doors.cli.where import settings_at
from handrail.settings import Settings, address

if TYPE_CHECKING:
    from handrail.engine import Handrail
    from handrail.identity.founding import Founded

_DATABASE = "sqlite:///handrail.db"
_DEMO = ("handrail.toolsets.demo", "handrail.toolsets.calculators")


def command(
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
    with screen(debug) as here:
        settings = settings_at(database)
        if settings.database is None:
            settings = replace(settings, database=address(_DATABASE, settings.folder))
        known = settings.url
        settings = replace(
            settings,
            host=settings.host if host is None else host,
            port=settings.port if port is None else port,
        )
        named = [*(tools or settings.tools), *_DEMO] if demo else tools
        found = tools_of(named, settings)
        if demo:
            from handrail.toolsets.demo.store import STORE

            STORE.fill(settings.tenant)
        opener: Opener = ctx.obj
        with the_store():
            from uvloop import new_event_loop  # first: what is missing is then told as a whole

            hr = opener(settings, found, None, None, worker=True)
            with asyncio.Runner(loop_factory=new_event_loop) as runner:
                runner.run(_serve(hr, settings, owner, known, here))


async def _serve(hr: Handrail, settings: Settings, owner: str | None, known: str, here: Screen) -> None:
    from handrail.doors.entrance import LOOPBACK, Bounds
    from handrail.doors.logs import log_to
    from handrail.doors.serve import Place, serve
    from handrail.identity.founding import OWNER, found
    from handrail.platform import platform_of

    bounds = Bounds(hosts=frozenset((*LOOPBACK, settings.host, *settings.hosts)), rate=settings.rate_limit)
    async with hr:
        platform = platform_of(hr)
        assert platform.offices is not None
        founded = await found(platform.offices, settings.tenant, owner or OWNER)

        def ready(address: str) -> None:
            here.err.say(f"Handrail serves {_what(hr, settings)} at {address}; Ctrl-C stops.")
            _say_how(here, settings, address, founded, known == address)
            here.err.flush()
            log_to(sys.stderr)

        try:
            place = Place(settings.host, settings.port, bounds, settings.stop_grace, settings.mcp_hold)
            await serve(platform, place, ready)
        except OSError as error:
            raise Stop(
                f"cannot listen at {settings.host}:{settings.port}: {error.strerror}",
                "choose another place with --host or --port",
            ) from None


def _what(hr: Handrail, settings: Settings) -> str:
    """What is served, without asking foreign servers what they have."""
    count = len(hr.registry.list())
    told = [f"{count} tool{'' if count == 1 else 's'}"] if count or settings.workspace is None else []
    if settings.workspace is not None:
        told.append("the tools of the workspace")
    return " and ".join(told)


def _say_how(here: Screen, settings: Settings, address: str, founded: Founded | None, known: bool) -> None:
    """What to do next; `known` says whether the settings have the address."""
    where = "" if settings.file is not None and settings.database else f" --database {settings.database}"
    if founded is None:
        there = "" if known else f" --url {address}"
        here.err.line(f"Sign in with a link that works once: handrail sign-in{where}{there}")
        return
    here.err.say(f"First start: the tenant is {founded.tenant}, its owner {founded.owner.email}.")
    here.err.line(f"Sign in, once, within 15 minutes: {address}/sign-in?link={founded.link}")
    here.err.line(f"Make a key for an agent of yours: handrail keys add NAME --for {founded.owner.id}{where}")
