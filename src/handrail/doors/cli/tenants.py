"""handrail tenants: the organisations of this database. For whoever has the database in hand."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer

from handrail.doors.cli.context import settings_from_options
from handrail.doors.cli.database import open_database
from handrail.doors.cli.options import Database, Debug, Json
from handrail.doors.cli.output import format_time, show_rows
from handrail.doors.cli.screen import open_screen


def list_(json: Json = False, database: Database = None, debug: Debug = False) -> None:
    """List the tenants of the database."""
    with open_screen(debug) as screen, open_database(settings_from_options(database)) as db:
        from handrail.identity.members import MemberAdmin

        found = asyncio.run(MemberAdmin(db).tenants())
        if json:
            screen.out.json([asdict(one) for one in found])
            return
        rows = [(one.id, one.name, format_time(one.created_at, screen)) for one in found]
        show_rows(
            screen, ("Id", "Name", "Since"), rows, "There are no tenants yet: handrail tenants add SLUG"
        )


def add(
    slug: Annotated[
        str, typer.Argument(help="Its id for good: lower-case words joined by '-', such as acme-berlin.")
    ],
    name: Annotated[
        str | None, typer.Option("--name", metavar="text", help="What people call it; the slug, if nothing.")
    ] = None,
    json: Json = False,
    database: Database = None,
    debug: Debug = False,
) -> None:
    """Add a tenant."""
    with open_screen(debug) as screen, open_database(settings_from_options(database)) as db:
        from handrail.identity.members import MemberAdmin

        made = asyncio.run(MemberAdmin(db).create_tenant(slug, slug if name is None else name))
        if json:
            screen.out.json(asdict(made))
        else:
            screen.out.say(
                f"{made.id} is there now. Give it a key: handrail keys add NAME --tenant {made.id}"
            )
