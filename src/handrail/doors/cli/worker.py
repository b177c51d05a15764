"""handrail worker: a process that runs what waits in the database."""

from __future__ import annotations

import asyncio
import os

import typer

from handrail.doors.cli.exits import Exit
from handrail.doors.cli.hearing import on_stop
from handrail.doors.cli.opening import Opener, tools_of
from handrail.doors.cli.options import Database, Debug, Tools
from handrail.doors.cli.screen import Screen, screen
from handrail.doors.cli.stored import the_store
from handrail.doors.cli.where import need_database, settings_at
from handrail.engine import Handrail


def command(ctx: typer.Context, database: Database = None, tools: Tools = None, debug: Debug = False) -> None:
    """Run what waits in the database: approved, submitted and scheduled calls.

    It works for all tenants until it is stopped. Ctrl-C or a termination signal lets it finish what it has
    begun; a second one leaves at once, and what it had in hand is taken up by the next worker.
    """
    with screen(debug) as here:
        settings = settings_at(database)
        need_database(settings)
        found = tools_of(tools, settings)
        opener: Opener = ctx.obj
        with the_store():
            hr = opener(settings, found, None, None, worker=True)
            raise typer.Exit(asyncio.run(_work(hr, here)))


async def _work(hr: Handrail, here: Screen) -> Exit:
    stop = asyncio.Event()
    on_stop(asyncio.get_running_loop(), lambda why: stop.set())
    async with hr:
        here.err.say(f"Working with {len(hr.registry.list())} tools as process {os.getpid()}; Ctrl-C stops.")
        await stop.wait()
        here.err.say("Finishing what has begun; Ctrl-C again leaves at once.")
    return Exit.DONE
