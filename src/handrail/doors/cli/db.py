"""handrail db: the database itself."""

from __future__ import annotations

from typing import Annotated

import typer

from handrail.doors.cli.context import require_database, settings_from_options
from handrail.doors.cli.database import store_packages
from handrail.doors.cli.options import Database, Debug, Json
from handrail.doors.cli.screen import open_screen


def upgrade(
    database: Database = None,
    owner_url: Annotated[
        str | None,
        typer.Option(
            "--owner-url",
            metavar="url",
            help="PostgreSQL: the address of a user who may create tables and roles. "
            "Without it handrail.toml says, or the database's own address.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Bring the database to the schema of this version.

    On PostgreSQL the user of the database's own address is then admitted: it may act as the roles that see
    one tenant at a time, and owns nothing.
    """
    with open_screen(debug) as screen:
        settings = settings_from_options(database)
        url = require_database(settings)
        owner = owner_url or settings.owner_url or url
        with store_packages():
            from handrail.databases import upgrade as bring_up
            from handrail.store.engines import dialect_of
            from handrail.store.grants import grant_roles, url_user

            bring_up(owner)
            user = url_user(url)
            if dialect_of(owner) == "postgresql" and user is not None and user != url_user(owner):
                grant_roles(owner, user)
            name = _name(url)
        if json:
            screen.out.json({"database": name})
        else:
            screen.out.say(f"{name} is up to date.")


def _name(url: str) -> str:
    from sqlalchemy.engine import make_url

    return make_url(url).render_as_string(hide_password=True)
