"""handrail sign-in: a link by which a person signs in, once. For whoever has the database in hand."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from handrail.doors.cli.exits import Exit, Stop
from handrail.doors.cli.options import Database, Debug, Json, Tenant
from handrail.doors.cli.screen import screen
from handrail.doors.cli.stored import database_at
from handrail.doors.cli.where import settings_at


def command(
    email: Annotated[
        str | None,
        typer.Argument(help="Whom to let in: their address. The owner, if left out.", show_default=False),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            "--url",
            metavar="url",
            help="Where the server answers, if not as the settings say.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    debug: Debug = False,
) -> None:
    """Make a link by which a person signs in, once.

    It is for the server that runs on this database, and ends after fifteen minutes.
    """
    with screen(debug) as here, database_at(settings := settings_at(database, tenant)) as db:
        from handrail.databases import seal_of
        from handrail.identity.founding import link_for
        from handrail.identity.offices import Offices

        link = asyncio.run(link_for(Offices(db, seal_of(db)), settings.tenant, email))
        if link is None:
            lacks = "owner, or several" if email is None else f"member {email}"
            said = f"{settings.tenant} has no {lacks}"
            raise Stop(said, "name a member by their address", Exit.REFUSED)
        made = f"{(url or settings.url).rstrip('/')}/sign-in?link={link}"
        if json:
            here.out.json({"url": made})
        else:
            here.out.line(made)
