"""handrail tenants: the organisations of this database. For whoever has the database in hand."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer

from handrail.doors.cli.options import Database, Debug, Json
from handrail.doors.cli.rows import show_rows, when
from handrail.doors.cli.screen import screen
from handrail.doors.cli.stored import database_at
from handrail.doors.cli.where import settings_at


def list_(json: Json = False, database: Database = None, debug: Debug = False) -> None:
    """List the tenants of the database."""
    with screen(debug) as here, database_at(settings_at(database)) as db:
        from handrail.identity.people import People

        found = asyncio.run(People(db).tenants())
        if json:
            here.out.json([asdict(one) for one in found])
            return
        rows = [(one.id, one.name, when(one.created_at, here)) for one in found]
        show_rows(here, ("Id", "Name", "Since"), rows, "There are no tenants yet: handrail tenants add SLUG")


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
    with screen(debug) as here, database_at(settings_at(database)) as db:
        from handrail.identity.people import People

        made = asyncio.run(People(db).create_tenant(slug, slug if name is None else name))
        if json:
            here.out.json(asdict(made))
        else:
            here.out.say(f"{made.id} is there now. Give it a key: handrail keys add NAME --tenant {made.id}")
