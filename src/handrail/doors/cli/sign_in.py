"""handrail sign-in: a link by which a person signs in, once. For whoever has the database in hand."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from handrail.doors.cli.context import settings_from_options
from handrail.doors.cli.database import open_database
from handrail.doors.cli.exit_codes import CommandError, ExitCode
from handrail.doors.cli.options import Database, Debug, Json, Tenant
from handrail.doors.cli.screen import open_screen


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
    with (
        open_screen(debug) as screen,
        open_database(settings := settings_from_options(database, tenant)) as db,
    ):
        from handrail.databases import database_seal
        from handrail.identity.bootstrap import create_sign_in_link
        from handrail.identity.services import Services

        link = asyncio.run(create_sign_in_link(Services(db, database_seal(db)), settings.tenant, email))
        if link is None:
            lacks = "owner, or several" if email is None else f"member {email}"
            said = f"{settings.tenant} has no {lacks}"
            raise CommandError(said, "name a member by their address", ExitCode.REFUSED)
        made = f"{(url or settings.url).rstrip('/')}/sign-in?link={link}"
        if json:
            screen.out.json({"url": made})
        else:
            screen.out.line(made)
